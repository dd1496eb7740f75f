// The selection of a picking session in place of a grid's own: identifiers that the server keeps, in their order.
//
// A press is shown at once and sent as a tap, one after the other. What the server then says of the selection counts:
// the app may deselect and move while the person picks, and other windows may present the same session.
//
//   select, deselect, withhold ──▶ each waits for the one before it ──▶ finish, unless one failed since it was pressed
//   cancel ──▶ at once
//
// The server gives the photos with the end of the session, so nothing that was pressed before may arrive after `finish`.

import { mapped } from '../model/mapped.js';
import { t } from '../text/text.js';
import { Grid } from './grid.js';
import { spoken } from './tile.js';

/** @typedef {import('../client/photoledger.js').Item} Item */

/**
 * @typedef {object} Presentation
 * @property {string} session
 * @property {string} client
 * @property {string | null} filter
 * @property {boolean} ordered
 * @property {boolean} continuous
 * @property {'open' | 'finished' | 'cancelled'} state
 * @property {number} limit 0: any number
 * @property {string[]} selection
 * @property {string[]} withheld what the person leaves out of what is given: `location`, `captions`
 * @property {string[]} origins whose pages are to show the session in a frame
 * @property {string[]} approvedOrigins those that the owner approved for the client
 */

/** How many photos one gesture takes. */
const gestureLimit = 500;

export class Picked extends EventTarget {
  /**
   * @param {import('../client/photoledger.js').PhotoLedger} client
   * @param {Presentation} presentation
   * @param {(error: unknown) => void} fail
   */
  constructor(client, presentation, fail) {
    super();
    this.client = client;
    this.presentation = presentation;
    this.fail = fail;
    /** @type {Map<string, boolean>} what was pressed and is not confirmed */
    this.wanted = new Map();
    /** @type {Promise<unknown>} */
    this.last = Promise.resolve();
    /** How many presses did not reach the server. */
    this.failures = 0;
    /** @type {import('../model/list.js').List | null} */
    this.list = null;
    /** @type {Map<string, Item>} */
    this.items = new Map();
    /** Grids of the gallery keep ranges here; a session does not have ranges. @type {[number, number][]} */
    this.ranges = [];
    /** @type {number | null} */
    this.anchor = null;
  }

  /** The selected identifiers as the person sees them, in the order of the session. */
  get ids() {
    const { selection } = this.presentation;
    const kept = selection.filter((id) => this.wanted.get(id) !== false);
    return [...kept, ...[...this.wanted].filter(([id, isIn]) => isIn && !selection.includes(id)).map(([id]) => id)];
  }

  get count() {
    return this.ids.length;
  }

  /** @param {string} id */
  isIn(id) {
    return this.wanted.get(id) ?? this.presentation.selection.includes(id);
  }

  /** @param {number} index */
  has(index) {
    const item = this.list?.item(index);
    return item ? this.isIn(item.id) : false;
  }

  /** @param {number} index */
  toggle(index) {
    this.anchor = index;
    this.set(index, index + 1, !this.has(index));
  }

  /** @param {number} index */
  extend(index) {
    const anchor = this.anchor ?? index;
    this.set(Math.min(anchor, index), Math.max(anchor, index) + 1, true);
    this.anchor = anchor;
  }

  /**
   * @param {number} first
   * @param {number} end
   * @param {boolean} isIn
   */
  async set(first, end, isIn) {
    const { list } = this;
    if (!list) return;
    const { limit } = this.presentation;
    // Each press is a request, so a whole library is not taken by one key.
    if (end - first > gestureLimit) {
      this.fail(new Error(t('action.tooMany', { count: gestureLimit })));
      return;
    }
    // With a limit there is no sense in looking at more than may be picked.
    const last = isIn && limit > 0 ? Math.min(end, first + limit + this.count) : Math.min(end, list.count);
    // Cells and not indexes: a commit may move the photos while they are loaded.
    const cells = Array.from({ length: Math.max(0, Math.min(last, list.count) - first) },
      (_, place) => list.blocks.madeCell(first + place));
    try {
      await list.load(first, last - first);
    } catch (error) {
      this.fail(error);
      return;
    }
    for (const { item } of cells) {
      if (!item || this.isIn(item.id) === isIn) continue;
      this.items.set(item.id, item);
      if (isIn && limit > 0 && this.count >= limit) {
        if (limit > 1 || this.count > 1) {
          this.fail(new Error(t('pick.limit', { count: limit })));
          break;
        }
        // Of one that may be picked, another press means another one.
        for (const other of this.ids) this.tap(other, false);
      }
      this.tap(item.id, isIn);
    }
    this.dispatchEvent(new Event('change'));
  }

  /** Takes everything out. */
  clear() {
    for (const id of this.ids) this.tap(id, false);
    this.dispatchEvent(new Event('change'));
  }

