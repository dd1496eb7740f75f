// Rows of pictures that fill the width.
//
// A row is a count of items; its height is what makes its pictures fill the width. Rows are kept, and a change breaks
// only the rows that it touches anew: what stands below or above keeps its row, so that the visible rows
// do not move.
//
//   shapes   w/h in 256ths, 0: not known
//   rows     counts, in order; their sum is the count of the shapes
//
// Rejected: breaking from the first item on (a photo added at the top would move each row below), and rows at days
// (many are half empty).

/**
 * @typedef {object} Metrics
 * @property {number} width of the grid, CSS pixels
 * @property {number} target the wanted height of a row
 * @property {number} gap between pictures
 */

const unknown = 341;
/** Up to this height a row fills the width, however few its pictures are, CSS pixels. */
const filling = 300;

/**
 * The width of a picture of height 1, within what a row can show.
 * @param {number} shape
 */
export const ratio = (shape) => Math.min(Math.max(shape === 0 ? unknown : shape, 96), 1024) / 256;

/**
 * Breaks a range of shapes into rows of about the same width.
 * @param {Uint16Array} shapes
 * @param {number} first
 * @param {number} end
 * @param {Metrics} metrics
 * @returns {number[]}
 */
export function broken(shapes, first, end, metrics) {
  if (first >= end) return [];
  let total = 0;
  for (let index = first; index < end; index += 1) total += ratio(shapes[index]);
  const count = Math.min(end - first, Math.max(1, Math.round(total / (metrics.width / metrics.target))));
  const part = total / count;
  const rows = [];
  let [passed, begun] = [0, first];
  for (let index = first; index < end; index += 1) {
    passed += ratio(shapes[index]);
    const next = index + 1 < end ? ratio(shapes[index + 1]) : 0;
    const left = count - rows.length - 1;
    // A row ends where the next item would lie more beyond its part than within, and leaves an item for each to come.
    if (left > 0 && (passed + next / 2 >= part * (rows.length + 1) || end - index - 1 === left)) {
      rows.push(index + 1 - begun);
      begun = index + 1;
    }
  }
  rows.push(end - begun);
  return rows.filter((row) => row > 0);
}

/**
 * The height of a row.
 * @param {Uint16Array} shapes
 * @param {number} first
 * @param {number} count
 * @param {Metrics} metrics
 */
export function heightOfRow(shapes, first, count, metrics) {
  let sum = 0;
  for (let index = first; index < first + count; index += 1) sum += ratio(shapes[index]);
  // A row that is too short to fill the width stays as it is: a single picture is not blown up. The small rows of phones
  // are filled all the same, where one picture often is a row.
  const most = Math.max(metrics.target * 1.5, Math.min(metrics.target * 2.2, filling));
  return Math.min((metrics.width - metrics.gap * (count - 1)) / sum, most);
}

/**
 * The height of all rows, with a gap below each.
 * @param {Uint16Array} shapes
 * @param {number[]} rows
 * @param {Metrics} metrics
 */
export function heightOfRows(shapes, rows, metrics) {
  let [height, first] = [0, 0];
  for (const count of rows) {
    height += heightOfRow(shapes, first, count, metrics) + metrics.gap;
    first += count;
  }
  return height;
}

/**
 * The height of items whose shapes are not known.
 * @param {number} count
 * @param {Metrics} metrics
 */
export function estimatedHeight(count, metrics) {
  const rows = Math.max(1, Math.round((count * unknown / 256) / (metrics.width / metrics.target)));
  return rows * (metrics.target + metrics.gap);
}

/**
 * Leads rows along with a splice of their items, and breaks those anew that came to be too wide or too narrow.
 * @param {number[]} rows of the items before
 * @param {Uint16Array} shapes of the items after
 * @param {number} at
 * @param {number} removed how many items left at that place
 * @param {number} inserted how many came there
 * @param {Metrics} metrics
 * @returns {number[]}
 */
export function spliced(rows, shapes, at, removed, inserted, metrics) {
  const result = rows.slice();
  let [row, first] = [0, 0];
  while (row < result.length - 1 && first + result[row] <= at) first += result[row++];
  // Take out, from as many rows as it needs.
  let left = removed;
  let [from, offset] = [row, at - first];
  while (left > 0) {
    const here = Math.min(left, result[from] - offset);
    result[from] -= here;
    left -= here;
    offset = 0;
    from += 1;
  }
  if (result.length === 0) result.push(0);
  result[row] += inserted;
  let last = Math.max(row, from - 1);
  // Break what was touched, with a neighbour as long as it is too narrow.
  let start = 0;
  for (let index = 0; index < row; index += 1) start += result[index];
  let end = start;
  for (let index = row; index <= last; index += 1) end += result[index];
  const ideal = metrics.width / metrics.target;
  const width = () => {
    let sum = 0;
    for (let index = start; index < end; index += 1) sum += ratio(shapes[index]);
    return sum;
  };
  let begin = row;
  while (width() < ideal * 0.6 && (last < result.length - 1 || begin > 0)) {
    if (last < result.length - 1) {
      last += 1;
      end += result[last];
    } else {
      begin -= 1;
      start -= result[begin];
    }
  }
  const isFine = last === begin && result[begin] > 0 && width() <= ideal * 1.6;
  if (isFine) return result;
  return result.slice(0, begin).concat(broken(shapes, start, end, metrics), result.slice(last + 1));
}
