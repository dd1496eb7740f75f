// One feed for all tabs of a browser: a shared worker that holds the streams and gives each tab what it follows.
//
//   tab ─ { follow, fetch, after } ─▶ hub ─ { kind: 'change', … } ─▶ every tab that follows the fetch
//
// A tab whose state differs from that of the stream notices it by the message's `before` and asks for what lies between.

import { PhotoLedger } from './photoledger.js';
import { Stream, fetchLimit } from './stream.js';

/** @typedef {import('./stream.js').FeedMessage} FeedMessage */

const client = new PhotoLedger();
/** @type {Map<MessagePort, Set<string>>} what each tab follows */
const tabs = new Map();
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
  if (streams.some((stream) => stream.fetches.has(fetch))) return;
  const free = streams.find((one) => one.fetches.size < fetchLimit);
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
function attach(port) {
  /** @type {Set<string>} */
  const fetches = new Set();
  tabs.set(port, fetches);
  port.onmessage = ({ data }) => {
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
    } else if (data.kind === 'close') {
      tabs.delete(port);
      for (const fetch of fetches) leave(fetch);
    }
  };
  port.start();
}

/** @type {any} */ (globalThis).onconnect = (/** @type {MessageEvent} */ event) => attach(event.ports[0]);
