// A client of PhotoLedger's API, version 1, for browsers and other programs with `fetch`.
//
//   const gallery = new PhotoLedger({ base: 'https://photos.example', key: 'SECRET' });
//   const fetch = await gallery.openFetch({ sort: ['creationDate:desc'] });
//   const window = await gallery.window(fetch.fetch, fetch.token, 0, 200);
//
// A fetch is named by what it asks for and a state by a token, so both are good for as long as the library is.
// Every answer other than 2xx becomes a `Problem` with the sentence of the server.
//
// Rejected: a class for each kind of object. What the server answers is plain data and stays so.

/** An answer that says why a request was rejected or failed (RFC 9457). */
export class Problem extends Error {
  /**
   * @param {number} status the HTTP status; 0 if the server was not reached
   * @param {string} type the last part of the problem's type, such as `not-found`
   * @param {string} detail a sentence
   * @param {number} retryAfter seconds to wait before another attempt; 0 if the server does not say
   * @param {string[]} assets the assets that are the reason, as far as the server names them
   */
  constructor(status, type, detail, retryAfter = 0, assets = []) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.type = type;
    this.retryAfter = retryAfter;
    this.assets = assets;
  }

  /** Whether the same request may succeed later: the server was not reached, is busy or is stopping. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/**
 * @typedef {object} Question What a fetch asks for; see FetchRequest in the API's description.
 * @property {string} [where] a predicate in PhotoKit's format
 * @property {string} [search] words that begin words of names, keywords, captions, titles, people, cameras and lenses
 * @property {string[]} [sort] terms such as `creationDate:desc`, the outermost first
 * @property {string} [album]
 * @property {string} [smartAlbum] such as `smartAlbumFavorites`
 * @property {string[]} [mediaTypes] of `image`, `video`, `audio`
 * @property {boolean} [hidden]
 * @property {boolean} [trash]
 * @property {boolean} [allBursts]
 * @property {boolean} [allStacks]
 * @property {string[]} [sources] of `userLibrary`, `cloudShared` and `iTunesSynced`
 * @property {string} [day] in UTC, such as `2026-08-01`, from which `smartAlbumRecentlyAdded` counts back
 * @property {string} [collections] `all`, `top` or the identifier of a folder: collections instead of assets
 * @property {string} [selectionOf] the name of a client, whose view of the library is asked for
 * @property {number} [limit]
 * @property {number} [offset] how many are left out at the beginning
 * @property {true} [log] the log itself, to be followed; with nothing beside it
 *
 * @typedef {object} FetchState
 * @property {string} fetch
 * @property {string} token
 * @property {number} count
 * @property {string} [cursor]
 *
 * @typedef {object} Item An asset as grids show it.
 * @property {string} id
 * @property {number} mediaType 1 image, 2 video, 3 audio
 * @property {number} mediaSubtypes PhotoKit's bits
 * @property {number} width pixels
 * @property {number} height pixels
 * @property {number} duration seconds
 * @property {number} date milliseconds since 1970; NaN without a date
 * @property {number | null} offset seconds east of Greenwich
 * @property {boolean} hasClock whether the date is that of a clock, stored as if it were UTC where there is no offset
 * @property {boolean} isFavorite
 * @property {boolean} isHidden
 * @property {boolean} isStackTop whether it is shown in place of a stack
 * @property {string | null} sha256 of the resource that the asset shows
 * @property {'missing' | 'ready' | 'failed' | null} rendition
 * @property {'missing' | 'ready' | 'failed' | null} [play] the film, if the feed has said something of it
 * @property {string | null} placeholder 37 bytes in base64
 *
 * @typedef {Record<string, any[]>} Columns
 *
 * @typedef {[number, number][]} Ranges
 *
 * @typedef {object} Change A step from one state of a fetch to another. `removed` and the first of each pair of
 *   `moved` count in the list before, everything else in the list after.
 * @property {string} fetch
 * @property {string} before
 * @property {string} after
 * @property {number} count
 * @property {Ranges} removed
 * @property {Ranges} inserted
 * @property {Ranges} changed
 * @property {Ranges} moved
 * @property {{ indexes: Ranges, columns: Columns, records?: any[], isComplete: boolean }} items `records` are events of
 *   the log as `/v1/log` gives them, where the log is followed
 * @property {[string, number, number][] | null} [sections]
 * @property {string | null} cause
 *
 * @typedef {object} Section
 * @property {string} key
 * @property {number} first
 * @property {number} count
 *
 * @typedef {object} RequestOptions
 * @property {Record<string, string | number | boolean | null | undefined>} [query]
 * @property {unknown} [json] the body, sent as JSON
 * @property {BodyInit} [body]
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 */

/**
 * Where the tabs of a browser say whose session they have: `client` and `person`. All tabs share one cookie, so a
 * sign-in in one of them is one of all.
 */
export const sessionChannel = 'photoledger-session';

/**
 * The sign-in, from which one comes back to an address.
 * @param {{ pathname: string, hash: string }} from
 */
export const signInAddress = ({ pathname, hash }) =>
  pathname === '/' && hash === '' ? '/sign-in' : `/sign-in#${encodeURIComponent(pathname + hash)}`;

