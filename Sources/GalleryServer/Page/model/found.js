// Photos of a month of any year: a fetch that is narrowed here, since the store's predicates have no key for a month, and
// the address of a fetch has no room for the spans of many years.
//
//   base      a fetch of the server, read as whole records from its beginning, as far as `limit`
//   entries   what was read: index in the base ─▶ its month, and whether it matches
//   found     the matching entries: the list that a grid shows, as if it were a fetch of the server
//
//   change of the base ─▶ entries spliced, what came or changed read again ─▶ found compared ─▶ change of the list
//
// A grid is given `app`, which is the real one but for the client and the feed: they answer for this list themselves
// and pass on everything else. So selection, actions, sizes and the viewer work on it as on any list, and it follows
// commits.
//
// Invariant: `entries[index]` is the asset at `index` of the base at `token`, or null until it is read; a window is read
// at the state that it names; if that state is no longer kept, the request fails.
//
// Rejected: `SELF IN {…}`; the address of a fetch holds 37 identifiers.

import { Problem } from '../client/photoledger.js';

/** @typedef {import('../client/photoledger.js').Item} Item */
/** @typedef {import('../client/photoledger.js').Change} Change */
/** @typedef {import('../client/photoledger.js').FetchState} FetchState */
/** @typedef {import('../client/photoledger.js').Ranges} Ranges */
/** @typedef {import('../client/feed.js').Follower} Follower */

/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string | null} creationDate
 * @property {string | null} localCreationDate
 * @property {number} month of the wall time, or of the reader's time where the camera wrote none; 0 without a date
 * @property {number} width
 * @property {number} height
 * @property {boolean} isMatch
 */

/** @typedef {(entry: Pick<Entry, 'month'>) => boolean} Test */

/** How many records are read at once. */
const windowSize = 1000;
/** How many are read before somebody asks for more. */
export const firstLimit = 20_000;
/** How many former states are kept for windows that are on their way. */
const keptStates = 16;
/** How far apart two items may stand to be read as one window. */
const gapLimit = 100;

let names = 0;

/**
 * @param {any} record an asset as the server gives it whole
 * @param {Test} test
 * @returns {Entry}
 */
function entryOf(record, test) {
  const { localIdentifier: id, pixelWidth: width, pixelHeight: height } = record;
  const { creationDate, localCreationDate } = record;
  const month = localCreationDate ? Number(localCreationDate.slice(5, 7))
    : creationDate ? new Date(creationDate).getMonth() + 1 : 0;
  return { id, creationDate, localCreationDate, month, width, height, isMatch: test({ month }) };
}

/**
 * Ascending indexes as ranges.
 * @param {number[]} indexes
 * @returns {Ranges}
 */
export function ranges(indexes) {
  /** @type {Ranges} */
  const result = [];
  for (const index of indexes) {
    const last = result[result.length - 1];
    if (last && last[0] + last[1] === index) last[1] += 1;
    else result.push([index, 1]);
  }
  return result;
}

/**
 * The places of a longest ascending part of some numbers.
 * @param {number[]} numbers
 * @returns {Set<number>}
 */
function ascending(numbers) {
  /** @type {number[]} the place of the smallest end of a part of each length */
  const ends = [];
  /** @type {number[]} */
  const before = [];
  numbers.forEach((number, place) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    before[place] = low > 0 ? ends[low - 1] : -1;
    ends[low] = place;
  });
  /** @type {Set<number>} */
  const result = new Set();
  for (let place = ends[ends.length - 1] ?? -1; place >= 0; place = before[place]) result.add(place);
  return result;
}

/**
 * How one list of entries becomes another: what left, came, moved, and looks different.
 * @param {Entry[]} before
 * @param {Entry[]} after
 */
export function difference(before, after) {
  const places = new Map(before.map((entry, index) => [entry.id, index]));
  const stays = new Set();
  /** @type {number[]} */
  const inserted = [];
  /** @type {number[]} */
  const changed = [];
  /** @type {[number, number][]} */
  const common = [];
  after.forEach((entry, index) => {
    const former = places.get(entry.id);
    if (former === undefined) {
      inserted.push(index);
      return;
    }
    stays.add(entry.id);
    common.push([former, index]);
    if (before[former] !== entry) changed.push(index);
  });
  const kept = ascending(common.map(([former]) => former));
  /** @type {Ranges} */
  const moved = common.filter((_, place) => !kept.has(place));
  const removed = before.flatMap((entry, index) => stays.has(entry.id) ? [] : [index]);
  return { removed: ranges(removed), inserted: ranges(inserted), changed: ranges(changed), moved };
}

