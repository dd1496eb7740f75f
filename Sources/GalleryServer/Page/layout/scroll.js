// Scrolling through more than a browser can: the element is at most 4 million pixels high, the list as high as it is.
//
//   list     0 ───────────── top ─────────────────────────────────────── height
//   element  0 ── scrollTop ───────────────── at most 4,000,000
//
// Wheel, keys and touch move the list as far as the element; a jump, as the scrollbar makes it, moves it by the same
// fraction. The two drift apart while somebody scrolls and are brought together when they rest. What is drawn is shifted by
// the difference, so nothing moves on the screen then.
//
// Near both ends they go together, pixel for pixel: an element that stood at its own end before the list does could not be
// scrolled on, and the last photos would be out of reach of the wheel.
//
// Rejected: an element as high as the list. Browsers end between 16 and 33 million pixels, some silently at 0.

/** The greatest height of the element; above it browsers place things with more than half a pixel's error. */
export const heightLimit = 4_000_000;

/** How many screens before an end the element and the list go together. */
const roomAtEnds = 3;

export class Scroller {
  /**
   * @param {HTMLElement} element that scrolls
   * @param {HTMLElement} space in it that has the height
   * @param {() => void} moved called when another part is to be seen
   */
  constructor(element, space, moved) {
    this.element = element;
    this.space = space;
    this.moved = moved;
    /** The height of the list. */
    this.height = 0;
    /** The height of the list above the element's upper edge. */
    this.top = 0;
    this.dom = 0;
    /** The height of what is visible, as it was measured last: asking the browser while drawing makes it lay out. */
    this.view = element.clientHeight;
    /** Whether the element has yet to be scrolled. */
    this.isPending = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    element.addEventListener('scroll', () => this.scrolled(), { passive: true });
  }

  /** Measures what is visible. */
  resize() {
    this.view = this.element.clientHeight;
  }

  get end() {
    return Math.max(0, this.height - this.view);
  }

  get domEnd() {
    return Math.max(0, Math.min(this.height, heightLimit) - this.view);
  }

  /** Where the element stands for the part that is shown. */
  get place() {
    if (!this.isScaled) return this.top;
    const room = roomAtEnds * this.view;
    const place = this.top / this.end * this.domEnd;
    return Math.min(Math.max(place, Math.min(this.top, room)), this.domEnd - Math.min(this.end - this.top, room));
  }

  get isScaled() {
    return this.height > heightLimit;
  }

  /** What is added to a height of the list to get a place in the element. */
  get shift() {
    return this.dom - this.top;
  }

  scrolled() {
    const dom = this.element.scrollTop;
    const change = dom - this.dom;
    if (change === 0) return;
    this.dom = dom;
    if (!this.isScaled && (dom <= 0 || dom >= this.domEnd - 1)) this.top = dom <= 0 ? 0 : this.end;
    else if (!this.isScaled) this.top = Math.min(Math.max(this.top + change, 0), this.end);
    else if (Math.abs(change) > 3 * this.view) this.top = this.domEnd > 0 ? dom / this.domEnd * this.end : 0;
    else this.top = Math.min(Math.max(this.top + change, 0), this.end);
    if (this.isScaled) {
      // The element keeps whole pixels of the screen, and the list what is less.
      if (dom <= 0 && this.top < 1) this.top = 0;
      else if (dom >= this.domEnd - 1 && this.end - this.top < 2) this.top = this.end;
      clearTimeout(this.timer);
      const isAtEdge = (dom <= 0 && this.top > 0) || (dom >= this.domEnd - 1 && this.top < this.end - 1);
      if (isAtEdge) this.settle();
      else this.timer = setTimeout(() => this.settle(), 150);
    }
    this.moved();
  }

  /** Brings element and list together. */
  settle() {
    this.commit();
    const want = this.place;
    if (Math.abs(want - this.dom) < 1) return;
    this.element.scrollTop = want;
    this.dom = this.element.scrollTop;
    this.moved();
  }

  /**
   * Gives the list another height.
   * @param {number} height
   */
  setHeight(height) {
    this.height = height;
    this.space.style.height = `${Math.min(height, heightLimit)}px`;
  }

  /**
   * Shows another part, from the next drawing on.
   * @param {number} top
   */
  setTop(top) {
    this.top = Math.min(Math.max(top, 0), this.end);
    this.isPending = true;
  }

  /**
   * Scrolls the element to the part that is to be shown. Where an element can scroll to follows from its layout, so this
   * comes before anything is drawn: afterwards the browser would lay out twice for a frame.
   */
  commit() {
    if (!this.isPending) return;
    this.isPending = false;
    this.element.scrollTop = this.place;
    // The browser keeps whole pixels of the screen; what is drawn is shifted by the rest.
    this.dom = this.element.scrollTop;
  }
}
