// One feed for all tabs of a browser: a shared worker that holds the streams and gives each tab what it follows.
//
//   tab ─ { follow, fetch, after } ─▶ hub ─ { kind: 'change', … } ─▶ every tab that follows the fetch
//
// A tab that crashes says nothing, so each says now and then that it is there. One that was silent for long is left out; if it
// was only asleep, it learns of that when it speaks again, and follows anew.
//
// A tab whose state differs from that of the stream notices it by the message's `before` and asks for what lies between.

import { PhotoLedger } from './photoledger.js';
import { Stream } from './stream.js';

/** @typedef {import('./stream.js').FeedMessage} FeedMessage */

const client = new PhotoLedger();
/** For how long a tab may be silent, milliseconds; browsers let hidden tabs speak once a minute. */
const silenceLimit = 300_000;

/** @type {Map<MessagePort, Set<string>>} what each tab follows */
const tabs = new Map();
/** @type {Map<MessagePort, number>} when each tab spoke last */
const heard = new Map();
/** @type {Stream[]} */
const streams = [];

/**
 * @param {Stream} stream
 * @param {FeedMessage} message
 */
function deliver(stream, message) {
  // A fetch that is followed no more is one of the stream's no longer, and those that followed it learn of it.
  const fetch = message.kind === 'change' ? message.change.fetch : message.kind === 'state' ? message.state.fetch
    : message.kind === 'problem' ? message.fetch : null;
  for (const [port, fetches] of tabs) {
    const isForTab = fetch !== null ? fetches.has(fetch) : [...fetches].some((one) => stream.fetches.has(one));
    if (isForTab) port.postMessage(message);
  }
}

/**
 * @param {string} fetch
 * @param {string} after
 */
function follow(fetch, after) {
  const known = streams.find((stream) => stream.fetches.has(fetch));
  if (known) {
    // Who follows anew has a session, perhaps another one than that with which the stream ended.
    if (known.isEnded) known.open();
    return;
  }
  const free = streams.find((one) => one.hasRoom(fetch));
  if (free) {
    free.add(fetch, after);
    return;
  }
  /** @type {Stream} */
  const made = new Stream(client, (message) => deliver(made, message));
  streams.push(made);
  made.add(fetch, after);
}

/** @param {string} fetch */
function leave(fetch) {
  if ([...tabs.values()].some((fetches) => fetches.has(fetch))) return;
  for (const stream of streams) if (stream.fetches.has(fetch)) stream.remove(fetch);
}

/** @param {MessagePort} port */
function detach(port) {
  const fetches = tabs.get(port) ?? new Set();
  tabs.delete(port);
  heard.delete(port);
  for (const fetch of fetches) leave(fetch);
}

setInterval(() => {
  const now = Date.now();
  for (const [port, last] of [...heard]) if (now - last > silenceLimit) detach(port);
}, silenceLimit / 5);

/** @param {MessagePort} port */
function attach(port) {
  tabs.set(port, new Set());
  heard.set(port, Date.now());
  port.onmessage = ({ data }) => {
    if (data.kind === 'close') {
      detach(port);
      return;
    }
    if (!tabs.has(port)) {
      tabs.set(port, new Set());
      port.postMessage({ kind: 'left' });
    }
    heard.set(port, Date.now());
    const fetches = /** @type {Set<string>} */ (tabs.get(port));
    if (data.kind === 'follow') {
      fetches.add(data.fetch);
      follow(data.fetch, data.after);
      const stream = streams.find((one) => one.fetches.has(data.fetch));
      port.postMessage({ kind: 'connection', isOpen: stream?.name !== null || stream.attempts === 0 });
      // What another tab follows already may have been led on while this tab read its state.
      const token = stream?.fetches.get(data.fetch);
      if (token !== undefined && token !== data.after) {
        port.postMessage({ kind: 'state', state: { fetch: data.fetch, token } });
      }
    } else if (data.kind === 'leave') {
      fetches.delete(data.fetch);
      leave(data.fetch);
    } else if (data.kind === 'wake') {
      for (const stream of streams) stream.wake();
    }
  };
  port.start();
}

/** @type {any} */ (globalThis).onconnect = (/** @type {MessageEvent} */ event) => attach(event.ports[0]);
