// What opens elsewhere gets no hold on the page that opened it.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
const files = readdirSync(page, { recursive: true }).filter((name) => /\.(js|html)$/.test(name));

/** The text of the innermost brackets around a place. */
function around(text, place, [open, close]) {
  let [first, depth] = [place, 0];
  while (first > 0 && (text[first] !== open || depth > 0)) {
    if (text[first] === close) depth += 1;
    else if (text[first] === open) depth -= 1;
    first -= 1;
  }
  return text.slice(first, text.indexOf(close, place) + 1);
}

/** What opens a window: each with what it says of its opener. */
function openers(text, isMarkup) {
  const links = [...text.matchAll(/\btarget\b['"]?\s*[:=,]\s*['"`]/g)]
    .map(({ index }) => around(text, index, isMarkup ? '<>' : '{}'));
  const windows = [...text.matchAll(/\b(?:window|globalThis|self)\.open\(/g)]
    .map(({ index }) => text.slice(index, text.indexOf(')', index) + 1));
  return [...links, ...windows];
}

test('what is looked for is found', () => {
  assert.deepEqual(openers("h('a', { href, target: '_blank' })", false), ["{ href, target: '_blank' }"]);
  assert.deepEqual(openers("window.open('/x')", false), ["window.open('/x')"]);
  assert.deepEqual(openers('<p><a href="x" target="_blank">x</a>', true), ['<a href="x" target="_blank">']);
});

test('every link and window that opens elsewhere has noopener', () => {
  let count = 0;
  for (const file of files) {
    for (const one of openers(readFileSync(new URL(file, page), 'utf8'), file.endsWith('.html'))) {
      count += 1;
      assert.match(one, /noopener|noreferrer/, file);
    }
  }
  assert.ok(count >= 2, 'some are there');
});

test('after a sign-in one is at the address that was wanted, and never at another server', async () => {
  const { addressAfterSignIn, signInAddress } = await import(new URL('client/photoledger.js', page));
  const origin = 'https://photos.example';
  const after = (hash) => addressAfterSignIn({ hash, origin });
  for (const [pathname, hash] of [['/', '#/photos?photo=a%20b'], ['/camera', ''], ['/', '#/albums/1%2F2']]) {
    const { hash: carried } = new URL(signInAddress({ pathname, hash }), origin);
    assert.equal(after(carried), origin + pathname + hash);
  }
  assert.equal(signInAddress({ pathname: '/', hash: '' }), '/sign-in');
  for (const none of ['', '#ended']) assert.equal(after(none), '/');
  for (const other of ['//evil.example/', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)']) {
    assert.equal(after(`#${encodeURIComponent(other)}`), '/', other);
  }
  assert.equal(after('#%'), '/');
  assert.ok(after(`#${encodeURIComponent('/..//evil.example')}`).startsWith(`${origin}/`));
});
