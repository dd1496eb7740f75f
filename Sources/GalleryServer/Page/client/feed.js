// What changes, as it is committed: one stream of the server for all fetches of a page.
//
// A fetch is followed from the state that the caller holds. After a cut the stream goes on where it ended, with the
// cursor that the browser sends by itself; a caller whose state the stream does not name asks for the change between.

/** @typedef {import('./photoledger.js').PhotoLedger} PhotoLedger */
/** @typedef {import('./photoledger.js').Change} Change */

/**
 * @typedef {object} Rendition
 * @property {string} localIdentifier
 * @property {string} sha256
 * @property {'ready' | 'failed' | 'missing'} rendition
 * @property {string | null} placeholder
 *
 * @typedef {object} Follower
 * @property {(change: Change) => void} onChange a step of the fetch
 * @property {(state: import('./photoledger.js').FetchState) => void} onState the fetch anew, at another state
 * @property {(renditions: Rendition[]) => void} [onRenditions] assets whose pictures are ready or have failed
 */

/** The feed of a page. */
export class Feed extends EventTarget {
  /** @param {PhotoLedger} client */
  constructor(client) {
    super();
    this.client = client;
    /** @type {Map<string, { after: string, followers: Set<Follower> }>} */
    this.fetches = new Map();
    /** @type {EventSource | null} */
    this.source = null;
    /** Whether the stream is open; the event `connection` says when this changes. */
    this.isOpen = false;
  }

  /**
   * Follows a fetch from a state.
   * @param {string} fetch
   * @param {string} after the token of the state
   * @param {Follower} follower
   * @returns {() => void} ends it
   */
  follow(fetch, after, follower) {
    const known = this.fetches.get(fetch);
    if (known) known.followers.add(follower);
    else this.fetches.set(fetch, { after, followers: new Set([follower]) });
    if (!known) this.restart();
    return () => {
      const entry = this.fetches.get(fetch);
      if (!entry?.followers.delete(follower) || entry.followers.size > 0) return;
      this.fetches.delete(fetch);
      this.restart();
    };
  }

  /** Opens the stream for the fetches of now, from the states that are held. */
  restart() {
    this.source?.close();
    this.source = null;
    if (this.fetches.size === 0) return;
    const query = new URLSearchParams();
    for (const [fetch, { after }] of this.fetches) {
      query.append('fetch', fetch);
      query.append('after', after);
    }
    const source = new EventSource(`${this.client.base}/v1/feed?${query}`);
    this.source = source;
    source.onopen = () => this.setOpen(true);
    source.onerror = () => this.setOpen(false);
    source.addEventListener('change', (event) => {
      const change = JSON.parse(event.data);
      const entry = this.fetches.get(change.fetch);
      if (!entry) return;
      entry.after = change.after;
      for (const follower of entry.followers) follower.onChange(change);
    });
    source.addEventListener('state', (event) => {
      const state = JSON.parse(event.data);
      const entry = this.fetches.get(state.fetch);
      if (!entry) return;
      entry.after = state.token;
      for (const follower of entry.followers) follower.onState(state);
    });
    source.addEventListener('rendition', (event) => {
      const { renditions } = JSON.parse(event.data);
      for (const entry of this.fetches.values()) for (const one of entry.followers) one.onRenditions?.(renditions);
    });
  }

  /** @param {boolean} isOpen */
  setOpen(isOpen) {
    if (isOpen === this.isOpen) return;
    this.isOpen = isOpen;
    this.dispatchEvent(new Event('connection'));
  }

  /** Ends everything. */
  close() {
    this.fetches.clear();
    this.restart();
  }
}
