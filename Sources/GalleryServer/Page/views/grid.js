// A grid of the pictures of a list, however long it is.
//
//   .grid          the frame: headings, tiles, the scrubber
//     .grid-scroll   scrolls; a listbox that has the focus and names the tile that the keyboard is at
//       .grid-space    as high as the list, as far as browsers can
//         .grid-layer    holds what is to be seen, shifted so that it lies where the element is scrolled to
//           .grid-heading  a month, for the eyes
//           .grid-section  the same for screen readers: a group that owns the tiles of the month, and is empty
//
// Only tiles near the visible part exist. A tile belongs to the cell of its item, so a change of the list moves tiles and
// makes none anew. The anchor, the first visible item and how far it is from the edge, keeps its place on the screen
// whatever happens to the list; at the very top the list begins with what came.

import { beside, rectOf, rects, rowsBetween } from '../layout/place.js';
import { Scroller } from '../layout/scroll.js';
import { List } from '../model/list.js';
import { mapped, stayed } from '../model/mapped.js';
import { Selection } from '../model/selection.js';
import { t } from '../text/text.js';
import { h, idle, uniqueName } from './dom.js';
import { Dragging } from './dragging.js';
import { Scrubber, monthName } from './scrubber.js';
import { Tile, forgetRefused } from './tile.js';
import { WheelSteps } from './wheel.js';

/** @typedef {import('../client/photoledger.js').Item} Item */
/** @typedef {import('../model/blocks.js').Cell} Cell */

/**
 * @typedef {object} GridOptions
 * @property {import('../client/photoledger.js').Question} question
 * @property {string} [at] a state or date to look back at; the grid then stays as it is
 * @property {boolean} [isReorderable] whether tiles can be dragged; the event `move` then says where to
 * @property {boolean} [isPlain] without selection
 * @property {string} [label] what the grid shows, for screen readers
 */

/** What the event `open` of a grid holds. */
export class OpenEvent extends Event {
  /** @param {number} index */
  constructor(index) {
    super('open');
    this.index = index;
  }
}

/** What the event `move` of a grid holds: the items are to stand before the one that has the index `before` now. */
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

/** The wanted heights of rows, from a few large pictures to many small ones. */
const targets = [420, 300, 220, 160, 120, 90];
/** Below this width, as on phones, rows are about half as high, CSS pixels. */
const narrow = 600;
/** How many tiles may be drawn; small pictures on a large screen become larger. */
const tileLimit = 170;
const headingHeight = 52;
/** By how much the layer of the tiles moves, CSS pixels. */
const layerStep = 2048;
/** How near the end of the list counts as being there, pixels: the room below the last row. */
const endRoom = 16;
const gap = 4;
/** Where the browser keeps how large the pictures are. */
const levelName = 'photoledger.level';

/** The size that the reader chose; the usual one where there is none, or where the browser keeps nothing. */
function keptLevel() {
  try {
    return Number(localStorage.getItem(levelName) ?? 2);
  } catch {
    return 2;
  }
}

/** @param {number} level */
function keepLevel(level) {
  try {
    localStorage.setItem(levelName, String(level));
  } catch {
    // A browser that stores nothing begins with the usual size again.
  }
}

/**
 * A month and how many photos it has.
 * @param {import('../model/blocks.js').Part} part
 */
const sectionName = ({ key, count }) => `${monthName(key)} · ${t('photos.count', { count })}`;

/**
 * A grid. Events: `open` (a tile was activated), `move`, `zoom` (pictures have another size, or could have), and those
 * of `list` and `selection`.
 */