/**
 * The entries after a change of the base; null where they are to be read.
 * @param {(Entry | null)[]} entries the beginning of the base
 * @param {boolean} isWhole whether they are all of it
 * @param {Change} change
 */
export function spliced(entries, isWhole, change) {
  const gone = new Uint8Array(entries.length);
  for (const [start, count] of change.removed) gone.fill(1, start, start + count);
  for (const [from] of change.moved) if (from < gone.length) gone[from] = 1;
  const rest = entries.filter((_, index) => gone[index] === 0);
  /** @type {Map<number, Entry | null>} */
  const comes = new Map(change.moved.map(([from, to]) => [to, entries[from] ?? null]));
  for (const [start, count] of change.inserted) {
    for (let index = start; index < start + count; index += 1) comes.set(index, null);
  }
  /** @type {(Entry | null)[]} */
  const result = [];
  let next = 0;
  // Beyond what was read nothing is known, so what comes there is not looked at.
  while (isWhole ? result.length < change.count : next < rest.length) {
    const came = comes.get(result.length);
    if (came !== undefined) result.push(came);
    else result.push(rest[next++] ?? null);
  }
  for (const [start, count] of change.changed) {
    for (let index = start; index < Math.min(start + count, result.length); index += 1) result[index] = null;
  }
  return result;
}

/** Events: `progress` when more was read, `failed` (its `detail`). */
export class Found extends EventTarget {
  /**
   * @param {import('../views/app.js').App} real
   * @param {import('../client/photoledger.js').Question} base
   * @param {Test} test
   */
  static async open(real, base, test) {
    const state = await real.client.openFetch(base);
    const found = new Found(real, state, test);
    found.end = real.feed.follow(state.fetch, state.token, {
      onChange: (change) => found.take(change), onState: (now) => found.take(now),
      onRenditions: (renditions) => { for (const one of found.followers) one.onRenditions?.(renditions); },
      onProblem: (problem) => found.fail(problem),
    });
    real.feed.addEventListener('connection', found.goOn);
    found.goOn();
    return found;
  }

  /**
   * @param {import('../views/app.js').App} real
   * @param {FetchState} state
   * @param {Test} test
   */
  constructor(real, state, test) {
    super();
    this.real = real;
    this.base = state.fetch;
    this.token = state.token;
    /** How many the base has. */
    this.total = state.count;
    this.test = test;
    this.limit = firstLimit;
    /** @type {(Entry | null)[]} */
    this.entries = [];
    /** @type {Entry[]} */
    this.found = [];
    this.name = `found-${names += 1}`;
    this.version = 0;
    /** @type {Map<string, Entry[]>} */
    this.states = new Map([[this.spelled, this.found]]);
    /** @type {Set<Follower>} */
    this.followers = new Set();
    this.queue = Promise.resolve();
    this.isClosed = false;
    this.end = () => {};
    /** Reads what is missing: at the beginning, and when a server that was gone is back. */
    this.goOn = () => {
      if (!real.feed.isOpen) return;
      this.queue = this.queue.then(() => this.readMissing()).then(() => this.readOn()).then(() => this.tell())
        .catch((error) => this.fail(error));
    };
    /** The question by which a grid opens this list. @type {import('../client/photoledger.js').Question} */
    this.question = {};
    this.app = this.standIn();
  }

  /** The token of the last state that was reported. */
  get spelled() {
    return `${this.name}-${this.version}`;
  }

  /** How many were read. */
  get readCount() {
    return this.entries.length;
  }

  /** Whether all of the base was read. */
  get isWhole() {
    return this.entries.length >= this.total;
  }

  /**
   * Looks for something else in what was read.
   * @param {Test} test
   */
  look(test) {
    this.test = test;
    for (const entry of this.entries) if (entry) entry.isMatch = test(entry);
    this.tell();
  }

  /** Reads as many again. */
  readMore() {
    this.limit += firstLimit;
    this.goOn();
  }

  /** Reads to the limit, and tells what was found after each window. */
  async readOn() {
    while (!this.isClosed && this.entries.length < Math.min(this.limit, this.total)) {
      const first = this.entries.length;
      const read = await this.records(first, Math.min(windowSize, this.limit - first));
      if (this.isClosed) return;
      if (read.length === 0) break;
      this.entries.push(...read);
      this.tell();
      this.dispatchEvent(new Event('progress'));
    }
    this.dispatchEvent(new Event('progress'));
  }

