// Which indexes of a list are selected, as ranges, so that a hundred thousand cost as much as one.
//
// A selection follows its list: `apply` leads it along with a change, so that the same items stay selected.

/** @typedef {[number, number]} Range first and end, half open */

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
    let [low, high] = [0, this.ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[middle][1] <= index) low = middle + 1;
      else high = middle;
    }
    return low < this.ranges.length && this.ranges[low][0] <= index;
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
    const moves = new Map(change.moved);
    const marks = [...change.removed.map(([start, count]) => /** @type {Range} */ ([start, start + count])),
      ...change.moved.map(([before]) => /** @type {Range} */ ([before, before + 1]))].sort((a, b) => a[0] - b[0]);
    /** @type {Range[]} */
    let ranges = [];
    let moved = [...moves].filter(([before]) => this.has(before)).map(([, after]) => after);
    // Without what left: each range loses what is taken out of it and before it.
    let [mark, gone] = [0, 0];
    for (const [first, end] of this.ranges) {
      let from = first;
      while (mark < marks.length && marks[mark][1] <= from) gone += marks[mark][1] - marks[mark++][0];
      let passed = gone;
      for (let at = mark; at < marks.length && marks[at][0] < end; at += 1) {
        const [out, to] = marks[at];
        if (out > from) ranges.push([from - passed, out - passed]);
        passed += to - out;
        from = Math.max(from, to);
      }
      if (from < end) ranges.push([from - passed, end - passed]);
    }
    ranges = normal(ranges);
    // With what came: ascending, each in the list as it is by then.
    const ins = [...change.inserted.map(([start, count]) => /** @type {Range} */ ([start, start + count])),
      ...change.moved.map(([, after]) => /** @type {Range} */ ([after, after + 1]))].sort((a, b) => a[0] - b[0]);
    /** @type {Range[]} */
    const result = [];
    let [next, shift] = [0, 0];
    for (let [first, end] of ranges) {
      while (next < ins.length && ins[next][0] <= first + shift) shift += ins[next][1] - ins[next++][0];
      while (next < ins.length && ins[next][0] < end + shift) {
        result.push([first + shift, ins[next][0]]);
        first = ins[next][0] - shift;
        shift += ins[next][1] - ins[next++][0];
      }
      result.push([first + shift, end + shift]);
    }
    for (const after of moved) result.push([after, after + 1]);
    this.ranges = normal(result);
    this.anchor = null;
    this.base = null;
    this.dispatchEvent(new Event('change'));
  }
}

/**
 * Ascending ranges, with adjacent ones joined.
 * @param {Range[]} ranges
 * @returns {Range[]}
 */
function normal(ranges) {
  const sorted = ranges.filter(([first, end]) => first < end).sort((one, other) => one[0] - other[0]);
  /** @type {Range[]} */
  const result = [];
  for (const [first, end] of sorted) {
    const last = result[result.length - 1];
    if (last && last[1] >= first) last[1] = Math.max(last[1], end);
    else result.push([first, end]);
  }
  return result;
}
