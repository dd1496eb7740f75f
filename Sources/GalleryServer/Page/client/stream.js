// One stream of the server that carries many fetches, opened again for as long as somebody wants it.
//
//   closed ──open──▶ opening ──'feed'──▶ open ──cut──▶ waiting ──time, wake──▶ opening
//
// Each fetch is named with the state that was last delivered, so the stream goes on exactly there, after a cut, a restart
// or a crash of the server. The browser's own way (`Last-Event-ID`) is not used: fetches that were added later would be
// missing in it.

import { openEvents } from './events.js';
import { Problem } from './photoledger.js';

/** @typedef {import('./photoledger.js').Change} Change */
/** @typedef {import('./photoledger.js').FetchState} FetchState */

/** @typedef {{ type: string, status: number, detail: string }} FeedProblem As a problem document has it. */

/**
 * @typedef {{ kind: 'change', change: Change } | { kind: 'state', state: { fetch: string, token: string } }
 *   | { kind: 'renditions', renditions: any[] } | { kind: 'problem', fetch: string | null, problem: FeedProblem }
 *   | { kind: 'connection', isOpen: boolean } | { kind: 'signedOut' }} FeedMessage
 */

/** How many fetches a stream may have, and how many bytes: the server counts those of a name, and some for its token. */
const fetchLimit = 32;
const byteLimit = 6144;
const tokenBytes = 64;
/** How many characters the address of a stream may have; other fetches are added when it is open. */
const addressLimit = 6000;

/** The reader's time zone, in which months begin. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'GMT';

/** What feeds and lists ask besides, so that changes say which months have another count. */
export const sectionQuery = { sections: 'month', timeZone };