  /**
   * @param {number} start
   * @param {number} count
   */
  async records(start, count) {
    const window = await this.real.client.ask('GET', `/v1/fetches/${this.base}/items`,
      { query: { token: this.token, start, count } });
    return /** @type {any[]} */ (window.items).map((record) => entryOf(record, this.test));
  }

  /** @param {Change | { fetch: string, token: string }} message */
  take(message) {
    this.queue = this.queue.then(() => this.lead(message)).catch((error) => this.fail(error));
  }

  /** @param {Change | { fetch: string, token: string }} message */
  async lead(message) {
    if (this.isClosed) return;
    if ('before' in message && message.before === this.token) {
      this.entries = spliced(this.entries, this.isWhole, message);
      this.token = message.after;
      this.total = message.count;
    } else if (('before' in message ? message.after : message.token) === this.token) return;
    else {
      const state = await this.real.client.ask('GET', `/v1/fetches/${this.base}`);
      if (this.isClosed) return;
      this.token = state.token;
      this.total = state.count;
      this.entries = new Array(Math.min(this.entries.length, state.count)).fill(null);
    }
    await this.readMissing();
    await this.readOn();
    if (!this.isClosed) this.tell();
  }

  /** Reads again what came or changed. */
  async readMissing() {
    for (let index = 0; index < this.entries.length && !this.isClosed;) {
      if (this.entries[index]) {
        index += 1;
        continue;
      }
      const first = index;
      while (index < this.entries.length && index < first + windowSize && !this.entries[index]) index += 1;
      const read = await this.records(first, index - first);
      read.forEach((entry, place) => { this.entries[first + place] = entry; });
    }
  }

  /** Tells the followers how what is found differs. */
  tell() {
    const now = /** @type {Entry[]} */ (this.entries.filter((entry) => entry?.isMatch));
    const before = this.spelled;
    const former = this.found;
    const { removed, inserted, changed, moved } = difference(former, now);
    if (removed.length + inserted.length + changed.length + moved.length === 0) return;
    this.found = now;
    this.version += 1;
    this.states.set(this.spelled, now);
    for (const old of this.states.keys()) {
      if (this.states.size <= keptStates) break;
      this.states.delete(old);
    }
    const change = this.change(before, { removed, inserted, changed, moved });
    for (const follower of [...this.followers]) follower.onChange(change);
  }

  /**
   * @param {string} before
   * @param {{ removed: Ranges, inserted: Ranges, changed: Ranges, moved: Ranges }} parts
   * @returns {Change}
   */
  change(before, parts) {
    // What came is read as windows, like anything that is not loaded.
    const none = { indexes: [], columns: { localIdentifier: [] }, isComplete: false };
    const { name, spelled, found } = this;
    return {
      fetch: name, before, after: spelled, count: found.length, ...parts, items: none, sections: null, cause: null,
    };
  }

  /** @param {unknown} error */
  fail(error) {
    if (!this.isClosed) this.dispatchEvent(new CustomEvent('failed', { detail: error }));
  }

  /** @returns {FetchState} */
  state() {
    return { fetch: this.name, token: this.spelled, count: this.found.length };
  }

  /**
   * What was found at a state.
   * @param {string} token
   * @throws a problem if the state is no longer kept: in any other state the indexes name other photos
   */
  at(token) {
    const found = this.states.get(token);
    if (!found) throw new Problem(410, 'token-expired', 'The results changed too often meanwhile. Try again.');
    return found;
  }

  /**
   * Some items of a state of the list.
   * @param {string} token
   * @param {number} start
   * @param {number} count
   * @param {AbortSignal} [signal]
   */
  async window(token, start, count, signal) {
    const list = this.at(token);
    const wanted = list.slice(start, start + count);
    const places = new Map(this.entries.map((entry, index) => [entry?.id ?? '', index]));
    const indexes = wanted.flatMap((entry) => places.get(entry.id) ?? []).sort((one, other) => one - other);
    /** @type {Map<string, Item>} */
    const known = new Map();
    const { token: at } = this;
    const waits = [];
    for (let from = 0; from < indexes.length;) {
      let to = from + 1;
      const isNear = () => indexes[to] - indexes[to - 1] <= gapLimit && indexes[to] - indexes[from] < windowSize;
      while (to < indexes.length && isNear()) to += 1;
      waits.push([indexes[from], indexes[to - 1] - indexes[from] + 1]);
      from = to;
    }
    for (const [first, length] of waits) {
      const window = await this.real.client.window(this.base, at, first, length, signal);
      for (const item of window.items) known.set(item.id, item);
    }
    return { token, total: list.length, start, items: wanted.map((entry) => known.get(entry.id) ?? bare(entry)) };
  }

