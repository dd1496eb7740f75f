// A grid of the pictures of a list.

import { List } from '../model/list.js';
import { Selection } from '../model/selection.js';
import { t, wallTime } from '../text/text.js';
import { h } from './dom.js';

/** @typedef {import('../client/photoledger.js').Item} Item */

/**
 * @typedef {object} GridOptions
 * @property {import('../client/photoledger.js').Question} question
 * @property {string} [at] a state or date to look back at; the grid then stays as it is
 * @property {boolean} [isReorderable] whether tiles can be dragged; the event `move` then says where to
 */

/** What the event `open` of a grid holds. */
export class OpenEvent extends Event {
  /** @param {number} index */
  constructor(index) {
    super('open');
    this.index = index;
  }
}

/** What the event `move` of a grid holds: the selected items are to stand before the index. */
export class MoveEvent extends Event {
  /**
   * @param {number[]} indexes
   * @param {number} before
   */
  constructor(indexes, before) {
    super('move');
    this.indexes = indexes;
    this.before = before;
  }
}

/**
 * A grid. Events: `open` (a tile was activated: show it), `move`, and those of `list` and `selection`.
 */
export class Grid extends EventTarget {
  /**
   * @param {import('./app.js').App} app
   * @param {GridOptions} options
   */
  static async open(app, options) {
    const list = await List.open(app.client, options.question, { feed: app.feed, at: options.at });
    return new Grid(app, list, options);
  }

  /**
   * @param {import('./app.js').App} app
   * @param {List} list
   * @param {GridOptions} options
   */
  constructor(app, list, options) {
    super();
    this.app = app;
    this.list = list;
    this.options = options;
    this.selection = new Selection();
    this.element = h('div', { class: 'grid', role: 'grid', 'aria-multiselectable': 'true' });
    list.addEventListener('change', (event) => {
      this.selection.apply(/** @type {import('../model/list.js').ListChange} */ (event).change);
      this.draw();
    });
    list.addEventListener('loaded', () => this.draw());
    this.selection.addEventListener('change', () => this.draw());
    this.draw();
    list.load(0, 200);
  }

  draw() {
    const tiles = Array.from({ length: Math.min(this.list.count, 200) }, (_, index) => this.tile(index, this.list.item(index)));
    this.element.replaceChildren(...tiles);
  }

  /**
   * @param {number} index
   * @param {Item | null} item
   */
  tile(index, item) {
    const date = item && !Number.isNaN(item.date) ? wallTime(item.date, item.offset) : t('tile.undated');
    const url = item && this.app.client.renditionURL(item, 'small');
    return h('button', {
      class: 'tile', 'data-id': item?.id, 'data-index': index, 'aria-selected': this.selection.has(index),
      'aria-label': item ? t(item.mediaType === 2 ? 'tile.video' : 'tile.image', { date }) : t('state.loading'),
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.shiftKey) this.selection.extend(index);
        else if (event.ctrlKey || this.selection.count > 0) this.selection.toggle(index);
        else this.dispatchEvent(new OpenEvent(index));
      },
    }, url && h('img', { src: url, alt: '', loading: 'lazy' }));
  }

  /**
   * Brings an item into view.
   * @param {number} index
   */
  scrollTo(index) {
    this.element.children[index]?.scrollIntoView({ block: 'nearest' });
  }

  /**
   * The identifiers of the selected items, loading what is not there.
   * @returns {Promise<string[]>}
   */
  async selectedIdentifiers() {
    for (const [first, end] of this.selection.ranges) await this.list.load(first, end - first);
    return [...this.selection].map((index) => this.list.item(index)?.id).flatMap((id) => id ?? []);
  }

  close() {
    this.list.close();
  }
}