/**
 * Where to go after a sign-in: to the address that it was opened with, if that is one of this server.
 * @param {{ hash: string, origin: string }} here the address of the sign-in
 */
export function addressAfterSignIn({ hash, origin }) {
  try {
    const path = decodeURIComponent(hash.slice(1));
    const wanted = new URL(path, origin);
    return path.startsWith('/') && wanted.origin === origin ? origin + wanted.pathname + wanted.hash : '/';
  } catch {
    // It is malformed.
    return '/';
  }
}

/** How long a block keeps its key after its outcome stayed unknown, milliseconds. */
const keyLife = 300_000;

/** How many assets an archive of originals may have. */
export const downloadLimit = 100_000;

/**
 * The items of a window's columns, in their order.
 * @param {Columns} columns
 * @returns {Item[]}
 */
export function items(columns) {
  return columns.localIdentifier.map((id, index) => ({
    id,
    mediaType: columns.mediaType[index],
    mediaSubtypes: columns.mediaSubtypes[index],
    width: columns.pixelWidth[index],
    height: columns.pixelHeight[index],
    duration: columns.duration[index],
    date: columns.creationDate[index] === null ? NaN : Date.parse(columns.creationDate[index]),
    offset: columns.timeZoneOffset[index],
    hasClock: columns.hasClock[index],
    isFavorite: columns.isFavorite[index],
    isHidden: columns.isHidden[index],
    isStackTop: columns.isStackTop?.[index] ?? false,
    sha256: columns.sha256?.[index] ?? null,
    rendition: columns.rendition?.[index] ?? null,
    placeholder: columns.placeholder?.[index] ?? null,
  }));
}

/**
 * The seconds of a `Retry-After`; 0 without one, and for a date, which proxies may send.
 * @param {string | null} field
 */
export const secondsOf = (field) => Number(field) || 0;

/** No answer came. */
export const notReached = () => new Problem(0, 'not-reached', 'The server was not reached.');

/**
 * The body of an answer. The connection can be lost after `fetch` gave the answer; that is a `Problem`, too.
 * @template Value
 * @param {() => Promise<Value>} read such as `() => answer.blob()`
 * @param {AbortSignal} [signal] that of the request
 * @returns {Promise<Value>}
 * @throws {Problem}
 */
export async function readBody(read, signal) {
  try {
    return await read();
  } catch (error) {
    throw signal?.aborted ? error : notReached();
  }
}

/** A server of PhotoLedger, and the key with which it is asked. */
export class PhotoLedger {
  /**
   * @param {object} options
   * @param {string} [options.base] the server's origin; the page's own if left out
   * @param {string} [options.key] the secret of a key; without one the browser's cookie is sent
   * @param {typeof globalThis.fetch} [options.fetch] what sends requests
   */
  constructor({ base = '', key, fetch = globalThis.fetch.bind(globalThis) } = {}) {
    this.base = base;
    this.key = key;
    this.send = fetch;
    /**
     * The block of the last `commit`, if its outcome stayed unknown.
     * @type {{ text: string, key: string, until: number } | null}
     */
    this.unresolved = null;
    /** How many commits and undos were asked for. */
    this.turn = 0;
  }

