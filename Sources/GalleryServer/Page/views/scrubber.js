// The scrubber beside a timeline: years at the height where they begin, and a handle that goes anywhere at once.

import { locale, t } from '../text/text.js';
import { h } from './dom.js';

const months = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', timeZone: 'UTC' });

/**
 * A month as a person reads it.
 * @param {string} key such as `2024-06`
 */
export function monthName(key) {
  const found = /^(-?\d+)-(\d+)$/.exec(key);
  if (!found) return t('grid.undated');
  const date = new Date(0);
  date.setUTCFullYear(Number(found[1]), Number(found[2]) - 1, 1);
  return months.format(date);
}

/** The height of a year. */
const yearHeight = 24;

export class Scrubber {
  /** @param {import('./grid.js').Grid} grid */
  constructor(grid) {
    this.grid = grid;
    this.handle = h('div', {
      class: 'scrubber-handle', role: 'slider', tabindex: '0', 'aria-orientation': 'vertical', 'aria-label': t('grid.scrubber'),
      'aria-valuemin': '0', 'aria-valuemax': '1000', 'aria-valuenow': '0',
    }, h('span', { class: 'scrubber-label' }));
    this.years = h('div', { class: 'scrubber-years', 'aria-hidden': 'true' });
    this.element = h('div', { class: 'scrubber' }, this.years, this.handle);
    this.drawn = '';
    this.height = 0;
    /** The height of the handle, which is larger for fingers. */
    this.size = 24;
    /** How far below the middle of the handle the pointer holds it. */
    this.hold = 0;
    this.element.addEventListener('pointerdown', (event) => {
      const box = this.handle.getBoundingClientRect();
      const isOnHandle = event.target instanceof Node && this.handle.contains(event.target);
      this.hold = isOnHandle ? event.clientY - (box.top + box.height / 2) : 0;
      this.element.setPointerCapture(event.pointerId);
      this.element.classList.add('held');
      this.go(event);
    });
    this.element.addEventListener('pointermove', (event) => {
      if (this.element.hasPointerCapture(event.pointerId)) this.go(event);
    });
    const release = () => this.element.classList.remove('held');
    this.element.addEventListener('pointerup', release);
    this.element.addEventListener('pointercancel', release);
    this.handle.addEventListener('keydown', (event) => this.key(event));
  }

  /** @param {PointerEvent} event */
  go(event) {
    event.preventDefault();
    const box = this.element.getBoundingClientRect();
    // The middle of the handle comes to where the pointer is, and what holds the handle moves it only by moving.
    this.jump((event.clientY - this.hold - box.top - this.size / 2) / Math.max(1, box.height - this.size));
  }

  /**
   * Shows the part at a fraction of the height.
   * @param {number} fraction
   */
  jump(fraction) {
    const { scroller } = this.grid;
    scroller.setTop(Math.min(Math.max(fraction, 0), 1) * scroller.end);
    this.grid.scrolled();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { blocks } = this.grid.list;
    const place = this.place();
    if (place < 0) return;
    const { part } = blocks.list[place];
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const order = Math.min(Math.max(part.order + step, 0), blocks.parts.length - 1);
    const to = blocks.list.findIndex((block) => block.part.order === order);
    this.grid.scroller.setTop(event.key === 'End' ? this.grid.scroller.end : blocks.heights.before(to));
    this.grid.scrolled();
  }

  /** Measures the height that there is. */
  resize() {
    this.height = this.element.clientHeight || this.grid.scroller.view;
    this.size = this.handle.offsetHeight || this.size;
  }

  /** The block at the upper edge. */
  place() {
    const { blocks } = this.grid.list;
    return blocks.count === 0 ? -1 : blocks.heights.find(this.grid.scroller.top + 1).index;
  }

  /** Puts handle and years where they belong. */
  show() {
    const { scroller, list: { blocks } } = this.grid;
    this.element.hidden = scroller.end <= scroller.view;
    if (this.element.hidden) return;
    const fraction = scroller.end > 0 ? scroller.top / scroller.end : 0;
    const { height } = this;
    this.handle.style.transform = `translateY(${fraction * (height - this.size)}px)`;
    const place = this.place();
    const name = place < 0 ? '' : monthName(blocks.list[place].part.key);
    this.handle.setAttribute('aria-valuenow', String(Math.round(fraction * 1000)));
    this.handle.setAttribute('aria-valuetext', name);
    const label = /** @type {HTMLElement} */ (this.handle.firstElementChild);
    if (label.textContent !== name) label.textContent = name;
    this.showYears(height);
  }

  /** @param {number} height */
  showYears(height) {
    const { scroller, list: { blocks } } = this.grid;
    const drawn = `${Math.round(blocks.height)} ${height} ${blocks.parts.length}`;
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    /** @type {HTMLElement[]} */
    const labels = [];
    let [last, year] = [-100, ''];
    blocks.list.forEach((block, place) => {
      const own = /^-?\d+/.exec(block.part.key)?.[0] ?? '';
      if (own === year || own === '') return;
      year = own;
      const fraction = Math.min(blocks.heights.before(place) / Math.max(1, scroller.end), 1);
      // Beside the middle of the handle when it is there.
      const y = fraction * (height - this.size) + (this.size - yearHeight) / 2;
      if (y - last < 20) return;
      last = y;
      const label = h('span', null, year);
      label.style.transform = `translateY(${y}px)`;
      labels.push(label);
    });
    this.years.replaceChildren(...labels);
  }
}
