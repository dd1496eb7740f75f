// A placeholder's bitmap has the pixels that its transform gives.

import assert from 'node:assert/strict';
import test from 'node:test';

import { random } from './random.mjs';
import { placeholderURL } from '../../Sources/GalleryServer/Page/views/placeholder.js';

const side = 12;
const pairs = (below) => Array.from({ length: below - 1 }, (_, sum) =>
  Array.from({ length: sum + 2 }, (_, v) => [sum + 1 - v, v])).flat();

test('the pixels of random placeholders are those of the transform', () => {
  const pick = random(7);
  for (let round = 0; round < 50; round += 1) {
    const bytes = Uint8Array.from({ length: 37 }, (_, index) => index === 0 ? 1 : pick(256));
    const url = placeholderURL(Buffer.from(bytes).toString('base64'));
    assert.match(url, /^data:image\/bmp;base64,/);
    const bitmap = Buffer.from(url.split(',')[1], 'base64');
    assert.equal(bitmap.readUInt32LE(2), bitmap.length);
    const channel = (mean, scale, first, waves, x, y) => waves.reduce((sum, [u, v], index) =>
      sum + (bytes[first + index] - 128) / 127 * scale * Math.cos(Math.PI * u * x) * Math.cos(Math.PI * v * y), mean);
    for (let row = 0; row < side; row += 1) {
      for (let column = 0; column < side; column += 1) {
        const [x, y] = [(column + 0.5) / side, (row + 0.5) / side];
        const luma = channel(bytes[1], bytes[4], 7, pairs(6), x, y);
        const blue = channel(bytes[2], bytes[5], 27, pairs(3), x, y) - 128;
        const red = channel(bytes[3], bytes[6], 32, pairs(3), x, y) - 128;
        const at = 54 + 3 * ((side - 1 - row) * side + column);
        const shown = [bitmap[at + 2], bitmap[at + 1], bitmap[at]];
        const wanted = [luma + 1.402 * red, luma - 0.344 * blue - 0.714 * red, luma + 1.772 * blue];
        shown.forEach((value, index) => {
          const clamped = Math.min(Math.max(wanted[index], 0), 255);
          assert.ok(Math.abs(value - clamped) <= 1, `round ${round}, row ${row}, column ${column}: ${value}, ${clamped}`);
        });
      }
    }
  }
});

test('bytes of another form are no picture', () => {
  assert.equal(placeholderURL(btoa('\x02' + '\x00'.repeat(36))), null);
  assert.equal(placeholderURL(btoa('\x01')), null);
});
