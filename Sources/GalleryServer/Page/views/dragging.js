// What pointers do to a grid: open, select one or a range, select by dragging, reorder, and pinch for size.
//
//   press ─┬─ release                      open, or select while something is selected
//          ├─ on the mark, then move       selects up to where the pointer is
//          ├─ held (touch)                 selects
//          ├─ moved (mouse, reorderable)   drags what is selected; a line shows where it goes
//          └─ second finger                size
//
// A commit between press and release moves photos: what is held are indexes, which `apply` leads along with the list,
// so that a release acts on the photo that was pressed, and a drag ends when its photo is gone.

import { rectOf } from '../layout/place.js';
import { mapped, mappedRanges, stayed } from '../model/mapped.js';
import { h } from './dom.js';
import { MoveEvent, OpenEvent } from './grid.js';

/** How far from a tile's upper left corner its mark reaches, CSS pixels. */
const mark = 44;

export class Dragging {
  /** @param {import('./grid.js').Grid} grid */
  constructor(grid) {
    this.grid = grid;
    /** @type {Map<number, { x: number, y: number }>} */
    this.pointers = new Map();
    /** @type {'none' | 'press' | 'range' | 'move' | 'pinch' | 'done'} */
    this.state = 'none';
    this.from = -1;
    /** The item up to which a range was selected last; -1: none since the list changed. */
    this.until = -1;
    this.start = { x: 0, y: 0 };
    this.last = { x: 0, y: 0 };
    this.spread = 0;
    /** Beside which item what is dragged would go, and whether behind it; -1: nowhere yet. */
    this.target = -1;
    this.isAfter = false;
    /** @type {[number, number][]} */
    this.former = [];
    this.line = h('div', { class: 'grid-drop', hidden: true });
    grid.layer.append(this.line);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    const { scroll } = grid;
    scroll.addEventListener('pointerdown', (event) => this.down(event));
    scroll.addEventListener('pointermove', (event) => this.move(event));
    scroll.addEventListener('pointerup', (event) => this.up(event));
    scroll.addEventListener('pointercancel', (event) => this.end(event));
    scroll.addEventListener('contextmenu', (event) => { if (this.state === 'done') event.preventDefault(); });
  }

