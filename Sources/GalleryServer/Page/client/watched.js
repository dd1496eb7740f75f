// A state of the server that is followed while somebody looks: the requests of apps, what a session may do.
//
//   closed ──tab is shown──▶ open ──'state'──▶ open ──cut──▶ waiting ──time, tab is shown──▶ open
//                             └──tab is hidden──▶ closed
//
// Each stream holds one of the six connections that a browser has for a server, so a tab in the background gives its own
// back. Nothing is lost by that: the first message of a stream is the state of now.
//
// Events: `state` when the state arrived, `signedout` when the session has ended.

/** How long the next attempt waits after each that failed, milliseconds. */
const firstPause = 1000;
const longestPause = 30_000;

/** @template State */
export class Watched extends EventTarget {
  /**
   * @param {import('./photoledger.js').PhotoLedger} client
   * @param {string} path of the stream
   */
  constructor(client, path) {
    super();
    this.client = client;
    this.path = path;
    /**
     * The state that arrived last.
     * @type {State | null}
     */
    this.state = null;
    /** @type {EventSource | null} */
    this.source = null;
    this.pause = firstPause;
    this.isEnded = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** Ends the listeners. */
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    document.addEventListener('visibilitychange', () => this.follow(), { signal });
    addEventListener('pagehide', () => this.close(), { signal });
    addEventListener('pageshow', (event) => { if (event.persisted) this.follow(); }, { signal });
    addEventListener('online', () => this.follow(), { signal });
    this.follow();
  }

  /** Opens or closes the stream, as the tab is shown or not. */
  follow() {
    if (document.hidden || this.isEnded) {
      this.close();
      return;
    }
    if (this.source) return;
    clearTimeout(this.timer);
    const source = new EventSource(this.client.base + this.path);
    this.source = source;
    source.addEventListener('state', (event) => {
      if (source !== this.source) return;
      this.pause = firstPause;
      this.state = JSON.parse(event.data);
      this.dispatchEvent(new Event('state'));
    });
    source.addEventListener('problem', (event) => {
      if (source !== this.source) return;
      if (JSON.parse(event.data).status === 401) this.end();
    });
    source.onerror = () => { if (source === this.source) this.lost(); };
  }

  /** Opens the stream again after a while, unless the session has ended. */
  async lost() {
    this.close();
    try {
      await this.client.ask('GET', '/v1/session');
    } catch (error) {
      if (/** @type {{ status?: number }} */ (error).status === 401) {
        this.end();
        return;
      }
      // Not reached, or busy: the frame's banner says so, and the next attempt follows.
    }
    if (this.source || this.isEnded) return;
    this.timer = setTimeout(() => this.follow(), this.pause);
    this.pause = Math.min(this.pause * 2, longestPause);
  }

  /** Follows again after the session had ended, with that of now. */
  again() {
    this.isEnded = false;
    this.pause = firstPause;
    this.follow();
  }

  /** Stops following for ever, so that the page holds nothing of the follower. */
  leave() {
    this.leaving.abort();
    this.isEnded = true;
    this.close();
  }

  end() {
    this.isEnded = true;
    this.close();
    this.dispatchEvent(new Event('signedout'));
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }
}
