// The page's folders name only those before them, and nothing that is not the page's.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
const layers = ['text', 'client', 'layout', 'model', 'views'];

for (const [height, layer] of layers.entries()) {
  test(`modules of ${layer} import from ${layers.slice(0, height + 1).join(', ')} alone`, () => {
    for (const file of readdirSync(new URL(`${layer}/`, page))) {
      const text = readFileSync(new URL(`${layer}/${file}`, page), 'utf8');
      const names = [...text.matchAll(/^(?:import|export)\b[^;'"]*from '([^']+)'|\bawait import\('([^']+)'\)|=> [^*\n]*?\bimport\('(\.[^']+\.js)'\)/gm)]
        .map((match) => match[1] ?? match[2] ?? match[3]);
      for (const name of names) {
        assert.match(name, /^\.\.?\/[\w./-]+\.js$/, `${layer}/${file} imports ${name}`);
        const other = name.startsWith('../') ? name.split('/')[1] : layer;
        assert.ok(layers.indexOf(other) >= 0 && layers.indexOf(other) <= height, `${layer}/${file} imports ${name}`);
      }
    }
  });
}
