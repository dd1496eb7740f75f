// What changes, as it is committed: one stream of the server for all fetches of all tabs.
//
// The stream lies in a shared worker (`hub.js`). Where there is none, as in some browsers of phones, and with a key,
// each tab has its own. It is closed while the tab is hidden and opened again from the last state: browsers have six
// connections for a server, and each stream takes one.
//
// Events: `connection` when the stream was opened, also after a rest, or cut, `signedout` when the session has ended.

import { Problem } from './photoledger.js';
import { Stream } from './stream.js';

/** @typedef {import('./photoledger.js').PhotoLedger} PhotoLedger */
/** @typedef {import('./photoledger.js').Change} Change */

/**
 * @typedef {object} Rendition
 * @property {string} localIdentifier
 * @property {string} sha256
 * @property {'ready' | 'failed' | 'missing'} rendition
 * @property {'ready' | 'failed' | 'missing' | null} play the film; null if the asset does not play the content
 * @property {string | null} placeholder
 *
 * @typedef {object} Follower
 * @property {(change: Change) => void} onChange a step of the fetch
 * @property {(state: { fetch: string, token: string }) => void} onState the fetch is at another state
 * @property {(renditions: Rendition[]) => void} [onRenditions] assets whose pictures or films are ready or have
 *   failed
 * @property {(problem: Error) => void} [onProblem] the fetch cannot be followed now; `onState` says when it is again
 */

/** How long a tab may be hidden before the stream is opened anew when it is shown, milliseconds. */
const sleepLimit = 60_000;
/** How long a tab is hidden before it closes the streams that are its own, milliseconds. */
const restDelay = 10_000;

/** How often a tab says to the hub that it is there, milliseconds. */
const beat = 60_000;
/** How long after a fetch was refused it is followed again, the first and the longest time, milliseconds. */
const firstPause = 4000;
const longestPause = 60_000;

