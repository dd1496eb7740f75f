// What a file says of its camera, as lines of the information panel.

import assert from 'node:assert/strict';
import test from 'node:test';

Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-GB'] }, configurable: true });
const { cameraFacts, exposureWords } = await import('../../Sources/GalleryServer/Page/views/viewer-camera.js');

test('exposures are said as cameras say them', () => {
  for (const [seconds, words] of [[1 / 250, '1/250 s'], [1 / 8000, '1/8000 s'], [0.25, '1/4 s'], [0.5, '0.5 s'], [30, '30 s']]) {
    assert.equal(exposureWords(seconds), words);
  }
});

test('a maker that the model repeats is said once, and what is not said has no line', () => {
  assert.deepEqual(cameraFacts(null), []);
  assert.deepEqual(cameraFacts({ cameraMake: 'Canon', cameraModel: 'Canon EOS 5D' }), [['Camera', 'Canon EOS 5D']]);
  assert.deepEqual(cameraFacts({
    cameraMake: 'Leica', cameraModel: 'M10', lens: 'Summicron', focalLength: 50, aperture: 2.8, exposureTime: 1 / 60, iso: 400,
    flashFired: true, people: ['Ada', 'Ben'], creators: [],
  }), [['People', 'Ada, Ben'], ['Camera', 'Leica M10'], ['Lens', 'Summicron'], ['Exposure', '1/60 s · ƒ/2.8 · ISO 400 · 50 mm · flash']]);
});
