// Where items lie: from an index to a rectangle, and from a height to the rows there.
//
// Heights count from the top of the whole list. A row is found through its block, so each answer costs O(log n) and the
// length of a block.

import { heightOfRow, ratio } from './rows.js';

/** @typedef {import('../model/blocks.js').Blocks} Blocks */

/**
 * @typedef {object} Row
 * @property {number} place of the block
 * @property {number} first the index of its first item
 * @property {number} offset of that item within the block
 * @property {number} count
 * @property {number} top
 * @property {number} height
 *
 * @typedef {{ x: number, y: number, width: number, height: number }} Rect
 */

/**
 * Calls for each row of a block, from the top; ends when the visitor returns true.
 * @param {Blocks} blocks
 * @param {number} place
 * @param {(row: Row) => boolean | void} visit
 */
function eachRow(blocks, place, visit) {
  const block = blocks.list[place];
  if (!blocks.metrics || !block.rows || !block.shapes) return false;
  let top = blocks.heights.before(place) + (blocks.hasHeading(place) ? blocks.heading : 0);
  const begin = blocks.first(place);
  let offset = 0;
  for (const count of block.rows) {
    const height = heightOfRow(block.shapes, offset, count, blocks.metrics);
    if (visit({ place, first: begin + offset, offset, count, top, height })) return true;
    top += height + blocks.metrics.gap;
    offset += count;
  }
  return false;
}

/**
 * The row of an item; null if its block does not have rows yet.
 * @param {Blocks} blocks
 * @param {number} index
 * @returns {Row | null}
 */
export function rowOf(blocks, index) {
  if (index < 0 || index >= blocks.count) return null;
  /** @type {Row | null} */
  let found = null;
  eachRow(blocks, blocks.at(index).place, (row) => {
    if (index >= row.first + row.count) return false;
    found = row;
    return true;
  });
  return found;
}

/**
 * The rows that meet a range of heights, and the blocks there that have none yet.
 * @param {Blocks} blocks
 * @param {number} from
 * @param {number} to
 * @returns {{ rows: Row[], missing: number[], headings: { place: number, top: number }[] }}
 */
export function rowsBetween(blocks, from, to) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {number[]} */
  const missing = [];
  /** @type {{ place: number, top: number }[]} */
  const headings = [];
  if (blocks.count === 0) return { rows, missing, headings };
  for (let { index: place } = blocks.heights.find(Math.max(0, from)); place < blocks.list.length; place += 1) {
    const top = blocks.heights.before(place);
    if (top > to) break;
    if (blocks.hasHeading(place)) headings.push({ place, top });
    if (!blocks.list[place].shapes) missing.push(place);
    else if (blocks.list[place].isVague) missing.push(place);
    eachRow(blocks, place, (row) => {
      if (row.top > to) return true;
      if (row.top + row.height >= from) rows.push(row);
      return false;
    });
  }
  return { rows, missing, headings };
}

/**
 * The rectangles of a row's items.
 * @param {Blocks} blocks
 * @param {Row} row
 * @returns {Rect[]}
 */
export function rects(blocks, row) {
  const { shapes } = blocks.list[row.place];
  if (!blocks.metrics || !shapes) return [];
  let x = 0;
  return Array.from({ length: row.count }, (_, at) => {
    const width = ratio(shapes[row.offset + at]) * row.height;
    const rect = { x, y: row.top, width, height: row.height };
    x += width + /** @type {import('./rows.js').Metrics} */ (blocks.metrics).gap;
    return rect;
  });
}

/**
 * The rectangle of an item; of its block if that has no rows yet.
 * @param {Blocks} blocks
 * @param {number} index
 * @returns {Rect}
 */
export function rectOf(blocks, index) {
  const row = rowOf(blocks, index);
  if (row) return rects(blocks, row)[index - row.first];
  const { place, block, offset } = blocks.at(index);
  const height = block.height * offset / Math.max(1, block.count);
  return { x: 0, y: blocks.heights.before(place) + height, width: 0, height: blocks.metrics?.target ?? 0 };
}

/**
 * The item above or below another, nearest to its middle; the same one at the ends.
 * @param {Blocks} blocks
 * @param {number} index
 * @param {1 | -1} direction
 */
export function beside(blocks, index, direction) {
  const row = rowOf(blocks, index);
  if (!row) return index;
  const next = rowOf(blocks, direction > 0 ? row.first + row.count : row.first - 1);
  if (!next) return index;
  const own = rects(blocks, row)[index - row.first];
  const middle = own.x + own.width / 2;
  let [best, distance] = [next.first, Infinity];
  rects(blocks, next).forEach((rect, at) => {
    const here = Math.abs(rect.x + rect.width / 2 - middle);
    if (here < distance) [best, distance] = [next.first + at, here];
  });
  return best;
}