/** The feed of a page. */
export class Feed extends EventTarget {
  /** @param {PhotoLedger} client */
  constructor(client) {
    super();
    this.client = client;
    /** @type {Map<string, Set<Follower>>} */
    this.followers = new Map();
    /** @type {Map<string, string>} the state of each fetch that was delivered last */
    this.states = new Map();
    /** The fetches that were refused, with when they are followed again and how long that waited.
     * @type {Map<string, { timer: ReturnType<typeof setTimeout> | undefined, pause: number }>} */
    this.refused = new Map();
    /** Whether changes arrive; true until the stream was cut, and again when nothing is followed that could be late. */
    this.isOpen = true;
    /** @type {MessagePort | null} */
    this.port = null;
    /** @type {Stream[]} */
    this.streams = [];
    /** Ends the listeners. */
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    // A worker has the cookie but not the key of a program.
    if (!client.key && 'SharedWorker' in globalThis) {
      const worker = new SharedWorker(new URL('./hub.js', import.meta.url), { type: 'module', name: 'photoledger-feed' });
      this.port = worker.port;
      this.port.onmessage = ({ data }) => this.take(data);
      this.port.start();
      const beats = setInterval(() => this.port?.postMessage({ kind: 'here' }), beat);
      signal.addEventListener('abort', () => clearInterval(beats));
      addEventListener('pagehide', () => this.port?.postMessage({ kind: 'close' }), { signal });
      // A page that comes back from the browser's cache has left the hub.
      addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); }, { signal });
    }
    // Browsers keep connections of pages that were left, and have six for a server.
    addEventListener('pagehide', () => { for (const stream of this.streams) stream.close(); }, { signal });
    addEventListener('pageshow', (event) => { if (event.persisted) this.wake(); }, { signal });
    this.hiddenSince = 0;
    this.isResting = false;
    /** Whether the streams rested and none is open again yet. */
    this.hasRested = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.resting = undefined;
    document.addEventListener('visibilitychange', () => this.visibilityChanged(), { signal });
    if (document.hidden) this.visibilityChanged();
    addEventListener('online', () => this.wake(), { signal });
  }

  /**
   * Follows a fetch from a state.
   * @param {string} fetch
   * @param {string} after the token of the state
   * @param {Follower} follower
   * @returns {() => void} ends it
   */
  follow(fetch, after, follower) {
    const known = this.followers.get(fetch);
    if (known) {
      known.add(follower);
      // The fetch may have been led on while the follower read its own state.
      const token = this.states.get(fetch);
      if (token !== undefined && token !== after) {
        queueMicrotask(() => { if (known.has(follower)) follower.onState({ fetch, token }); });
      }
    } else {
      this.states.set(fetch, after);
      this.followers.set(fetch, new Set([follower]));
      this.send(fetch, after);
    }
    return () => {
      const followers = this.followers.get(fetch);
      if (!followers?.delete(follower) || followers.size > 0) return;
      this.followers.delete(fetch);
      this.states.delete(fetch);
      clearTimeout(this.refused.get(fetch)?.timer);
      this.refused.delete(fetch);
      if (this.port) this.port.postMessage({ kind: 'leave', fetch });
      for (const stream of this.streams) if (stream.fetches.has(fetch)) stream.remove(fetch);
      // No stream is left that could say that it is open again.
      if (this.followers.size === 0) this.take({ kind: 'connection', isOpen: true });
    };
  }

  /**
   * Has a stream carry a fetch.
   * @param {string} fetch
   * @param {string} after
   */
  send(fetch, after) {
    if (this.port) this.port.postMessage({ kind: 'follow', fetch, after });
    else this.streamFor(fetch).add(fetch, after);
  }

  /**
   * Says that a fetch cannot be followed, and follows it again after a while.
   * @param {string} fetch
   * @param {Error} problem
   */
  refuse(fetch, problem) {
    const known = this.refused.get(fetch);
    if (known?.timer !== undefined) return;
    const pause = known ? Math.min(known.pause * 2, longestPause) : firstPause;
    this.refused.set(fetch, { pause, timer: setTimeout(() => this.followAgain(fetch), pause) });
    for (const one of this.followers.get(fetch) ?? []) one.onProblem?.(problem);
  }

  /**
   * Follows a fetch from its state of now on; the state of before may be one that the server knows no more.
   * @param {string} fetch
   */
  async followAgain(fetch) {
    const known = this.refused.get(fetch);
    if (known) known.timer = undefined;
    try {
      const { token } = await this.client.ask('GET', `/v1/fetches/${encodeURIComponent(fetch)}`);
      const followers = this.followers.get(fetch);
      if (!followers) return;
      this.states.set(fetch, token);
      this.send(fetch, token);
      for (const one of [...followers]) one.onState({ fetch, token });
    } catch (error) {
      // A permission ends before its key does, so the end of the session may be noticed only here.
      if (error instanceof Problem && error.status === 401) this.take({ kind: 'signedOut' });
      if (this.followers.has(fetch)) this.refuse(fetch, error instanceof Error ? error : new Error(String(error)));
    }
  }

  /**
   * A stream of this tab with room for one more fetch.
   * @param {string} fetch
   */
  streamFor(fetch) {
    const found = this.streams.find((stream) => stream.hasRoom(fetch));
    if (found) return found;
    const made = new Stream(this.client, (message) => this.take(message));
    if (this.isResting) made.rest();
    this.streams.push(made);
    return made;
  }

  /** @param {import('./stream.js').FeedMessage | { kind: 'left' }} message */
  take(message) {
    switch (message.kind) {
      case 'change':
        this.note(message.change.fetch, message.change.after);
        for (const one of this.followers.get(message.change.fetch) ?? []) one.onChange(message.change);
        break;
      case 'state':
        this.note(message.state.fetch, message.state.token);
        for (const one of this.followers.get(message.state.fetch) ?? []) one.onState(message.state);
        break;
      case 'renditions':
        for (const followers of this.followers.values()) {
          for (const one of followers) one.onRenditions?.(message.renditions);
        }
        break;
      case 'problem': {
        const { type, status, detail } = message.problem;
        const problem = new Problem(status, type.split(':').pop() ?? type, detail);
        if (message.fetch !== null) {
          if (this.followers.has(message.fetch)) this.refuse(message.fetch, problem);
          break;
        }
        for (const followers of this.followers.values()) {
          for (const one of followers) one.onProblem?.(problem);
        }
        break;
      }
      case 'connection': {
        // Pictures that were made during a rest were not announced, so its end counts as a new connection.
        const isBack = message.isOpen && this.hasRested;
        if (isBack) this.hasRested = false;
        else if (message.isOpen === this.isOpen) break;
        this.isOpen = message.isOpen;
        this.dispatchEvent(new Event('connection'));
        break;
      }
      case 'left':
        // The hub took the tab for gone; what it missed is the difference between the states.
        for (const [fetch, after] of this.states) this.send(fetch, after);
        break;
      case 'signedOut':
        this.dispatchEvent(new Event('signedout'));
        break;
    }
  }

  /**
   * Notes the state to which a fetch was led.
   * @param {string} fetch
   * @param {string} token
   */
  note(fetch, token) {
    if (!this.followers.has(fetch)) return;
    this.states.set(fetch, token);
    if (this.refused.get(fetch)?.timer === undefined) this.refused.delete(fetch);
  }

  visibilityChanged() {
    clearTimeout(this.resting);
    if (document.hidden) {
      this.hiddenSince = Date.now();
      if (!this.port) this.resting = setTimeout(() => this.rest(), restDelay);
    } else if (this.isResting || Date.now() - this.hiddenSince > sleepLimit) this.wake();
  }

  /** Closes the streams of this tab until it is shown. */
  rest() {
    this.isResting = true;
    for (const stream of this.streams) stream.rest();
  }

  /** Stops following for ever, so that the page holds nothing of the follower. */
  leave() {
    this.leaving.abort();
    clearTimeout(this.resting);
    for (const { timer } of this.refused.values()) clearTimeout(timer);
    this.followers.clear();
    this.port?.postMessage({ kind: 'close' });
    this.port?.close();
    for (const stream of this.streams) {
      stream.fetches.clear();
      stream.close();
    }
  }

  /** Opens the stream anew. */
  wake() {
    if (this.isResting && document.hidden) return;
    this.hasRested ||= this.isResting;
    this.isResting = false;
    this.port?.postMessage({ kind: 'wake' });
    for (const stream of this.streams) stream.wake();
  }
}