export class Grid extends EventTarget {
  /**
   * @param {import('./app.js').App} app
   * @param {GridOptions} options
   */
  static async open(app, options) {
    const hasHeadings = /^(creationDate|localCreationDate)\b/.test(options.question.sort?.[0] ?? '');
    const list = await List.open(app.client, options.question, { feed: app.feed, at: options.at, hasHeadings, isLaidOut: true });
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
    this.name = uniqueName('grid');
    this.level = keptLevel();
    /** @type {Map<Cell, Tile>} */
    this.tiles = new Map();
    /** @type {Tile[]} */
    this.free = [];
    /** @type {Map<string, HTMLElement>} */
    this.headings = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.sections = new Map();
    /** Where the keyboard is. */
    this.cursor = 0;
    /** @type {{ index: number, offset: number } | null} */
    this.anchor = null;
    /**
     * The rows that can be seen, and how far each is from the upper edge.
     * @type {{ first: number, count: number, offset: number }[]}
     */
    this.seen = [];
    /** The height of the list at which the layer begins. */
    this.base = 0;
    this.isDrawing = false;
    this.isClosed = false;
    this.isLoadingShapes = false;
    this.lastTop = 0;

    this.layer = h('div', { class: 'grid-layer', role: 'presentation' });
    this.space = h('div', { class: 'grid-space', role: 'presentation' }, this.layer);
    this.scroll = h('div', {
      class: 'grid-scroll', role: 'listbox', tabindex: '0', 'aria-multiselectable': options.isPlain ? null : 'true',
      'aria-label': options.label ?? t('grid.label'),
    }, this.space);
    this.element = h('div', { class: 'grid' }, this.scroll);
    this.scroller = new Scroller(this.scroll, this.space, () => this.scrolled());
    this.scrubber = list.hasHeadings ? new Scrubber(this) : null;
    if (this.scrubber) this.element.append(this.scrubber.element);
    this.dragging = new Dragging(this);

    list.addEventListener('change', (event) => this.changed(/** @type {import('../model/list.js').ListChange} */ (event)));
    list.addEventListener('loaded', () => this.drawSoon());
    list.addEventListener('renditions', () => this.drawSoon());
    list.addEventListener('shapes', () => this.keepingPlace(null));
    // Without a stream the banner says it, and the list asks again when there is one.
    list.addEventListener('failed', (event) => {
      if (app.feed.isOpen) app.notices.fail(/** @type {CustomEvent} */ (event).detail);
    });
    this.connected = () => {
      if (!app.feed.isOpen) return;
      forgetRefused();
      this.drawSoon();
    };
    app.feed.addEventListener('connection', this.connected);
    this.selection.addEventListener('change', () => this.drawSoon());
    this.scroll.addEventListener('keydown', (event) => this.key(event));
    this.scroll.addEventListener('focus', () => this.drawSoon());
    const wheel = new WheelSteps();
    this.scroll.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const step = wheel.take(event);
      if (step !== 0) this.zoom(step, this.indexAt(event.clientX, event.clientY));
    }, { passive: false });
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.scroll);
  }

  /** Sets rows to the width that there is. */
  measure() {
    const width = this.scroll.clientWidth;
    if (width === 0 || this.isClosed) return;
    this.scroller.resize();
    this.scrubber?.resize();
    const target = Math.max(this.heightAt(this.level), this.leastHeight);
    this.dispatchEvent(new Event('zoom'));
    const { metrics } = this.list.blocks;
    const metricsNow = { width, target: Math.min(target, width * 0.8), gap };
    if (metrics && metrics.width === width && metrics.target === metricsNow.target) {
      this.drawSoon();
      return;
    }
    const held = this.anchor;
    this.list.blocks.measure(metricsNow, this.list.hasHeadings ? headingHeight : 0);
    this.scroller.setHeight(this.list.blocks.height);
    if (held) this.scroller.setTop(this.topOf(held.index) - held.offset);
    // Nothing is passed on the way to where the anchor is now.
    this.lastTop = this.scroller.top;
    this.draw();
    // The anchor stays the same item however often the width changes; where the rows are is another thing.
    this.setAnchor();
    if (held) this.anchor = held;
  }

  /**
   * Makes pictures larger or smaller around an item.
   * @param {number} step 1 for smaller, -1 for larger
   * @param {number} [around]
   */
  zoom(step, around) {
    const level = this.levelAfter(step);
    if (level === this.level) return;
    this.level = level;
    keepLevel(level);
    if (around !== undefined && around >= 0) {
      this.anchor = { index: around, offset: this.topOf(around) - this.scroller.top };
    }
    this.measure();
  }

  /**
   * The wanted height of rows, whatever the size of the screen allows.
   * @param {number} level
   */
  heightAt(level) {
    return targets[level] * (this.scroll.clientWidth < narrow ? 0.55 : 1);
  }

  /** The least height of rows, with which as many tiles are drawn as may be. */
  get leastHeight() {
    const area = this.scroll.clientWidth * this.scroller.view * 1.8;
    return Math.max(Math.sqrt(area / tileLimit / 1.33), 40);
  }

  /**
   * The level to which a step leads; the one that is chosen if it would change nothing. All levels below the least
   * height look the same.
   * @param {number} step
   */
  levelAfter(step) {
    const { level, leastHeight } = this;
    if (step > 0) return this.heightAt(level) > leastHeight ? Math.min(level + step, targets.length - 1) : level;
    let next = Math.max(level + step, 0);
    if (next === level) return level;
    while (next > 0 && this.heightAt(next) <= leastHeight) next -= 1;
    return this.heightAt(next) > leastHeight ? next : level;
  }

  /**
   * Whether pictures can become smaller (1) or larger (-1).
   * @param {number} step
   */
  canZoom(step) {
    return this.levelAfter(step) !== this.level;
  }

  /**
   * The height of the list above an item's row.
   * @param {number} index
   */
  topOf(index) {
    const { blocks } = this.list;
    if (blocks.count === 0) return 0;
    return rectOf(blocks, Math.min(Math.max(index, 0), blocks.count - 1)).y;
  }

  /** What another grid of the same fetch needs to stand where this one does; null at the top. */
  get place() {
    if (!this.anchor || this.scroller.top <= 2) return null;
    return { ...this.anchor, id: this.list.item(this.anchor.index)?.id };
  }

  /**
   * Stands where another grid did, from the first drawing on: at the same photo wherever it is by now, or at its index
   * if it is gone.
   * @param {{ index: number, offset: number, id?: string }} place
   */
  async returnTo({ index, offset, id }) {
    const { list } = this;
    const { fetch, token } = list;
    const path = `/v1/fetches/${encodeURIComponent(fetch)}/index`;
    // What is committed while the answer is on its way moves the photo.
    /** @type {(import('../client/photoledger.js').Change | null)[]} */
    const changes = [];
    const note = (/** @type {any} */ event) => changes.push(event.change);
    list.addEventListener('change', note);
    const found = id && await this.app.client.ask('GET', path, { query: { token, asset: id } }).catch(() => null);
    list.removeEventListener('change', note);
    this.anchor = { index: found?.index ?? index, offset };
    for (const change of changes) if (change) this.anchor = this.stayingOf(change, this.anchor) ?? this.anchor;
    // The keyboard goes on from what is on the screen.
    this.cursor = Math.max(0, Math.min(this.anchor.index, this.list.count - 1));
  }

  scrolled() {
    this.setAnchor();
    this.drawSoon();
  }

  /** Notes what is to keep its place. */
  setAnchor() {
    const { blocks } = this.list;
    const { top } = this.scroller;
    const { rows } = rowsBetween(blocks, top, top + this.scroller.view);
    const at = Math.max(0, rows.findIndex((one) => one.top + one.height / 2 >= top));
    const row = rows[at];
    this.seen = rows.slice(at).map(({ first, count, top: place }) => ({ first, count, offset: place - top }));
    if (row) this.anchor = { index: row.first, offset: row.top - top };
    else if (blocks.count > 0) {
      const { index, rest } = blocks.heights.find(top);
      this.anchor = { index: blocks.first(index), offset: -rest };
    } else this.anchor = null;
  }

  /** @param {import('../model/list.js').ListChange} event */
  changed({ change }) {
    this.selection.apply(change);
    this.dragging.apply(change);
    if (!change) this.tiles.clear();
    if (!change) this.layer.replaceChildren(this.dragging.line);
    if (!change) this.headings.clear();
    if (!change) this.sections.clear();
    if (change) {
      const cursor = mapped(change, this.cursor);
      if (cursor >= 0) this.cursor = cursor;
    }
    this.cursor = Math.min(this.cursor, Math.max(0, this.list.count - 1));
    this.keepingPlace(change);
    this.dispatchEvent(new Event('count'));
  }

  /**
   * Draws after heights changed, with the anchor where it was. Who is at the end of the list stays there while shapes become
   * known: the rows below the anchor grow with them, and would push the last photo out of sight.
   * @param {import('../client/photoledger.js').Change | null} change null: shapes became known
   */
  keepingPlace(change) {
    if (this.isClosed) return;
    const { blocks } = this.list;
    if (!blocks.metrics) {
      // Nothing is drawn yet, and the anchor is where Back led.
      if (change && this.anchor) this.anchor = this.stayingOf(change, this.anchor) ?? this.anchor;
      this.measure();
      return;
    }
    const isAtTop = this.scroller.top <= 2;
    const isAtEnd = !change && this.scroller.end - this.scroller.top <= endRoom;
    let held = this.anchor;
    if (held && change && !isAtTop) held = this.stayingOf(change, held);
    this.scroller.setHeight(blocks.height);
    if (isAtTop) this.scroller.setTop(0);
    else if (isAtEnd) this.scroller.setTop(this.scroller.end);
    else if (held) this.scroller.setTop(this.topOf(held.index) - held.offset);
    else this.scroller.setTop(this.scroller.top);
    this.draw();
    this.setAnchor();
  }

  /**
   * What is to keep its place after a change: the first of what was visible that stayed among its neighbours, or what stands
   * next to it. A photo that was moved would take the view to where it went.
   * @param {import('../client/photoledger.js').Change} change
   * @param {{ index: number, offset: number }} anchor before the change
   */
  stayingOf(change, anchor) {
    const { count } = this.list.blocks;
    for (const row of this.seen) {
      for (let from = row.first; from < row.first + row.count; from += 1) {
        const index = stayed(change, from);
        if (index >= 0 && index < count) return { index, offset: row.offset };
      }
    }
    for (let from = anchor.index; from < anchor.index + 500; from += 1) {
      const index = stayed(change, from);
      if (index >= 0 && index < count) return { index, offset: anchor.offset };
    }
    return null;
  }

  drawSoon() {
    if (this.isDrawing || this.isClosed) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      if (!this.isClosed) this.draw();
    });
  }

  /** Puts tiles where they belong. */
  draw() {
    const { blocks } = this.list;
    if (!blocks.metrics || this.isClosed) return;
    this.scroller.commit();
    const { view, top } = this.scroller;
    const over = view * 0.4;
    const { rows, missing, headings } = rowsBetween(blocks, top - over, top + view + over);
    // A transform of millions keeps quarters of a pixel, so the layer stands at a whole one, and the tiles are placed in it
    // with the rest. It moves by large steps: scrolling a little writes its place and that of no tile.
    const { shift } = this.scroller;
    const place = Math.round(Math.max(0, Math.floor((top - over) / layerStep) * layerStep) + shift);
    this.base = place - shift;
    const { base } = this;
    this.layer.style.transform = `translateY(${place}px)`;
    /** @type {Set<Cell>} */
    const seen = new Set();
    /** @type {Map<import('../model/blocks.js').Part, string[]>} */
    const owned = new Map();
    const isFocused = document.activeElement === this.scroll;
    /** @type {string | null} */
    let active = null;
    for (const row of rows) {
      const { part } = blocks.list[row.place];
      const names = owned.get(part) ?? [];
      owned.set(part, names);
      rects(blocks, row).forEach((rect, at) => {
        const index = row.first + at;
        const cell = blocks.madeCell(index);
        seen.add(cell);
        const tile = this.tiles.get(cell) ?? this.tileFor(cell);
        const isCursor = isFocused && index === this.cursor;
        tile.show(cell.item, index, { ...rect, y: rect.y - base }, {
          count: blocks.count, isSelected: this.selection.has(index), isCursor,
          isSelecting: this.selection.count > 0,
        });
        names.push(tile.element.id);
        if (isCursor) active = tile.element.id;
      });
    }
    for (const [cell, tile] of this.tiles) {
      if (seen.has(cell)) continue;
      this.tiles.delete(cell);
      tile.hide();
      if (this.free.length < 40) this.free.push(tile);
      else tile.element.remove();
    }
    this.drawHeadings(headings, base);
    if (this.list.hasHeadings) this.drawSections(owned);
    this.dragging.draw();
    if (active) this.scroll.setAttribute('aria-activedescendant', active);
    else this.scroll.removeAttribute('aria-activedescendant');
    this.scrubber?.show();
    this.wish(rows, missing, top, view);
    this.lastTop = top;
  }

  /**
   * Asks for what is near, unless it is only passed.
   * @param {import('../layout/place.js').Row[]} rows
   * @param {number[]} missing
   * @param {number} top
   * @param {number} view
   */
  wish(rows, missing, top, view) {
    if (missing.length > 0 || this.list.lacksShapes) this.loadShapes(missing[0]);
    clearTimeout(this.wishing);
    const isPassing = Math.abs(top - this.lastTop) > view;
    if (isPassing) {
      this.list.abort();
      this.wishing = setTimeout(() => this.drawSoon(), 80);
      return;
    }
    if (rows.length === 0) return;
    const first = rows[0].first;
    const last = rows[rows.length - 1];
    this.list.load(first, last.first + last.count - first);
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  wishing = undefined;

  /**
   * Loads shapes until all are there, those of a block first.
   * @param {number} [place]
   */
  async loadShapes(place) {
    this.wanted = place ?? this.wanted;
    if (this.isLoadingShapes) return;
    this.isLoadingShapes = true;
    try {
      while (!this.isClosed && this.list.lacksShapes) {
        // What is out of view waits until the pictures of the screen are asked for and drawn.
        if (this.wanted === undefined) await idle();
        if (this.isClosed) return;
        const from = this.wanted ?? this.blockInView();
        this.wanted = undefined;
        await this.list.loadShapes(from);
      }
    } catch (error) {
      // The offline banner says so; it goes on with the next drawing after that.
      if (this.app.feed.isOpen) this.app.notices.fail(error);
      setTimeout(() => this.drawSoon(), 2000);
    } finally {
      this.isLoadingShapes = false;
    }
  }

  /** @type {number | undefined} */
  wanted = undefined;

  /** The block at the upper edge: from there on shapes are loaded first. */
  blockInView() {
    const { blocks } = this.list;
    return blocks.count === 0 ? 0 : blocks.heights.find(this.scroller.top).index;
  }

  /** @param {Cell} cell */
  tileFor(cell) {
    const tile = this.free.pop() ?? new Tile(this.app, this.name, () => this.drawSoon());
    if (!tile.element.isConnected) this.layer.append(tile.element);
    this.tiles.set(cell, tile);
    return tile;
  }

  /**
   * @param {{ place: number, top: number }[]} headings
   * @param {number} base
   */
  drawHeadings(headings, base) {
    const { blocks } = this.list;
    const seen = new Set();
    for (const { place, top } of headings) {
      const { part } = blocks.list[place];
      const { key } = part;
      seen.add(key);
      let heading = this.headings.get(key);
      if (!heading) {
        heading = h('div', { class: 'grid-heading', 'aria-hidden': 'true', 'data-key': key });
        this.headings.set(key, heading);
        this.layer.append(heading);
      }
      const text = sectionName(part);
      if (heading.textContent !== text) heading.textContent = text;
      heading.style.transform = `translateY(${top - base}px)`;
    }
    for (const [key, heading] of this.headings) {
      if (seen.has(key)) continue;
      heading.remove();
      this.headings.delete(key);
    }
  }

  /**
   * Groups the tiles of each month for screen readers, which say its name when the keyboard comes to it. All tiles lie in one
   * layer, so that they move without being made anew; a group owns its tiles by their names.
   * @param {Map<import('../model/blocks.js').Part, string[]>} owned
   */
  drawSections(owned) {
    const seen = new Set();
    for (const [part, names] of owned) {
      seen.add(part.key);
      let section = this.sections.get(part.key);
      if (!section) {
        section = h('div', { class: 'grid-section', role: 'group' });
        this.sections.set(part.key, section);
        this.layer.append(section);
      }
      for (const [name, value] of [['aria-label', sectionName(part)], ['aria-owns', names.join(' ')]]) {
        if (section.getAttribute(name) !== value) section.setAttribute(name, value);
      }
    }
    for (const [key, section] of this.sections) {
      if (seen.has(key)) continue;
      section.remove();
      this.sections.delete(key);
    }
  }

  /**
   * The index of the tile at a point of the window; -1 without one.
   * @param {number} x
   * @param {number} y
   */
  indexAt(x, y) {
    const box = this.scroll.getBoundingClientRect();
    const { blocks } = this.list;
    const height = y - box.top + this.scroller.top;
    const { rows } = rowsBetween(blocks, height, height);
    if (rows.length === 0) return -1;
    const row = rows[rows.length - 1];
    const places = rects(blocks, row);
    const left = x - box.left;
    const at = places.findIndex((rect) => left < rect.x + rect.width + gap);
    return row.first + (at < 0 ? row.count - 1 : at);
  }

  /**
   * Brings an item into view.
   * @param {number} index
   */
  scrollTo(index) {
    if (this.list.count === 0) return;
    const rect = rectOf(this.list.blocks, Math.min(Math.max(index, 0), this.list.count - 1));
    const { top, view } = this.scroller;
    if (rect.y < top) this.scroller.setTop(rect.y - (this.list.hasHeadings ? headingHeight : 8));
    else if (rect.y + rect.height > top + view) this.scroller.setTop(rect.y + rect.height - view + 8);
    this.setAnchor();
    this.draw();
  }

  /**
   * Puts the keyboard at an item.
   * @param {number} index
   */
  setCursor(index) {
    this.cursor = Math.min(Math.max(index, 0), Math.max(0, this.list.count - 1));
    this.scrollTo(this.cursor);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { blocks } = this.list;
    if (blocks.count === 0) return;
    const from = this.cursor;
    const page = () => {
      const rect = rectOf(blocks, from);
      const direction = event.key === 'PageDown' ? 1 : -1;
      const { rows } = rowsBetween(blocks, rect.y + direction * this.scroller.view, rect.y + direction * this.scroller.view);
      return rows[0]?.first ?? (direction > 0 ? blocks.count - 1 : 0);
    };
    /** @type {Record<string, () => number>} */
    const goes = {
      ArrowRight: () => from + 1, ArrowLeft: () => from - 1, ArrowDown: () => beside(blocks, from, 1),
      ArrowUp: () => beside(blocks, from, -1), Home: () => 0, End: () => blocks.count - 1, PageDown: page, PageUp: page,
    };
    // The others are the browser's: Alt and an arrow go back and forward, Ctrl and + enlarge the page.
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key !== 'a') return;
    if (event.altKey && (isCommand || !this.options.isReorderable || !(event.key in goes))) return;
    if (event.key in goes) {
      event.preventDefault();
      const to = Math.min(Math.max(goes[event.key](), 0), blocks.count - 1);
      if (event.altKey) {
        if (to !== from) this.dispatchEvent(new MoveEvent([from], to > from ? to + 1 : to));
        return;
      }
      if (event.shiftKey && !this.options.isPlain) {
        this.selection.anchor ??= from;
        this.selection.extend(to);
      }
      this.setCursor(to);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.dispatchEvent(new OpenEvent(from));
    } else if (event.key === ' ' && !this.options.isPlain) {
      event.preventDefault();
      this.selection.toggle(from);
    } else if (event.key === 'a' && isCommand && !this.options.isPlain) {
      event.preventDefault();
      this.selection.set(0, blocks.count, true);
    } else if (event.key === 'Escape' && this.selection.count > 0) {
      // A dialog around the grid stays.
      event.preventDefault();
      this.selection.clear();
    } else if (event.key === '+' || event.key === '-') {
      this.zoom(event.key === '+' ? -1 : 1, from);
    }
  }

  /**
   * The selected items, asked for where they are not loaded.
   * @returns {Promise<{ id: string, isFavorite: boolean }[]>}
   */
  async selectedItems() {
    const { fetch, token } = this.list;
    const found = [];
    // At the state of now: what changes meanwhile changes nothing about what was chosen.
    for (const [first, end] of this.selection.ranges.map((range) => [...range])) {
      for (let at = first; at < end; at += 1000) {
        const window = await this.app.client.window(fetch, token, at, Math.min(1000, end - at));
        found.push(...window.items.map(({ id, isFavorite }) => ({ id, isFavorite })));
      }
    }
    return found;
  }

  /**
   * The identifiers of items of the list as it is now, asked for where they are not loaded.
   * @param {number[]} indexes
   * @returns {Promise<string[]>} in the order of the indexes
   */
  async identifiers(indexes) {
    const { fetch, token } = this.list;
    const known = new Map(indexes.map((index) => [index, this.list.item(index)?.id]));
    const missing = indexes.filter((index) => known.get(index) === undefined).sort((one, other) => one - other);
    for (let at = 0; at < missing.length;) {
      const start = missing[at];
      const { items } = await this.app.client.window(fetch, token, start, 1000);
      const end = start + Math.max(1, items.length);
      for (; at < missing.length && missing[at] < end; at += 1) known.set(missing[at], items[missing[at] - start]?.id);
    }
    return indexes.map((index) => known.get(index) ?? '');
  }

  /** The identifiers of the selected items. */
  async selectedIdentifiers() {
    return (await this.selectedItems()).map(({ id }) => id);
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.wishing);
    this.observer.disconnect();
    this.app.feed.removeEventListener('connection', this.connected);
    this.list.close();
  }
}
