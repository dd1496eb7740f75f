// Which indexes of a list are selected, as ranges, so that a hundred thousand cost as much as one.
//
// A selection follows its list: `apply` leads it along with a change, so that the same items stay selected and a range that
// is being extended still begins at its photo.

import { isIn, mapped, mappedRanges, normal } from './mapped.js';

/** @typedef {import('./mapped.js').Range} Range */

export class Selection extends EventTarget {
  constructor() {
    super();
    /** @type {Range[]} ascending, disjoint, not adjacent */
    this.ranges = [];
    /**
     * Where a range that is extended begins; null without one.
     * @type {number | null}
     */
    this.anchor = null;
    /**
     * What was selected when the extending from the anchor began; null before.
     * @type {Range[] | null}
     */
    this.base = null;
  }

  /** How many are selected. */
  get count() {
    return this.ranges.reduce((sum, [first, end]) => sum + end - first, 0);
  }

  /** @param {number} index */
  has(index) {
    return isIn(this.ranges, index);
  }

  /**
   * Selects a half-open range, or takes it out.
   * @param {number} first
   * @param {number} end
   * @param {boolean} isIn
   */
  set(first, end, isIn) {
    /** @type {Range[]} */
    const rest = [];
    for (const [from, to] of this.ranges) {
      if (from < first) rest.push([from, Math.min(to, first)]);
      if (to > end) rest.push([Math.max(from, end), to]);
    }
    if (isIn && first < end) rest.push([first, end]);
    this.ranges = normal(rest);
    this.base = null;
    this.dispatchEvent(new Event('change'));
  }

  /** @param {number} index */
  toggle(index) {
    this.anchor = index;
    this.set(index, index + 1, !this.has(index));
  }

  /**
   * Selects from the anchor to an index, in place of the range to the index before.
   * @param {number} index
   */
  extend(index) {
    const anchor = this.anchor ?? index;
    const base = this.base ?? this.ranges;
    this.ranges = base;
    this.set(Math.min(anchor, index), Math.max(anchor, index) + 1, true);
    this.anchor = anchor;
    this.base = base;
  }

  clear() {
    this.anchor = null;
    this.base = null;
    if (this.ranges.length === 0) return;
    this.ranges = [];
    this.dispatchEvent(new Event('change'));
  }

  /** The selected indexes, ascending. */
  * [Symbol.iterator]() {
    for (const [first, end] of this.ranges) for (let index = first; index < end; index += 1) yield index;
  }

  /**
   * Leads the selection along with a change of its list; null clears it.
   * @param {import('../client/photoledger.js').Change | null} change
   */
  apply(change) {
    if (!change) {
      this.clear();
      return;
    }
    this.ranges = mappedRanges(change, this.ranges);
    this.base = this.base && mappedRanges(change, this.base);
    const anchor = this.anchor === null ? -1 : mapped(change, this.anchor);
    if (anchor < 0) this.base = null;
    this.anchor = anchor < 0 ? null : anchor;
    this.dispatchEvent(new Event('change'));
  }
}
