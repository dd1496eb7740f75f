// What pointers do to a picture that fills the screen.
//
//   one pointer ─┬─ moved, enlarged      pans
//                ├─ moved, touch         swipes to a neighbour
//                ├─ pressed twice        enlarges at that point, or fits again
//                └─ held                 plays a Live Photo until it is let go
//   two pointers    pinch               enlarges around the point between them
//   wheel           enlarges at that point

import { pixelsOf } from './wheel.js';

/** How far a pointer may stray and still press, CSS pixels; after how long a press is held, or no longer double, ms. */
const stray = 10;
const holdTime = 350;
const twiceTime = 320;
/** How far a finger must go to reach a neighbour, CSS pixels. */
const swipeWay = 60;

/**
 * @typedef {object} Handlers
 * @property {() => boolean} isEnlarged
 * @property {(x: number, y: number) => void} pan
 * @property {(factor: number, x: number, y: number) => void} enlarge
 * @property {(x: number, y: number) => void} twice
 * @property {(way: number) => void} drag a finger moves the picture sideways
 * @property {(step: number) => void} swipe it was let go: 1 next, -1 previous, 0 back to where it was
 * @property {() => boolean} hold whether something plays now
 * @property {() => void} letGo
 */

export class Gestures {
  /**
   * @param {HTMLElement} element
   * @param {Handlers} handlers
   */
  constructor(element, handlers) {
    this.element = element;
    this.handlers = handlers;
    /** @type {Map<number, { x: number, y: number }>} */
    this.pointers = new Map();
    /** @type {'none' | 'press' | 'pan' | 'swipe' | 'pinch' | 'held' | 'done'} */
    this.state = 'none';
    this.start = { x: 0, y: 0 };
    this.last = { x: 0, y: 0, time: -Infinity };
    this.spread = 0;
    this.isOnButton = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    element.addEventListener('pointerdown', (event) => this.down(event));
    element.addEventListener('pointermove', (event) => this.move(event));
    element.addEventListener('pointerup', (event) => this.up(event));
    // A mouse that presses and leaves before it moved far is not captured.
    element.addEventListener('pointerleave', (event) => this.cancel(event));
    element.addEventListener('pointercancel', (event) => this.cancel(event));
    element.addEventListener('contextmenu', (event) => { if (this.state === 'held') event.preventDefault(); });
    element.addEventListener('wheel', (event) => {
      event.preventDefault();
      const { x, y } = this.place(event);
      handlers.enlarge(Math.exp(-pixelsOf(event) / (event.ctrlKey ? 100 : 400)), x, y);
    }, { passive: false });
  }

  /**
   * Where an event is within the element.
   * @param {MouseEvent} event
   */
  place(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0 || !(event.target instanceof Element) || event.target.closest('a, [controls]')) return;
    // A finger may begin to swipe on a button; what only presses there is the button's.
    this.isOnButton = event.target.closest('button') !== null;
    if (this.isOnButton && event.pointerType === 'mouse') return;
    this.pointers.set(event.pointerId, this.place(event));
    clearTimeout(this.timer);
    if (this.pointers.size === 2) {
      if (this.state === 'swipe') this.handlers.drag(0);
      if (this.state === 'held') this.handlers.letGo();
      this.state = 'pinch';
      this.spread = this.distance();
      return;
    }
    if (this.pointers.size > 2) return;
    this.start = this.place(event);
    this.state = 'press';
    if (this.isOnButton) return;
    this.timer = setTimeout(() => {
      if (this.state === 'press' && this.handlers.hold()) this.state = 'held';
    }, holdTime);
  }

  /** How far two pointers are apart. */
  distance() {
    const [one, other] = [...this.pointers.values()];
    return Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
  }

  /** @param {PointerEvent} event */
  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.place(event);
    const middle = this.middle();
    this.pointers.set(event.pointerId, now);
    const way = Math.hypot(now.x - this.start.x, now.y - this.start.y);
    if (this.state === 'pinch') {
      if (this.pointers.size < 2) return;
      const { x, y } = this.middle();
      const spread = this.distance();
      this.handlers.pan(x - middle.x, y - middle.y);
      this.handlers.enlarge(spread / this.spread, x, y);
      this.spread = spread;
      return;
    }
    if (this.state === 'press' && way > stray) {
      clearTimeout(this.timer);
      this.element.setPointerCapture(event.pointerId);
      this.state = this.handlers.isEnlarged() ? 'pan' : event.pointerType === 'mouse' ? 'done' : 'swipe';
      if (this.state === 'pan') this.handlers.pan(now.x - this.start.x, now.y - this.start.y);
    } else if (this.state === 'pan') {
      this.handlers.pan(now.x - before.x, now.y - before.y);
    }
    if (this.state === 'swipe') this.handlers.drag(now.x - this.start.x);
  }

  /** The point between all pointers. */
  middle() {
    const all = [...this.pointers.values()];
    return { x: all.reduce((sum, one) => sum + one.x, 0) / all.length,
      y: all.reduce((sum, one) => sum + one.y, 0) / all.length };
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    clearTimeout(this.timer);
    const { x, y } = this.place(event);
    if (this.state === 'held') this.handlers.letGo();
    if (this.state === 'swipe') {
      const [across, along] = [x - this.start.x, Math.abs(y - this.start.y)];
      this.handlers.swipe(Math.abs(across) > swipeWay && Math.abs(across) > along ? -Math.sign(across) : 0);
    }
    if (this.state === 'press' && !this.isOnButton) {
      const isTwice = event.timeStamp - this.last.time < twiceTime
        && Math.hypot(x - this.last.x, y - this.last.y) < 4 * stray;
      this.last = { x, y, time: isTwice ? -Infinity : event.timeStamp };
      if (isTwice) this.handlers.twice(x, y);
    }
    // The finger that stays after a pinch does nothing more.
    this.state = this.pointers.size > 0 ? 'done' : 'none';
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    clearTimeout(this.timer);
    if (this.state === 'held') this.handlers.letGo();
    if (this.state === 'swipe') this.handlers.swipe(0);
    this.state = 'none';
  }
}