export class Stream {
  /**
   * @param {import('./photoledger.js').PhotoLedger} client
   * @param {(message: FeedMessage) => void} deliver
   */
  constructor(client, deliver) {
    this.client = client;
    this.deliver = deliver;
    /** @type {Map<string, string>} the state of each fetch that was delivered last */
    this.fetches = new Map();
    /** @type {Set<string>} fetches of which the server was not yet heard that it has them no more */
    this.leaving = new Set();
    /** @type {import('./events.js').EventReader | null} */
    this.source = null;
    /** The fetches in the address of the stream, with their states. @type {Map<string, string>} */
    this.named = new Map();
    /** The name by which fetches are added; null while the stream is not open. @type {string | null} */
    this.name = null;
    this.attempts = 0;
    /** How often in a row the server, although it was reached, did not open the stream. */
    this.refusals = 0;
    /** Whether the stream stays closed until `wake`. */
    this.isResting = false;
    /** Whether the session has ended; the fetches wait for the next one. */
    this.isEnded = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /**
   * Whether the server would take one more fetch. One that is too long for any stream is for the server to refuse, in a
   * stream of its own.
   * @param {string} fetch
   */
  hasRoom(fetch) {
    const names = new Set([...this.fetches.keys(), ...this.leaving, fetch]);
    const byteCount = [...names].reduce((sum, name) => sum + name.length + tokenBytes, 0);
    return names.size === 1 || (names.size <= fetchLimit && byteCount <= byteLimit);
  }

  /**
   * Adds a fetch from a state on.
   * @param {string} fetch
   * @param {string} after
   */
  add(fetch, after) {
    this.fetches.set(fetch, after);
    if (this.source && this.name) this.addToOpen(fetch, after);
    else if (!this.source) this.open();
    // While it is being opened, what was not in the address is added when its name is there.
  }

  /** @param {string} fetch */
  remove(fetch) {
    // One that the server refused is followed no more.
    if (!this.fetches.delete(fetch)) return;
    if (this.fetches.size === 0) {
      // What is wanted next begins anew, as if the stream had never been cut.
      this.close();
      this.attempts = 0;
    } else if (this.name) {
      const path = `/v1/feeds/${this.name}/fetches/${encodeURIComponent(fetch)}`;
      this.leaving.add(fetch);
      // A stream that was cut meanwhile does not have it any more.
      this.client.ask('DELETE', path).catch(() => this.reopen(0)).finally(() => this.leaving.delete(fetch));
    }
  }

  /**
   * @param {string} fetch
   * @param {string} after
   */
  async addToOpen(fetch, after) {
    const { name } = this;
    try {
      await this.client.ask('POST', `/v1/feeds/${name}/fetches`, { json: { fetch, after } });
    } catch (error) {
      if (name !== this.name || !this.fetches.has(fetch)) return;
      if (error instanceof Problem && (error.status === 400 || error.status === 403)) {
        const { type, status, message: detail } = error;
        this.refuse(fetch, { type, status, detail });
      } else this.reopen(0);
    }
  }

  /**
   * Carries a fetch no more that the server refused; it would do so again.
   * @param {string} fetch
   * @param {FeedProblem} problem
   */
  refuse(fetch, problem) {
    this.fetches.delete(fetch);
    if (this.fetches.size === 0) this.close();
    this.deliver({ kind: 'problem', fetch, problem });
  }

  open() {
    clearTimeout(this.timer);
    if (this.isResting) return;
    this.isEnded = false;
    this.source?.close();
    this.name = null;
    const query = new URLSearchParams(sectionQuery);
    const named = new Map();
    for (const [fetch, after] of this.fetches) {
      if (named.size > 0 && query.toString().length + fetch.length + after.length > addressLimit) break;
      query.append('fetch', fetch);
      query.append('after', after);
      named.set(fetch, after);
    }
    this.named = named;
    const source = openEvents(this.client, `/v1/feed?${query}`);
    this.source = source;
    const listen = (/** @type {string} */ kind, /** @type {(data: any) => void} */ take) => {
      source.addEventListener(kind, (event) => {
        if (source === this.source && event instanceof MessageEvent) take(JSON.parse(event.data));
      });
    };
    listen('feed', ({ feed }) => {
      this.name = feed;
      this.attempts = 0;
      this.deliver({ kind: 'connection', isOpen: true });
      for (const [fetch, after] of this.fetches) if (!named.has(fetch)) this.addToOpen(fetch, after);
    });
    listen('change', (change) => {
      if (!this.fetches.has(change.fetch)) return;
      this.fetches.set(change.fetch, change.after);
      this.deliver({ kind: 'change', change });
    });
    listen('state', (state) => {
      if (!this.fetches.has(state.fetch)) return;
      this.fetches.set(state.fetch, state.token);
      this.deliver({ kind: 'state', state });
    });
    listen('rendition', ({ renditions }) => this.deliver({ kind: 'renditions', renditions }));
    listen('problem', ({ fetch = null, type = 'unknown', status = 0, detail = '' }) => {
      const problem = { type, status, detail };
      if (fetch === null) this.deliver({ kind: 'problem', fetch, problem });
      else this.refuse(fetch, problem);
    });
    source.onerror = () => {
      if (source === this.source) this.lost();
    };
  }

  /** Opens the stream again after a while, unless the session has ended. */
  async lost() {
    const isRefused = this.name === null && this.attempts > 0;
    this.source?.close();
    this.source = null;
    this.name = null;
    this.deliver({ kind: 'connection', isOpen: false });
    let isReached = false;
    try {
      await this.client.ask('GET', '/v1/session');
      isReached = true;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        this.isEnded = true;
        this.deliver({ kind: 'signedOut' });
        return;
      }
    }
    // What stands in front of a server that is away may answer with any status, which says nothing of the fetches.
    this.refusals = isRefused && isReached ? this.refusals + 1 : 0;
    // Seldom (1, 2, 4, 8, …): if the reason passes, the answer is all that changed since the last delivery.
    if (this.refusals > 0 && (this.refusals & (this.refusals - 1)) === 0) await this.explain();
    if (this.fetches.size === 0) return;
    if (!this.source) this.reopen(Math.min(250 * 2 ** this.attempts, 10_000));
    this.attempts += 1;
  }

  /** Asks why the stream is not opened: the server answers with a status where it can follow none of its fetches. */
  async explain() {
    const { named } = this;
    const query = new URLSearchParams();
    for (const [fetch, after] of named) {
      query.append('fetch', fetch);
      query.append('after', after);
    }
    try {
      await this.client.ask('GET', `/v1/changes?${query}`);
    } catch (error) {
      if (!(error instanceof Problem) || ![400, 403, 404].includes(error.status)) return;
      const { type, status, message: detail } = error;
      this.refusals = 0;
      // The server was reached: followers learn the reason, and not that it is away.
      this.deliver({ kind: 'connection', isOpen: true });
      for (const [fetch] of named) if (this.fetches.has(fetch)) this.refuse(fetch, { type, status, detail });
    }
  }

  /** @param {number} milliseconds */
  reopen(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.fetches.size > 0) this.open();
    }, milliseconds);
  }

  /** Opens the stream anew: the machine slept, or the network came back. */
  wake() {
    this.isResting = false;
    if (this.fetches.size > 0) this.open();
  }

  /** Closes the stream until `wake`. What is added meanwhile is followed from then on. */
  rest() {
    this.isResting = true;
    this.close();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.name = null;
  }
}