  /**
   * The grid's list went on; identifiers stay what they are, and the range that is being extended begins at its photo.
   * @param {import('../client/photoledger.js').Change | null} change
   */
  apply(change) {
    const anchor = change && this.anchor !== null ? mapped(change, this.anchor) : -1;
    this.anchor = anchor < 0 ? null : anchor;
  }

  * [Symbol.iterator]() {
    yield* /** @type {number[]} */ ([]);
  }

  /** Where taps are sent to. */
  get path() {
    return `/v1/picking/${encodeURIComponent(this.presentation.session)}/taps`;
  }

  /**
   * Does something after everything that was pressed before.
   * @template Value
   * @param {() => Promise<Value>} send
   * @returns {Promise<Value>}
   */
  queue(send) {
    const sent = this.last.then(send);
    this.last = sent.catch(() => {});
    return sent;
  }

  /**
   * Sends a tap that says how something is to be, again if the first attempt did not arrive. One that waited for a press
   * that failed is sent once: hundreds may wait, and Add waits for all of them.
   * @param {object} tap
   * @param {number} failures those known when it was pressed
   */
  async press(tap, failures) {
    try {
      if (this.failures > failures) await this.client.ask('POST', this.path, { json: tap });
      else await this.client.repeating(this.path, tap);
    } catch (error) {
      this.failures += 1;
      throw error;
    }
  }

  /**
   * Sends a press to the server, after those before it.
   * @param {string} id
   * @param {boolean} isIn
   */
  tap(id, isIn) {
    this.wanted.set(id, isIn);
    const { failures } = this;
    this.queue(async () => {
      try {
        await this.press(isIn ? { select: id } : { deselect: id }, failures);
        const { selection } = this.presentation;
        const others = selection.filter((one) => one !== id);
        const isThere = others.length < selection.length;
        if (isIn !== isThere) this.presentation = { ...this.presentation, selection: isIn ? [...others, id] : others };
      } catch (error) {
        this.fail(error);
      }
      if (this.wanted.get(id) === isIn) this.wanted.delete(id);
      this.dispatchEvent(new Event('change'));
    });
  }

  /**
   * Leaves something out of what is given, or gives it. What else is left out stays so.
   * @param {string} kind
   * @param {boolean} isOut
   */
  withhold(kind, isOut) {
    const { failures } = this;
    return this.queue(async () => {
      const others = this.presentation.withheld.filter((one) => one !== kind);
      const withheld = isOut ? [...others, kind] : others;
      await this.press({ withhold: withheld }, failures);
      this.presentation = { ...this.presentation, withheld };
    });
  }

  /**
   * Gives the app what was picked, after everything that was pressed before.
   * @returns {Promise<number | null>} how many photos it gets; null if a press failed since: the person decides anew
   */
  finish() {
    const { failures } = this;
    return this.queue(async () => {
      if (this.failures > failures) return null;
      // What was pressed since is not sent yet, and does not count.
      const { length } = this.presentation.selection;
      await this.client.ask('POST', this.path, { json: { finish: true } });
      return length;
    });
  }

  /** Ends the session without giving anything: nothing that was pressed before has to arrive. */
  async cancel() {
    await this.client.ask('POST', this.path, { json: { cancel: true } });
  }

  /**
   * What the server says of the session.
   * @param {Presentation} presentation
   */
  take(presentation) {
    this.presentation = presentation;
    this.dispatchEvent(new Event('change'));
  }
}

/** A grid whose selection is a session's, with numbers where the order counts. */
export class PickGrid extends Grid {
  /**
   * @param {import('./app.js').App} app
   * @param {import('../model/list.js').List} list
   * @param {import('./grid.js').GridOptions} options
   * @param {Picked} picked
   */
  constructor(app, list, options, picked) {
    super(app, list, options);
    this.picked = picked;
    picked.list = list;
    this.selection = /** @type {any} */ (picked);
    this.redraw = () => this.drawSoon();
    picked.addEventListener('change', this.redraw);
    this.addEventListener('open', (event) => picked.toggle(/** @type {import('./grid.js').OpenEvent} */ (event).index));
  }

  draw() {
    super.draw();
    if (!this.picked) return;
    const { ids, presentation: { ordered } } = this.picked;
    for (const { element, item } of this.tiles.values()) {
      const number = ordered && item ? ids.indexOf(item.id) + 1 : 0;
      const text = number > 0 ? String(number) : '';
      const had = element.dataset.number ?? '';
      if (!text && !had) continue;
      if (text) element.dataset.number = text;
      else delete element.dataset.number;
      if (!item) continue;
      // Also where the number is the same: a tile whose item was replaced has a label without one.
      const label = spoken(item) + (text ? `, ${t('pick.number', { number })}` : '');
      if (element.getAttribute('aria-label') !== label) element.setAttribute('aria-label', label);
    }
  }

  close() {
    this.picked.removeEventListener('change', this.redraw);
    super.close();
  }
}