  /** @param {PointerEvent} event */
  tileOf(event) {
    const tile = event.target instanceof Element ? event.target.closest('.tile') : null;
    return tile instanceof HTMLElement && tile.dataset.index !== undefined ? { tile, index: Number(tile.dataset.index) } : null;
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    // The first pointer of its kind: what is still held was released outside of the grid.
    if (event.isPrimary) {
      this.pointers.clear();
      this.leave();
    }
    if (this.pointers.size === 2) return;
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.pointers.size === 2) {
      clearTimeout(this.timer);
      this.state = 'pinch';
      this.spread = this.distance();
      return;
    }
    const found = this.tileOf(event);
    this.from = found?.index ?? -1;
    this.start = { x: event.clientX, y: event.clientY };
    this.last = this.start;
    this.state = 'press';
    this.target = -1;
    this.isFar = false;
    if (!found || this.grid.options.isPlain) return;
    const box = found.tile.getBoundingClientRect();
    const isOnMark = event.clientX - box.left < mark && event.clientY - box.top < mark;
    if (event.pointerType === 'mouse' && isOnMark) {
      this.state = 'range';
      this.former = this.grid.selection.ranges.map(([first, end]) => [first, end]);
      // A selection that a server keeps may still have its former state after the request to toggle.
      this.isSelecting = event.shiftKey || !this.grid.selection.has(this.from);
      if (event.shiftKey) this.grid.selection.extend(this.from);
      else this.grid.selection.toggle(this.from);
      this.until = this.from;
      this.grid.cursor = this.from;
      // The bar of the selection moves the grid from under the pointer; the release has to arrive all the same.
      this.grid.scroll.setPointerCapture(event.pointerId);
    } else if (event.pointerType !== 'mouse') {
      this.timer = setTimeout(() => {
        if (this.state !== 'press') return;
        this.state = 'done';
        this.grid.selection.toggle(this.from);
        // A browser logs an error if the page has never been pressed.
        const { userActivation } = /** @type {any} */ (navigator);
        if (userActivation?.hasBeenActive) navigator.vibrate?.(10);
      }, 450);
    }
  }

  isSelecting = true;
  /** Whether the pointer has left the place where a range began. */
  isFar = false;

  /** @param {PointerEvent} event */
  move(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return;
    pointer.x = event.clientX;
    pointer.y = event.clientY;
    this.last = { x: event.clientX, y: event.clientY };
    const way = Math.hypot(event.clientX - this.start.x, event.clientY - this.start.y);
    if (this.state === 'pinch') {
      // One of the two was lifted.
      if (this.pointers.size < 2) return;
      const now = this.distance();
      const step = now > this.spread * 1.3 ? -1 : now < this.spread / 1.3 ? 1 : 0;
      if (step === 0) return;
      this.spread = now;
      this.grid.zoom(step, this.grid.indexAt(event.clientX, event.clientY));
    } else if (this.state === 'press' && way > 8) {
      clearTimeout(this.timer);
      if (event.pointerType === 'mouse' && this.grid.options.isReorderable && this.from >= 0) {
        this.state = 'move';
        this.grid.scroll.setPointerCapture(event.pointerId);
        this.grid.element.classList.add('dragging');
        this.scrollAtEdges();
      } else if (event.pointerType !== 'mouse') this.state = 'done';
    } else if (this.state === 'range') {
      if (way <= 8 && !this.isFar) return;
      if (!this.isFar) {
        this.isFar = true;
        this.scrollAtEdges();
      }
      this.select();
    }
    if (this.state === 'move') this.showPlace();
  }

  /** Selects from where the drag began to where the pointer is. */
  select() {
    const index = this.grid.indexAt(this.last.x, this.last.y);
    // Once for each tile and not for each move: with a session, each time is a question to the server.
    if (index < 0 || index === this.until) return;
    this.until = index;
    const { selection } = this.grid;
    const [first, end] = [Math.min(this.from, index), Math.max(this.from, index) + 1];
    selection.ranges = this.former.map(([one, other]) => [one, other]);
    selection.set(first, end, this.isSelecting);
    selection.anchor = this.from;
  }

  /** Shows where what is dragged would go. */
  showPlace() {
    const { grid } = this;
    const index = grid.indexAt(this.last.x, this.last.y);
    if (index < 0) return;
    const rect = rectOf(grid.list.blocks, index);
    const box = grid.scroll.getBoundingClientRect();
    this.target = index;
    this.isAfter = this.last.x - box.left > rect.x + rect.width / 2;
    this.showLine();
  }

  /** Draws the line where what is dragged would go. */
  showLine() {
    const { grid } = this;
    const rect = rectOf(grid.list.blocks, this.target);
    const x = this.isAfter ? rect.x + rect.width : rect.x - 4;
    this.line.hidden = false;
    this.line.style.transform = `translate(${x}px, ${rect.y - grid.base}px)`;
    this.line.style.height = `${rect.height}px`;
    if (!this.line.isConnected) grid.layer.append(this.line);
  }

  /** Draws the line again after the grid's layer moved or its items did. */
  draw() {
    if (this.state === 'move' && this.target >= 0) this.showLine();
  }

  /** The index before which what is dragged would go; -1: nowhere yet. */
  get before() {
    return this.isAfter && this.target >= 0 ? this.target + 1 : this.target;
  }

  /**
   * Leads what is held along with a change of the list; a press or drag ends whose photo is gone.
   * @param {import('../client/photoledger.js').Change | null} change null: the list began anew
   */
  apply(change) {
    if (this.from < 0 || (this.state !== 'press' && this.state !== 'range' && this.state !== 'move')) return;
    this.from = change ? mapped(change, this.from) : -1;
    if (!change || this.from < 0) {
      this.drop();
      return;
    }
    this.until = -1;
    this.former = mappedRanges(change, this.former);
    if (this.state === 'move' && this.target >= 0) this.leadTarget(change);
  }

  /**
   * The place of a drop stays between its neighbours, as far as these stay.
   * @param {import('../client/photoledger.js').Change} change
   */
  leadTarget(change) {
    const { target } = this;
    const place = stayed(change, target);
    const total = change.count + change.removed.reduce((sum, [, count]) => sum + count, 0)
      - change.inserted.reduce((sum, [, count]) => sum + count, 0);
    this.target = place;
    for (let next = target + 1; next < total && this.target < 0; next += 1) {
      this.target = stayed(change, next);
      this.isAfter = false;
    }
    for (let next = target - 1; next >= 0 && this.target < 0; next -= 1) {
      this.target = stayed(change, next);
      this.isAfter = true;
    }
    if (this.target < 0) this.line.hidden = true;
  }

  /** Ends what the pointer does, before it is released. */
  drop() {
    this.leave();
    this.from = -1;
    this.target = -1;
    this.state = 'done';
  }

  /** Takes away what is shown of a drag, and its timer. */
  leave() {
    clearTimeout(this.timer);
    this.line.hidden = true;
    this.grid.element.classList.remove('dragging');
  }

  /** Scrolls while the pointer is near an edge. */
  scrollAtEdges() {
    if (this.state !== 'move' && this.state !== 'range') return;
    const box = this.grid.scroll.getBoundingClientRect();
    const above = box.top + 60 - this.last.y;
    const below = this.last.y - (box.bottom - 60);
    if (above > 0 || below > 0) {
      const { scroller } = this.grid;
      scroller.setTop(scroller.top + (above > 0 ? -above : below) / 3);
      this.grid.scrolled();
      if (this.state === 'range') this.select();
      else this.showPlace();
    }
    requestAnimationFrame(() => this.scrollAtEdges());
  }

  /** @param {PointerEvent} event */
  up(event) {
    const { grid, state } = this;
    const wasAlone = this.pointers.size === 1 && this.pointers.has(event.pointerId);
    this.end(event);
    if (!wasAlone) return;
    if (state === 'move' && this.before >= 0) {
      const chosen = grid.selection.has(this.from) ? [...grid.selection] : [this.from];
      grid.dispatchEvent(new MoveEvent(chosen, this.before));
    } else if (state === 'press' && this.from >= 0) {
      grid.cursor = this.from;
      const { selection } = grid;
      if (grid.options.isPlain) grid.dispatchEvent(new OpenEvent(this.from));
      else if (event.shiftKey) selection.extend(this.from);
      else if (event.ctrlKey || event.metaKey || selection.count > 0) selection.toggle(this.from);
      else grid.dispatchEvent(new OpenEvent(this.from));
    }
  }

  /** @param {PointerEvent} event */
  end(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    this.leave();
    if (this.pointers.size === 0) this.state = 'none';
  }

  distance() {
    const [one, other] = [...this.pointers.values()];
    return Math.hypot(one.x - other.x, one.y - other.y);
  }
}
