// Each document names the modules that its first screen needs, so that the browser asks for all of them at once and not
// level by level as it reads what imports what.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
const read = (path) => readFileSync(new URL(path, page), 'utf8');

/** What documents import later on, and need for their first screen nevertheless. */
const later = { 'index.html': ['views/requests.js', 'views/photos.js'] };

/** The modules that a module imports, and those that they import, with the module itself. */
function closure(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, name] of read(path).matchAll(/^(?:import|export)\b[^;'"]*?(?:from )?'(\.[^']+)'/gm)) {
    closure(new URL(name, new URL(path, 'file:///')).pathname.slice(1), found);
  }
  return found;
}

for (const name of ['index.html', 'pick.html', 'share.html', 'camera.html', 'sign-in.html']) {
  test(`${name} names every module of its first screen`, () => {
    const text = read(name);
    const [, script] = /<script type="module" src="\/page\/latest\/([^"]+)">/.exec(text);
    const wanted = closure(script);
    for (const path of later[name] ?? []) closure(path, wanted);
    wanted.delete(script);
    const named = [...text.matchAll(/<link rel="modulepreload" href="\/page\/latest\/([^"]+)">/g)].map((match) => match[1]);
    assert.deepEqual(named.toSorted(), [...wanted].sort());
  });
}
