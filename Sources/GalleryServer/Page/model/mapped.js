// Where indexes of a list are after a change of it: one of them, or ranges of them.

/** @typedef {import('../client/photoledger.js').Change} Change */
/** @typedef {Pick<Change, 'removed' | 'inserted' | 'moved'>} Step */
/** @typedef {[number, number]} Range first and end, half open */

/**
 * The index after a change of an item at an index before it; -1 if it is gone.
 * @param {Step} change
 * @param {number} index
 */
export function mapped(change, index) {
  for (const [before, after] of change.moved) if (before === index) return after;
  let place = index;
  for (const [start, count] of change.removed) {
    if (start > index) break;
    if (index < start + count) return -1;
    place -= count;
  }
  for (const [before] of change.moved) if (before < index) place -= 1;
  const ins = [...change.inserted, ...change.moved.map(([, after]) => /** @type {[number, number]} */ ([after, 1]))]
    .sort((one, other) => one[0] - other[0]);
  for (const [start, count] of ins) {
    if (start > place) break;
    place += count;
  }
  return place;
}

/**
 * The index after a change of an item that stays among its neighbours; -1 if it is gone or was moved.
 * @param {Step} change
 * @param {number} index
 */
export const stayed = (change, index) =>
  change.moved.some(([before]) => before === index) ? -1 : mapped(change, index);

/**
 * Ranges of the same items after a change.
 * @param {Step} change
 * @param {Range[]} former ascending, disjoint
 * @returns {Range[]}
 */
export function mappedRanges(change, former) {
  const marks = [...change.removed.map(([start, count]) => /** @type {Range} */ ([start, start + count])),
    ...change.moved.map(([before]) => /** @type {Range} */ ([before, before + 1]))].sort((a, b) => a[0] - b[0]);
  /** @type {Range[]} */
  let ranges = [];
  const moved = change.moved.filter(([before]) => isIn(former, before)).map(([, after]) => after);
  // Without what left: each range loses what is taken out of it and before it.
  let [mark, gone] = [0, 0];
  for (const [first, end] of former) {
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
  return normal(result);
}

/**
 * Whether an index lies in one of some ranges.
 * @param {Range[]} ranges ascending, disjoint
 * @param {number} index
 */
export function isIn(ranges, index) {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle][1] <= index) low = middle + 1;
    else high = middle;
  }
  return low < ranges.length && ranges[low][0] <= index;
}

/**
 * Ascending ranges, with adjacent ones joined.
 * @param {Range[]} ranges
 * @returns {Range[]}
 */
export function normal(ranges) {
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
