// The list that a grid shows: a fetch at a state, led on from state to state by exact changes.
//
//   count, token          the state
//   item(index)           what is loaded; null until then
//   load(start, count)    asks for what is not loaded
//   blocks                shapes, rows and headings, for the layout
//
// Events: `change` (ListChange) after the list came to another state, `loaded` when items arrived, `shapes` when the layout
// knows more, `renditions` when pictures or films are ready, `failed` (ErrorEvent's `error`) when the list cannot go on.
//
// A message of the feed says which state it begins at. If that is not the state of the list, messages were missed or lie
// before it: the list asks for the one change from its own state to now, and messages that come meanwhile are looked
// at again after that. So the order in which messages and answers arrive does not matter.
//
// What fails is asked for again: at once when the stream is open again, else after a pause that grows. A list that is behind
// its feed stays so for no longer than the server is away.
//
// Invariant: at every moment each loaded item is at the index that it has in the fetch at `token`. What is on its way is
// bound to cells and blocks, which move with the changes, and not to indexes.

import { Problem, items, readBody } from '../client/photoledger.js';
import { sectionQuery, timeZone } from '../client/stream.js';
import { Blocks, Cell } from './blocks.js';

/** @typedef {import('../client/photoledger.js').PhotoLedger} PhotoLedger */
/** @typedef {import('../client/photoledger.js').Item} Item */
/** @typedef {import('../client/photoledger.js').Change} Change */
/** @typedef {import('../client/photoledger.js').Question} Question */
/** @typedef {import('../client/photoledger.js').FetchState} FetchState */

/** How many items a window has. */
const windowSize = 200;
/** How many items a list that is laid out begins with: about a screen. */
const firstItems = 100;
/** How many shapes are asked for at once. */
const shapesAtOnce = 8192;
/** How many shapes a list begins with: those of its first blocks. */
const firstShapes = 4096;
/** How long a list waits before it asks again for what it could not get, the first and the longest time, milliseconds. */
const firstPause = 2000;
const longestPause = 30_000;
/**
 * How many blocks keep their items, or how many items where the blocks are small, as those of months with few photos
 * are; the ones that were looked at longest ago lose them.
 */
const loadedBlocks = 24;
const loadedItems = loadedBlocks * 1024;

/** What a `change` event of a list holds: a step, or null if the list begins anew. */
export class ListChange extends Event {
  /** @param {Change | null} change */
  constructor(change) {
    super('change');
    this.change = change;
  }
}

/**
 * The width of an item in 256ths of its height, as the server's shapes have it.
 * @param {Item} item
 */
const shapeOf = (item) =>
  item.width > 0 && item.height > 0 ? Math.min(Math.max(Math.round(item.width / item.height * 256), 1), 65535) : 0;

export class List extends EventTarget {
  /**
   * Opens the list of a fetch.
   * @param {PhotoLedger} client
   * @param {Question} question
   * @param {{ feed?: import('../client/feed.js').Feed, at?: string, hasHeadings?: boolean, isLaidOut?: boolean }} options
   *   without a feed, or with `at`, the list stays at its state; `isLaidOut` begins with what a first screen shows
   */
  static async open(client, question, { feed, at, hasHeadings = false, isLaidOut = false } = {}) {
    const state = await client.openFetch(question, at);
    const isShown = isLaidOut && state.count > 0;
    // What the first screen needs is asked for at once, so it takes the time of the slowest and not of all.
    const [parts, shapes, window] = await Promise.all([
      hasHeadings ? List.parts(client, state) : [{ key: '', count: state.count }],
      isShown ? List.shapes(client, state, 0, Math.min(firstShapes, state.count)) : null,
      isShown ? client.window(state.fetch, state.token, 0, Math.min(firstItems, state.count)) : null,
    ]);
    const list = new List(client, state, parts, hasHeadings, !(question.sort?.[0] ?? '').endsWith(':desc'));
    if (shapes) list.putShapes(list.blocks.list.map((block) => ({ block, count: block.count })), shapes);
    window?.items.forEach((item, index) => {
      list.use(list.blocks.at(index).block);
      list.blocks.madeCell(index).item = item;
    });
    if (feed) list.watch(feed);
    if (feed && at === undefined) list.follow(feed);
    return list;
  }

  /**
   * The months of a fetch at a state.
   * @param {PhotoLedger} client
   * @param {FetchState} state
   */
  static async parts(client, state) {
    if (state.count === 0) return [];
    return client.sections(state.fetch, state.token, 'month', timeZone);
  }