  /**
   * Sends a request and gives the answer, whatever its content.
   * @param {string} method
   * @param {string} path
   * @param {RequestOptions} options
   * @returns {Promise<Response>} a response of status 2xx
   * @throws {Problem} for every other answer, and if the server is not reached
   */
  async response(method, path, { query, json, body, headers = {}, signal } = {}) {
    const url = new URL(this.base + path, globalThis.location?.href);
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    /** @type {Record<string, string>} */
    const fields = { Accept: 'application/json', ...headers };
    if (this.key) fields.Authorization = `Bearer ${this.key}`;
    if (json !== undefined) {
      fields['Content-Type'] = 'application/json';
      body = JSON.stringify(json);
    }
    let answer;
    try {
      // A key stands for itself: a session's cookie is not sent beside it.
      const credentials = this.key ? 'omit' : 'same-origin';
      answer = await this.send(url, { method, headers: fields, body, signal, credentials });
    } catch (error) {
      throw signal?.aborted ? error : notReached();
    }
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => null);
    const type = typeof problem?.type === 'string' ? String(problem.type).split(':').pop() : 'unknown';
    throw new Problem(
      answer.status, type ?? 'unknown', problem?.detail ?? `The server answered with status ${answer.status}.`,
      secondsOf(answer.headers.get('Retry-After')), Array.isArray(problem?.assets) ? problem.assets : []);
  }

  /**
   * Sends a request and gives the JSON of the answer; null without content.
   * @param {string} method
   * @param {string} path
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   * @throws {Problem}
   */
  async ask(method, path, options) {
    const answer = await this.response(method, path, options);
    const text = await readBody(() => answer.text(), options?.signal);
    if (text === '') return null;
    try {
      return JSON.parse(text);
    } catch {
      // What stands in front of the server answered in its place, as the sign-in pages of networks do.
      throw new Problem(502, 'unknown', 'The answer is not JSON.');
    }
  }

  /**
   * Names a fetch and counts it.
   * @param {Question} question
   * @param {string} [at]
   * @returns {Promise<FetchState>}
   */
  openFetch(question, at) {
    return this.ask('POST', '/v1/fetches', { json: question, query: { at } });
  }

  /**
   * Some items of a fetch at a state, by index.
   * @param {string} fetch
   * @param {string} token
   * @param {number} start
   * @param {number} count at most 1,000
   * @param {AbortSignal} [signal]
   * @returns {Promise<{ token: string, total: number, start: number, items: Item[] }>}
   */
  async window(fetch, token, start, count, signal) {
    const path = `/v1/fetches/${encodeURIComponent(fetch)}/items`;
    const window = await this.ask('GET', path, { query: { token, start, count, form: 'columns' }, signal });
    return { token: window.token, total: window.total, start: window.start, items: items(window.columns) };
  }

  /**
   * How many items each day, month or year of a fetch has.
   * @param {string} fetch
   * @param {string} token
   * @param {'day' | 'month' | 'year'} by
   * @param {string} [timeZone]
   * @returns {Promise<Section[]>}
   */
  async sections(fetch, token, by, timeZone) {
    const path = `/v1/fetches/${encodeURIComponent(fetch)}/sections`;
    return (await this.ask('GET', path, { query: { token, by, timeZone } })).sections;
  }

  /**
   * How a fetch differs now from a state.
   * @param {string} fetch
   * @param {string} after
   * @returns {Promise<any>}
   */
  changes(fetch, after) {
    return this.ask('GET', `/v1/fetches/${encodeURIComponent(fetch)}/changes`, { query: { after } });
  }

  /**
   * An asset with its resources.
   * @param {string} id
   * @param {string} [at]
   * @returns {Promise<any>}
   */
  asset(id, at) {
    return this.ask('GET', `/v1/assets/${encodeURIComponent(id)}`, { query: { at } });
  }

  /**
   * Commits a block of changes, or nothing of it. A cut is answered by sending it again under the same key. If the
   * outcome stays unknown, the same block has that key also if it is what is committed next, with no undo in between, as
   * it may be in the library.
   * @param {object[]} changes operations as `photoledger apply` reads them
   * @param {{ cause?: string, key?: string }} options
   * @returns {Promise<{ commit: number, token: string, created: string[], isRepetition?: true }>}
   */
  async commit(changes, { cause, key } = {}) {
    const json = cause === undefined ? { changes } : { changes, cause };
    const former = this.unresolved;
    const turn = this.nextTurn();
    if (key !== undefined) return this.repeating('/v1/blocks', json, key);
    const text = JSON.stringify(json);
    const own = former?.text === text && Date.now() < former.until ? former.key : randomName();
    try {
      return await this.repeating('/v1/blocks', json, own);
    } catch (error) {
      const isUnknown = error instanceof Problem && error.isPassing;
      if (isUnknown && turn === this.turn) this.unresolved = { text, key: own, until: Date.now() + keyLife };
      throw error;
    }
  }

  /**
   * Undoes commits; with `plan` it answers what that would do.
   * @param {Record<string, unknown>} request see UndoRequest in the API's description
   * @returns {Promise<any>}
   */
  undo(request) {
    if (request.plan) return this.ask('POST', '/v1/undo', { json: request });
    this.nextTurn();
    return this.repeating('/v1/undo', request, randomName());
  }

  /** Counts a commit or an undo. It may undo the block of unknown outcome: the same changes are another block then. */
  nextTurn() {
    this.unresolved = null;
    return this.turn += 1;
  }

  /**
   * Sends a change until its outcome is known, at most five times.
   * @param {string} path
   * @param {unknown} json
   * @param {string} [key] left out for what may be done twice
   */
  async repeating(path, json, key) {
    const options = key === undefined ? { json } : { json, headers: { 'Idempotency-Key': `"${key}"` } };
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.ask('POST', path, options);
      } catch (error) {
        if (!(error instanceof Problem) || !error.isPassing || attempt === 4) throw error;
        const pause = Math.max(error.retryAfter * 1000, 250 << attempt);
        await new Promise((done) => setTimeout(done, pause));
      }
    }
  }

  /**
   * The URL of a picture or of a film as browsers play it; null where the asset shows nothing.
   * @param {Item} item
   * @param {'small' | 'large' | 'play'} kind
   */
  renditionURL(item, kind) {
    if (!item.sha256) return null;
    return `${this.base}/v1/assets/${encodeURIComponent(item.id)}/renditions/${item.sha256}/r3/${kind}`;
  }

  /**
   * The URL of stored bytes.
   * @param {string} id
   * @param {string} sha256
   * @param {boolean} [isDownload]
   */
  resourceURL(id, sha256, isDownload = false) {
    const path = `/v1/assets/${encodeURIComponent(id)}/resources/${sha256}`;
    return `${this.base}${path}${isDownload ? '?download=1' : ''}`;
  }
}

/** A unique name. Works without a secure context, unlike `crypto.randomUUID`. */
export function randomName() {
  const bytes = new Uint8Array(16);
  crypto.getRandomValues(bytes);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
