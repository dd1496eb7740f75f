// The list that a grid shows: a fetch at a state, led on from state to state by exact changes.
//
//   count, token          the state
//   item(index)           what is loaded; null until then
//   load(start, count)    asks for what is not loaded
//   changes               event `change`, after the list is at the new state
//
// Invariant: at every moment each loaded item is at the index that it has in the fetch at `token`. A window that
// arrives for an earlier state is not put in.

import { items } from '../client/photoledger.js';

/** @typedef {import('../client/photoledger.js').PhotoLedger} PhotoLedger */
/** @typedef {import('../client/photoledger.js').Item} Item */
/** @typedef {import('../client/photoledger.js').Change} Change */
/** @typedef {import('../client/photoledger.js').Question} Question */

/** What a `change` event of a list holds: a step, or null if the list begins anew. */
export class ListChange extends Event {
  /** @param {Change | null} change */
  constructor(change) {
    super('change');
    this.change = change;
  }
}

export class List extends EventTarget {
  /**
   * Opens the list of a fetch.
   * @param {PhotoLedger} client
   * @param {Question} question
   * @param {{ feed?: import('../client/feed.js').Feed, at?: string }} options without a feed, or with `at`, the
   *   list stays at its state
   */
  static async open(client, question, { feed, at } = {}) {
    const list = new List(client, await client.openFetch(question, at));
    if (feed && at === undefined) {
      list.end = feed.follow(list.fetch, list.token, {
        onChange: (change) => list.apply(change),
        onState: (state) => list.begin(state),
        onRenditions: () => list.dispatchEvent(new Event('renditions')),
      });
    }
    return list;
  }

  /**
   * @param {PhotoLedger} client
   * @param {import('../client/photoledger.js').FetchState} state
   */
  constructor(client, state) {
    super();
    this.client = client;
    this.fetch = state.fetch;
    this.token = state.token;
    this.count = state.count;
    /** @type {(Item | null)[]} */
    this.items = new Array(state.count).fill(null);
    /** @type {Map<number, Promise<void>>} */
    this.pending = new Map();
    /** @type {() => void} */
    this.end = () => {};
  }

  /**
   * The item at an index; null if it is not loaded.
   * @param {number} index
   */
  item(index) {
    return this.items[index] ?? null;
  }

  /**
   * Loads what is missing of a range.
   * @param {number} start
   * @param {number} count
   */
  async load(start, count) {
    const size = 200;
    const first = Math.floor(Math.max(0, start) / size);
    const last = Math.floor(Math.max(0, Math.min(start + count, this.count) - 1) / size);
    const waits = [];
    for (let page = first; page <= last; page += 1) {
      const range = this.items.slice(page * size, (page + 1) * size);
      if (!range.some((item) => item === null)) continue;
      if (!this.pending.has(page)) this.pending.set(page, this.read(page, size));
      waits.push(this.pending.get(page));
    }
    await Promise.all(waits);
  }

  /**
   * @param {number} page
   * @param {number} size
   */
  async read(page, size) {
    const token = this.token;
    try {
      const window = await this.client.window(this.fetch, token, page * size, size);
      if (token !== this.token) return;
      window.items.forEach((item, offset) => { this.items[window.start + offset] = item; });
      this.dispatchEvent(new Event('loaded'));
    } finally {
      this.pending.delete(page);
    }
  }

  /**
   * Begins anew.
   * @param {import('../client/photoledger.js').FetchState} state
   */
  begin(state) {
    this.token = state.token;
    this.count = state.count;
    this.items = new Array(state.count).fill(null);
    this.pending.clear();
    this.dispatchEvent(new ListChange(null));
  }

  /**
   * Leads the list a step on.
   * @param {Change} change
   */
  async apply(change) {
    if (change.before !== this.token) {
      // The feed runs ahead or behind of this list: what lies between is one exact change.
      const between = await this.client.changes(this.fetch, this.token);
      if (between && 'before' in between && between.before === this.token) this.apply(between);
      return;
    }
    const moved = [...change.moved].sort((one, other) => one[1] - other[1]);
    const held = moved.map(([before]) => this.items[before]);
    const out = [...change.removed.flatMap(([start, count]) => Array.from({ length: count }, (_, n) => start + n)),
      ...change.moved.map(([before]) => before)].sort((one, other) => other - one);
    for (const index of out) this.items.splice(index, 1);
    /** @type {[number, Item | null][]} */
    const ins = change.inserted.flatMap(([start, count]) => Array.from(
      { length: count }, (_, n) => /** @type {[number, Item | null]} */ ([start + n, null])));
    moved.forEach(([, after], n) => ins.push([after, held[n]]));
    ins.sort((one, other) => one[0] - other[0]);
    for (const [index, item] of ins) this.items.splice(index, 0, item);
    for (const [start, count] of change.changed) {
      for (let index = start; index < start + count; index += 1) this.items[index] = null;
    }
    const fresh = items(change.items.columns);
    let next = 0;
    for (const [start, count] of change.items.indexes) {
      for (let index = start; index < start + count; index += 1) this.items[index] = fresh[next++];
    }
    this.token = change.after;
    this.count = change.count;
    this.pending.clear();
    this.dispatchEvent(new ListChange(change));
  }

  /** Ends following. */
  close() {
    this.end();
  }
}