  /**
   * Shapes of a fetch at a state, by index.
   * @param {PhotoLedger} client
   * @param {{ fetch: string, token: string }} state
   * @param {number} start
   * @param {number} count
   * @returns {Promise<Uint16Array>}
   */
  static async shapes(client, { fetch, token }, start, count) {
    const path = `/v1/fetches/${encodeURIComponent(fetch)}/shapes`;
    const answer = await client.response('GET', path, { query: { token, start, count } });
    const bytes = new DataView(await readBody(() => answer.arrayBuffer()));
    return Uint16Array.from({ length: bytes.byteLength >> 1 }, (_, index) => bytes.getUint16(2 * index, true));
  }

  /**
   * @param {PhotoLedger} client
   * @param {FetchState} state
   * @param {{ key: string, count: number }[]} parts
   * @param {boolean} hasHeadings
   * @param {boolean} isAscending whether the months of the list ascend
   */
  constructor(client, state, parts, hasHeadings, isAscending = true) {
    super();
    this.client = client;
    this.fetch = state.fetch;
    this.token = state.token;
    this.hasHeadings = hasHeadings;
    this.isAscending = isAscending;
    this.blocks = new Blocks(parts);
    this.isOpen = true;
    /** Whether the list asks for what it missed. */
    this.isCatchingUp = false;
    this.hasMissed = false;
    /** Whether what was missed could not be asked for. */
    this.isBehind = false;
    this.pause = firstPause;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /**
     * The blocks that hold items, in the order in which they were looked at.
     * @type {import('./blocks.js').Block[]}
     */
    this.recent = [];
    /** How often another block was looked at. */
    this.looks = 0;
    /** @type {Set<AbortController>} */
    this.requests = new Set();
    /** @type {() => void} */
    this.end = () => {};
    /** @type {() => void} */
    this.unwatch = () => {};
  }

  get count() {
    return this.blocks.count;
  }

  /** @param {import('../client/feed.js').Feed} feed */
  follow(feed) {
    this.end = feed.follow(this.fetch, this.token, {
      onChange: (change) => this.take(change),
      onState: (state) => this.take(state),
      onRenditions: (renditions) => this.takeRenditions(renditions),
      onProblem: (problem) => this.fail(problem),
    });
  }

  /**
   * Asks again for what failed when the stream is open again.
   * @param {import('../client/feed.js').Feed} feed
   */
  watch(feed) {
    const opened = () => {
      if (!feed.isOpen) return;
      this.pause = firstPause;
      this.retry();
    };
    feed.addEventListener('connection', opened);
    this.unwatch = () => feed.removeEventListener('connection', opened);
  }