  /**
   * The widths of a state's items in 256ths of their heights.
   * @param {string} token
   * @param {number} start
   * @param {number} count
   */
  shapes(token, start, count) {
    const wanted = this.at(token).slice(start, start + count);
    const bytes = new DataView(new ArrayBuffer(2 * count));
    wanted.forEach(({ width, height }, index) => {
      const shape = width > 0 && height > 0 ? Math.min(Math.max(Math.round(width / height * 256), 1), 65535) : 0;
      bytes.setUint16(2 * index, shape, true);
    });
    return new Response(bytes.buffer);
  }

  /**
   * Answers a question after this list.
   * @param {string} part what follows the path of the fetch
   * @param {Record<string, any>} [query]
   * @returns {any} undefined if it is not one of those that are asked of it
   */
  answer(part, query = {}) {
    switch (part) {
      case '': return this.state();
      case '/changes': {
        const former = this.states.get(query.after);
        return former ? this.change(query.after, difference(former, this.found)) : this.state();
      }
      case '/index': {
        const index = this.at(query.token).findIndex(({ id }) => id === query.asset);
        return { token: query.token, index: index < 0 ? null : index };
      }
      case '/items': {
        const { token, start, count } = query;
        // Of the whole records only the dates are kept, which are what is asked for.
        return { token, items: this.at(token).slice(start, start + count).map(
          ({ id: localIdentifier, creationDate, localCreationDate }) =>
            ({ localIdentifier, creationDate, localCreationDate })) };
      }
      default: return undefined;
    }
  }

  /** The app that grids of this list are given. */
  standIn() {
    const { client, feed } = this.real;
    const path = `/v1/fetches/${this.name}`;
    const answering = Object.assign(Object.create(client), {
      openFetch: async (/** @type {any} */ question, /** @type {string} */ at) =>
        question === this.question ? this.state() : client.openFetch(question, at),
      window: async (/** @type {string} */ fetch, /** @type {string} */ token, /** @type {number} */ start,
        /** @type {number} */ count, /** @type {AbortSignal} */ signal) =>
        fetch === this.name ? this.window(token, start, count, signal)
          : client.window(fetch, token, start, count, signal),
      response: async (/** @type {string} */ method, /** @type {string} */ asked, /** @type {any} */ options) =>
        asked === `${path}/shapes` ? this.shapes(options.query.token, options.query.start, options.query.count)
          : client.response(method, asked, options),
      ask: async (/** @type {string} */ method, /** @type {string} */ asked, /** @type {any} */ options) =>
        (asked.startsWith(path) ? this.answer(asked.slice(path.length), options?.query) : undefined)
          ?? client.ask(method, asked, options),
    });
    const following = {
      get isOpen() { return feed.isOpen; },
      addEventListener: (/** @type {[any, any]} */ ...parts) => feed.addEventListener(...parts),
      removeEventListener: (/** @type {[any, any]} */ ...parts) => feed.removeEventListener(...parts),
      wake: () => feed.wake(),
      follow: (/** @type {string} */ fetch, /** @type {string} */ after, /** @type {Follower} */ follower) => {
        if (fetch !== this.name) return feed.follow(fetch, after, follower);
        this.followers.add(follower);
        if (after !== this.spelled) follower.onState(this.state());
        return () => this.followers.delete(follower);
      },
    };
    return Object.create(this.real, { client: { value: answering }, feed: { value: following } });
  }

  close() {
    this.isClosed = true;
    this.real.feed.removeEventListener('connection', this.goOn);
    this.end();
    this.followers.clear();
  }
}

/**
 * An item of which only the record was read: it left the base while its window was on its way.
 * @param {Entry} entry
 * @returns {Item}
 */
const bare = ({ id, width, height }) => ({
  id, mediaType: 1, mediaSubtypes: 0, width, height, duration: 0, date: NaN, offset: null, hasClock: false, isFavorite: false,
  isHidden: false, isStackTop: false, sha256: null, rendition: null, placeholder: null,
});

