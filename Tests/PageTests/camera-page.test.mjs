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

/** Whose session the browser has; null after it has ended. What is sent is refused, and noted. */
let session = { client: 'family', person: 'anna' };
let sent = 0;
const answer = async (url) => {
  const { pathname } = new URL(url);
  if (!session) return Response.json({ detail: 'Sign in.' }, { status: 401 });
  if (pathname === '/v1/session') return Response.json(session);
  if (pathname !== '/v1/uploads') return Response.json({ found: [] });
  sent += 1;
  return Response.json({ detail: 'Too large.' }, { status: 413 });
};
globalThis.fetch = (...request) => fetch(...request);
let fetch = answer;
const channels = [];
globalThis.BroadcastChannel = class { constructor() { channels.push(this); } };
const opened = [];
globalThis.open = (address) => opened.push(address);

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

/** What says why nothing is sent, and its buttons. */
const trouble = () => place.querySelector('.upload-trouble');
const buttons = () => trouble().querySelectorAll('button').map((one) => one.textContent);
const press = (name) => trouble().querySelectorAll('button').find((one) => one.textContent === name).click();
/** The panel is drawn a few times a second. */
const until = async (condition) => {
  for (let look = 0; look < 500 && !condition(); look += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(condition(), trouble().textContent);
};
const said = (sentence) => until(() => !trouble().hidden && trouble().textContent.includes(sentence));
const choose = () => {
  const input = place.querySelector('.camera').querySelectorAll('input').at(-1);
  input.files = [new File(['x'], 'x.jpg', { lastModified: 7 })];
  input.dispatchEvent(new Event('change'));
};

test('what was taken waits until the same person is signed in again, and is sent for no other', async () => {
  const anna = session;
  const ben = { client: 'family', person: 'ben' };
  session = null;
  choose();
  await said('You are signed out.');
  assert.deepEqual(buttons(), ['Sign in', 'Resume']);
  press('Sign in');
  assert.deepEqual(opened, ['/sign-in']);
  session = ben;
  press('Resume');
  await said('another account');
  session = anna;
  press('Resume');
  await until(() => sent === 1);
  // Another person signs in in another tab, and then the same one again.
  session = ben;
  channels[0].onmessage({ data: ben });
  await said('another account');
  choose();
  await turns();
  assert.equal(sent, 1);
  session = anna;
  channels[0].onmessage({ data: anna });
  await until(() => sent === 2);
});

test('a camera link that has ended is named as the reason, also after another attempt', async () => {
  location.hash = '#secret';
  await import(new URL('views/camera.js?link', page));
  session = null;
  choose();
  await said('This camera link has expired');
  fetch = async () => { throw new TypeError('No network.'); };
  press('Resume');
  await said('cannot be reached');
  fetch = answer;
  press('Resume');
  await said('This camera link has expired');
  assert.deepEqual(buttons(), ['Resume']);
});