  /** Asks for what was missed, and has the list's view ask for what is not loaded. */
  retry() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.isOpen) return;
    if (this.isBehind && !this.isCatchingUp) this.catchUp();
    this.dispatchEvent(new Event('loaded'));
  }

  /**
   * Asks again after a while for what failed but may succeed later.
   * @param {unknown} error
   */
  retryLater(error) {
    if (this.timer !== undefined || !this.isOpen || !(error instanceof Problem) || !error.isPassing) return;
    this.timer = setTimeout(() => this.retry(), Math.max(this.pause, error.retryAfter * 1000));
    this.pause = Math.min(this.pause * 2, longestPause);
  }

  /**
   * The item at an index; null if it is not loaded.
   * @param {number} index
   */
  item(index) {
    return this.blocks.cell(index)?.item ?? null;
  }

  /**
   * Loads what is missing of a range. Windows on their way that do not meet the range any more go on.
   * @param {number} start
   * @param {number} count
   */
  async load(start, count) {
    const end = Math.min(start + count, this.count);
    const waits = [];
    for (let index = Math.max(0, start); index < end;) {
      const { block } = this.blocks.at(index);
      this.use(block);
      if (this.blocks.cell(index)?.item) {
        index += 1;
        continue;
      }
      const first = index;
      /** @type {Cell[]} */
      const cells = [];
      let isNew = false;
      while (index < end && cells.length < windowSize) {
        const cell = this.blocks.madeCell(index);
        if (cell.item) break;
        if (!cell.isAsked) isNew = true;
        cells.push(cell);
        index += 1;
      }
      if (isNew) waits.push(this.read(first, cells));
    }
    await Promise.all(waits);
  }

  /**
   * Notes that a block is looked at; of others the items are given up.
   * @param {import('./blocks.js').Block} block
   */
  use(block) {
    if (this.recent[this.recent.length - 1] === block) return;
    block.look = this.looks += 1;
    this.recent = this.recent.filter((one) => one !== block);
    this.recent.push(block);
    this.giveUp();
  }

  /** Gives up the items of the blocks that were looked at longest ago. */
  giveUp() {
    let held = this.recent.reduce((sum, { count }) => sum + count, 0);
    while (this.recent.length > loadedBlocks && held > loadedItems) {
      const gone = this.recent.shift();
      if (!gone) return;
      held -= gone.count;
      gone.cells = null;
    }
  }

  /**
   * Notes which blocks hold items after a change: it puts them into blocks that were never looked at, whose items are given
   * up first, and makes other blocks of those that it divides or joins. That is a look at each block, of which a
   * million items have some 1,000 to 4,000.
   */
  noteItems() {
    const holding = this.blocks.list.filter((block) => block.cells);
    this.recent = holding.sort((one, other) => one.look - other.look);
    this.giveUp();
  }

  /**
   * @param {number} start
   * @param {Cell[]} cells
   */
  async read(start, cells) {
    for (const cell of cells) cell.isAsked = true;
    const abort = new AbortController();
    this.requests.add(abort);
    try {
      const window = await this.client.window(this.fetch, this.token, start, cells.length, abort.signal);
      // The cells are where their items are by now.
      window.items.forEach((item, index) => { cells[index].item ??= item; });
      this.pause = firstPause;
      this.dispatchEvent(new Event('loaded'));
    } catch (error) {
      if (!abort.signal.aborted) {
        this.fail(error);
        this.retryLater(error);
      }
    } finally {
      for (const cell of cells) cell.isAsked = false;
      this.requests.delete(abort);
    }
  }

  /**
   * Asks for the shapes of blocks, the given ones first.
   * @param {number} place where to begin
   * @returns {Promise<void>} when an answer came
   */
  async loadShapes(place = 0) {
    const wants = (/** @type {import('./blocks.js').Block} */ block) => (!block.shapes || block.isVague) && !block.waiting;
    const { list } = this.blocks;
    let from = Math.min(place, Math.max(0, list.length - 1));
    while (from < list.length && !wants(list[from])) from += 1;
    if (from >= list.length) from = list.findIndex(wants);
    if (from < 0 || !list[from]) return;
    /** @type {{ block: import('./blocks.js').Block, count: number }[]} */
    const blocks = [];
    let count = 0;
    for (let at = from; at < list.length && wants(list[at]) && count + list[at].count <= shapesAtOnce; at += 1) {
      list[at].waiting = [];
      blocks.push({ block: list[at], count: list[at].count });
      count += list[at].count;
    }
    const first = this.blocks.first(from);
    const { blocks: owner } = this;
    try {
      const shapes = await List.shapes(this.client, this, first, count);
      if (owner !== this.blocks) return;
      this.putShapes(blocks, shapes);
      this.dispatchEvent(new Event('shapes'));
    } catch (error) {
      for (const { block } of blocks) block.waiting = null;
      throw error;
    }
  }

  /**
   * Gives blocks their shapes, as far as these reach.
   * @param {{ block: import('./blocks.js').Block, count: number }[]} blocks with the count that they had when it was asked
   * @param {Uint16Array} shapes of all of them, in their order
   */
  putShapes(blocks, shapes) {
    let at = 0;
    for (const { block, count } of blocks) {
      if (at + count > shapes.length) return;
      this.blocks.fill(block, shapes.subarray(at, at + count));
      at += count;
    }
  }

  /** Whether there are shapes to ask for. */
  get lacksShapes() {
    return this.blocks.list.some((block) => (!block.shapes || block.isVague) && !block.waiting);
  }

  /**
   * Takes a message of the feed.
   * @param {Change | { fetch: string, token: string }} message
   */
  take(message) {
    if (!this.isOpen) return;
    if (this.isCatchingUp) this.hasMissed = true;
    else if ('before' in message && message.before === this.token) {
      if (!this.apply(message)) this.catchUp({ isAnew: true });
    } else if ('before' in message ? message.after !== this.token : message.token !== this.token) this.catchUp();
  }

  /**
   * Asks for what lies between the state of the list and now, until nothing was missed meanwhile.
   * @param {{ isAnew?: boolean }} options `isAnew`: a change did not fit, and the list begins anew
   */
  async catchUp({ isAnew = false } = {}) {
    this.isCatchingUp = true;
    this.isBehind = true;
    try {
      do {
        this.hasMissed = false;
        if (isAnew) await this.begin();
        isAnew = !isAnew && !await this.goOn();
      } while (this.isOpen && (isAnew || this.hasMissed));
      this.isBehind = false;
      this.pause = firstPause;
    } catch (error) {
      this.fail(error);
      this.retryLater(error);
    } finally {
      this.isCatchingUp = false;
    }
  }

  /**
   * Leads the list on to the state of now.
   * @returns {Promise<boolean>} false if the server does not say how, or what it says does not fit
   */
  async goOn() {
    const path = `/v1/fetches/${encodeURIComponent(this.fetch)}/changes`;
    const query = { after: this.token, ...sectionQuery };
    try {
      const change = await this.client.ask('GET', path, { query });
      return !this.isOpen || (change !== null && 'before' in change && this.apply(change));
    } catch (error) {
      // The library has dropped the state of the list, or is another one, which never had it.
      if (error instanceof Problem && (error.status === 410 || error.type === 'invalid-token')) return false;
      throw error;
    }
  }

  /** Begins anew at the state of now. */
  async begin() {
    const state = await this.client.ask('GET', `/v1/fetches/${encodeURIComponent(this.fetch)}`);
    const parts = this.hasHeadings ? await List.parts(this.client, state) : [{ key: '', count: state.count }];
    if (!this.isOpen) return;
    const { metrics, heading } = this.blocks;
    this.token = state.token;
    this.blocks = new Blocks(parts);
    if (metrics) this.blocks.measure(metrics, heading);
    this.recent = [];
    this.dispatchEvent(new ListChange(null));
  }

  /**
   * Leads the list a step on, unless the step does not fit; the list is what it was then.
   * @param {Change} change
   * @returns {boolean}
   */
  apply(change) {
    /** @type {Map<number, Item>} */
    const fresh = new Map();
    const columns = items(change.items.columns);
    let next = 0;
    for (const [start, count] of change.items.indexes) {
      for (let index = start; index < start + count; index += 1) fresh.set(index, columns[next++]);
    }
    const known = (/** @type {number} */ index) => {
      const item = fresh.get(index);
      return item ? { item, shape: shapeOf(item) } : null;
    };
    const parts = this.hasHeadings ? this.partsAfter(change) : null;
    if (this.hasHeadings && parts === null) return false;
    const { removed, inserted, moved, changed, count } = change;
    if (!this.blocks.apply({ removed, inserted, moved, changed, count }, parts, known)) return false;
    for (const [start, length] of changed) {
      for (let index = start; index < start + length; index += 1) this.blocks.change(index, known(index));
    }
    this.noteItems();
    this.token = change.after;
    this.dispatchEvent(new ListChange(change));
    return true;
  }

  /**
   * The parts after a change; null if the change does not say.
   * @param {Change} change
   */
  partsAfter(change) {
    if (!change.sections) return null;
    const counts = new Map(this.blocks.parts.map((part) => [part.key, part.count]));
    for (const [key, , after] of change.sections) {
      if (after === 0) counts.delete(key);
      else counts.set(key, after);
    }
    const order = this.isAscending ? 1 : -1;
    return [...counts].map(([key, count]) => ({ key, count, rank: rankOf(key) }))
      .sort((one, other) => order * (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0));
  }

  /** @param {import('../client/feed.js').Rendition[]} renditions */
  takeRenditions(renditions) {
    // The picture and the film of a Live Photo have a row each.
    const keyOf = (/** @type {string} */ id, /** @type {string | null} */ sha256) => `${id} ${sha256}`;
    const known = new Map(renditions.map((one) => [keyOf(one.localIdentifier, one.sha256), one]));
    let hasAny = false;
    for (const block of this.blocks.list) {
      for (const cell of block.cells ?? []) {
        const rendition = cell?.item && known.get(keyOf(cell.item.id, cell.item.sha256));
        if (!rendition || !cell.item) continue;
        cell.item = {
          ...cell.item, rendition: rendition.rendition, play: rendition.play, placeholder: rendition.placeholder,
        };
        hasAny = true;
      }
    }
    if (hasAny) this.dispatchEvent(new Event('renditions'));
  }

  /** @param {unknown} error */
  fail(error) {
    if (this.isOpen) this.dispatchEvent(new CustomEvent('failed', { detail: error }));
  }

  /** Ends what is on its way: it is only passed. */
  abort() {
    for (const request of this.requests) request.abort();
  }

  /** Ends following and what is on its way. */
  close() {
    this.isOpen = false;
    clearTimeout(this.timer);
    this.unwatch();
    this.end();
    this.abort();
  }
}

/**
 * The place of a month among months; what has no date stands before all.
 * @param {string} key
 */
function rankOf(key) {
  const found = /^(-?\d+)-(\d+)$/.exec(key);
  return found ? Number(found[1]) * 12 + Number(found[2]) - 1 : -Infinity;
}
