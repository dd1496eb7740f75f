// The page of the camera: what is taken is offered once, and is not lost without a question.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Element, makeDocument } from './dom.mjs';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
const document = makeDocument();
const place = document.createElement('div');
document.body.append(place);
document.getElementById = () => place;
globalThis.location = { hash: '', href: 'http://gallery/camera' };
globalThis.fetch = async () => Response.json({ found: [] });

/** What the page does before it is left. */
const guards = [];
const { addEventListener } = globalThis;
globalThis.addEventListener = (name, listener) => {
  if (name === 'beforeunload') guards.push(listener);
  else addEventListener(name, listener);
};
const isHeld = () => {
  const event = new Event('beforeunload', { cancelable: true });
  for (const listener of guards) listener(event);
  return event.defaultPrevented;
};

// A camera whose permission, and a canvas whose picture, come when the test says so.
const asked = [];
Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { languages: ['en-GB'], mediaDevices: {
  getUserMedia: ({ video }) => new Promise((resolve) => {
    asked.push({ facing: video.facingMode.ideal, allow: () => resolve({ getTracks: () => [] }) });
  }),
} } });
const encodings = [];
Object.assign(Element.prototype, {
  getContext: () => null, toBlob: (done) => encodings.push(() => done(new Blob(['..jpeg']))),
});
const made = [];
URL.createObjectURL = (file) => `blob:${made.push(file.name)}`;

const turns = async () => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
const control = (name) => place.querySelector('.camera-controls').querySelectorAll('button')
  .find((one) => one.classList.contains(name) || one.getAttribute('aria-label') === name);

await import(new URL('views/camera.js', page));
await turns();
asked[0].allow();
await turns();

test('a shutter that is pressed twice takes one picture, and leaving the page is asked about then', async () => {
  Object.assign(place.querySelector('.camera-live'), { videoWidth: 4, videoHeight: 3 });
  assert.equal(isHeld(), false);
  const shutter = control('shutter');
  shutter.focus();
  // A disabled button is not pressed in a browser; this is the second press before that is drawn.
  for (let press = 0; press < 2; press += 1) shutter.click();
  assert.ok(shutter.disabled);
  for (const done of encodings) done();
  await turns();
  assert.deepEqual([encodings.length, made.length], [1, 1]);
  assert.equal(document.activeElement, control('keep'));
  assert.equal(isHeld(), true);
  place.querySelector('.camera-controls').querySelector('button').click();
  assert.equal(isHeld(), false, 'it was discarded');
  asked.at(-1).allow();
  await turns();
});

test('a camera that is turned again while the permission is asked for stays the one that was asked for', async () => {
  const turn = control('Switch camera');
  turn.click();
  turn.click();
  asked.at(-1).allow();
  await turns();
  assert.equal(asked.at(-1).facing, 'user');
  assert.ok(place.querySelector('.camera-live').classList.contains('mirrored'));
  control('Switch camera').click();
  assert.equal(asked.at(-1).facing, 'environment');
  asked.at(-1).allow();
  await turns();
});

test('a picture that is finished while the camera starts again is looked at', async () => {
  Object.assign(place.querySelector('.camera-live'), { videoWidth: 4, videoHeight: 3 });
  const take = () => {
    control('shutter').click();
    for (const hidden of [true, false]) {
      document.hidden = hidden;
      document.dispatchEvent(new Event('visibilitychange'));
    }
  };
  const discard = () => place.querySelector('.camera-controls').querySelector('button').click();
  take();
  const starts = asked.length;
  encodings.at(-1)();
  await turns();
  asked.at(-1).allow();
  await turns();
  assert.notEqual(control('keep'), undefined);
  assert.deepEqual([place.querySelector('.camera-live'), isHeld()], [null, true]);
  discard();
  assert.equal(asked.length, starts + 1);
  asked.at(-1).allow();
  await turns();
  assert.deepEqual([place.querySelector('.camera-live') !== null, isHeld()], [true, false]);
  // It is discarded before the camera is there.
  take();
  encodings.at(-1)();
  await turns();
  discard();
  asked.at(-1).allow();
  await turns();
  assert.deepEqual([place.querySelector('.camera-live') !== null, isHeld()], [true, false]);
});
