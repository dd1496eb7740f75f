// The items of a list in blocks: their shapes, their rows, and what is loaded of them.
//
//   section  2024-06          2024-05                      undated
//   blocks   [1,000][1,000]   [900]                        [40]
//   sums     counts and heights of the blocks' beginnings, for an index or a height to its block in O(log n)
//
// A change is taken in by ranges and touches the blocks that the ranges lie in. A cell is what an item is known by while it
// moves: what arrives for a cell is put into the cell, wherever it stands by then.
//
// Invariant: the counts of the blocks of a section add up to its count, and those of all sections to the count of the
// list; a block with rows has shapes, and the counts of its rows add up to its count.
//
// Rejected: one object for each item, and one tree of single items. Both keep a hundred bytes and more where two, those of
// a shape, do.

import { broken, estimatedHeight, heightOfRows, spliced } from '../layout/rows.js';
import { Sums } from './sums.js';

/** @typedef {import('../client/photoledger.js').Item} Item */
/** @typedef {import('../layout/rows.js').Metrics} Metrics */

/**
 * @typedef {object} Step A change of the list: what leaves and the first of each pair counts in the list before.
 * @property {[number, number][]} removed ascending
 * @property {[number, number][]} inserted ascending
 * @property {[number, number][]} moved pairs
 * @property {[number, number][]} changed ascending
 * @property {number} count after
 */

/** How many items a new block has, and when a block is divided or joined with its neighbour. */
const usual = 1024;
const most = 2048;
const least = 256;

/** An item, loaded or not. */
export class Cell {
  /** @param {Item | null} item */
  constructor(item = null) {
    this.item = item;
    /** Whether the item was asked for. */
    this.isAsked = false;
  }
}

/** A part of the list under one heading. */
export class Part {
  /**
   * @param {string} key such as `2024-06`; empty for a list without headings
   * @param {number} count
   */
  constructor(key, count) {
    this.key = key;
    this.count = count;
    /** The place among the parts. */
    this.order = 0;
  }
}

/** Some items that follow one another in one part. */
export class Block {
  /**
   * @param {Part} part
   * @param {number} count
   */
  constructor(part, count) {
    this.part = part;
    this.count = count;
    /** @type {Uint16Array | null} */
    this.shapes = null;
    /** @type {(Cell | null)[] | null} */
    this.cells = null;
    /** When the block was looked at last, in the list's count; 0 if never. */
    this.look = 0;
    /** @type {number[] | null} */
    this.rows = null;
    /** The height of the rows, without a heading. */
    this.height = 0;
    /** The splices since the shapes were asked for; null if they are not on their way.
     * @type {{ at: number, removed: number, shapes: number[] }[] | null} */
    this.waiting = null;
    /** Whether the shape of some item that came is not known yet. */
    this.isVague = false;
  }
}

/** The items of a list. */
export class Blocks {
  /** @param {{ key: string, count: number }[]} parts in their order */
  constructor(parts) {
    /** @type {Metrics | null} */
    this.metrics = null;
    /** The height of a heading; 0 without headings. */
    this.heading = 0;
    this.count = parts.reduce((sum, part) => sum + part.count, 0);
    this.parts = parts.map(({ key, count }) => new Part(key, count));
    /** @type {Block[]} */
    this.list = [];
    this.counts = new Sums([]);
    this.heights = new Sums([]);
    /** @type {Map<Block, number>} */
    this.places = new Map();
    /** Where each part ends, while a change is taken in. @type {number[] | null} */
    this.targets = null;
    for (const part of this.parts) {
      for (let rest = part.count; rest > 0;) {
        // Two blocks of three quarters rather than a whole one and a small one.
        const size = rest > most ? usual : rest > usual ? Math.ceil(rest / 2) : rest;
        this.list.push(new Block(part, size));
        rest -= size;
      }
    }
    this.sum();
  }

  /**
   * Adds everything up anew, after blocks came or went. That is an addition for each block: about n/256 for n items, 4,000 for
   * a million, once for a change that divides, joins or adds a block; other changes cost O(log n) for each block that they
   * touch. Sums that take blocks in between, as trees do, would cost every search more than they spare here.
   */
  sum() {
    this.parts.forEach((part, index) => { part.order = index; });
    this.counts = new Sums(this.list.map((block) => block.count));
    this.heights = new Sums(this.list.map((block, index) => this.outerHeight(block, index)));
    this.places = new Map(this.list.map((block, index) => [block, index]));
  }

  /**
   * The height of a block with its heading.
   * @param {Block} block
   * @param {number} index
   */
  outerHeight(block, index) {
    return block.height + (this.hasHeading(index) ? this.heading : 0);
  }

  /**
   * Whether a heading stands above a block.
   * @param {number} index
   */
  hasHeading(index) {
    return this.heading > 0 && (index === 0 || this.list[index - 1].part !== this.list[index].part);
  }

  /**
   * The block of an item, and where in it.
   * @param {number} index
   */
  at(index) {
    const { index: place, rest } = this.counts.find(index);
    return { place, block: this.list[place], offset: rest };
  }

  /**
   * The index of the first item of a block.
   * @param {number} place
   */
  first(place) {
    return this.counts.before(place);
  }

  /**
   * The cell of an item; null if nothing is known of it.
   * @param {number} index
   */
  cell(index) {
    if (index < 0 || index >= this.count) return null;
    const { block, offset } = this.at(index);
    return block.cells?.[offset] ?? null;
  }

  /**
   * The cell of an item, made if there is none.
   * @param {number} index
   */
  madeCell(index) {
    const { block, offset } = this.at(index);
    block.cells ??= new Array(block.count).fill(null);
    return block.cells[offset] ??= new Cell();
  }

  /**
   * Sets width and height of rows; rows are broken anew where shapes are known.
   * @param {Metrics} metrics
   * @param {number} heading
   */
  measure(metrics, heading) {
    this.metrics = metrics;
    this.heading = heading;
    for (const block of this.list) this.layOut(block);
    this.sum();
  }

  /** @param {Block} block */
  layOut(block) {
    if (!this.metrics) return;
    if (block.shapes) {
      block.rows = broken(block.shapes, 0, block.count, this.metrics);
      block.height = heightOfRows(block.shapes, block.rows, this.metrics);
    } else {
      block.rows = null;
      block.height = estimatedHeight(block.count, this.metrics);
    }
  }

  /**
   * Puts shapes in that were asked for.
   * @param {Block} block
   * @param {Uint16Array} shapes of the items that the block had when they were asked for
   */
  fill(block, shapes) {
    const splices = block.waiting ?? [];
    block.waiting = null;
    let list = shapes;
    if (splices.length > 0) {
      for (const { at, removed, shapes: put } of splices) list = shapesWith(list, at, removed, put);
    }
    const place = this.places.get(block);
    if (place === undefined || list.length !== block.count) return;
    const { shapes: former } = block;
    const isSame = former?.length === list.length && list.every((shape, index) => shape === former[index]);
    // What came meanwhile without its shape has to be asked for again.
    block.isVague = splices.some(({ shapes: put }) => put.includes(0));
    if (isSame) return;
    block.shapes = list.slice();
    this.layOut(block);
    this.heights.set(place, this.outerHeight(block, place));
  }

  /**
   * Takes a change in, unless it does not fit; nothing is changed then. What came is not loaded, and its shape is not known,
   * unless it moved.
   * @param {Step} step
   * @param {{ key: string, count: number }[] | null} parts the parts after; null if there are no headings
   * @param {(index: number) => { item: Item | null, shape: number } | null} known what is known of an item that came
   * @returns {boolean} false if the change does not fit, and everything has to begin anew
   */
  apply(step, parts, known) {
    const moved = this.fitting(step, parts);
    if (!moved) return false;
    const { out, ins } = taken({ ...step, moved });
    const held = new Map(moved.map(([before, after]) => {
      const { block, offset } = this.at(before);
      return [after, { cell: block.cells?.[offset] ?? null, shape: block.shapes?.[offset] ?? 0 }];
    }));
    /** @type {Set<Block>} */
    const touched = new Set();
    for (let index = out.length - 1; index >= 0; index -= 1) this.remove(out[index][0], out[index][1], touched);
    this.setParts(parts, ins);
    for (const [start, count] of ins) this.insert(start, count, held, known, touched);
    this.tidy(touched);
    return true;
  }

  /**
   * What moves by a change, also from part to part. A change fits if its ranges lie in the list before or after, and what
   * leaves and comes makes of the parts before the parts after, in the same order.
   * @param {Step} step
   * @param {{ key: string, count: number }[] | null} parts
   * @returns {[number, number][] | null} null if the change does not fit
   */
  fitting(step, parts) {
    const { out, ins } = taken(step);
    const sum = (/** @type {[number, number][]} */ ranges) => ranges.reduce((total, [, count]) => total + count, 0);
    if (this.count - sum(out) + sum(ins) !== step.count) return null;
    if (!isDisjoint(out, this.count) || !isDisjoint(ins, step.count) || !isDisjoint(step.changed, step.count)) return null;
    if (!parts) return this.parts.length <= 1 ? step.moved : null;
    if (parts.reduce((total, part) => total + part.count, 0) !== step.count) return null;
    // An item that keeps its place but not its part leaves the one and comes to the other.
    const moved = step.moved.concat(this.crossing(step, parts));
    const all = taken({ ...step, moved });
    const counts = new Map(this.parts.map((part) => [part.key, part.count]));
    const add = (/** @type {string} */ key, /** @type {number} */ count) => counts.set(key, (counts.get(key) ?? 0) + count);
    eachPiece(all.out, this.parts, (key, count) => add(key, -count));
    eachPiece(all.ins, parts, add);
    if (parts.some(({ key, count }) => count <= 0 || counts.get(key) !== count)) return null;
    const after = new Map(parts.map(({ key }, place) => [key, place]));
    let last = -1;
    for (const { key } of this.parts) {
      const place = after.get(key);
      if (place === undefined ? counts.get(key) !== 0 : place < last) return null;
      last = place ?? last;
    }
    return moved;
  }

  /**
   * The items that keep their place in the list but not their part: the last of May that is dated to April is the first
   * of April then. They are taken out and put in like those that move.
   * @param {Step} step
   * @param {{ key: string, count: number }[]} parts
   * @returns {[number, number][]} pairs
   */
  crossing(step, parts) {
    const { changed } = step;
    if (changed.length === 0) return [];
    const { out, ins } = taken(step);
    const ends = parts.map((sum => ({ count }) => sum += count)(0));
    const formerEnds = this.parts.map((sum => ({ count }) => sum += count)(0));
    /** @type {[number, number][]} */
    const pairs = [];
    let [put, came, next, gone] = [0, 0, 0, 0];
    for (const [start, count] of changed) {
      for (let after = start; after < start + count; after += 1) {
        while (put < ins.length && ins[put][0] + ins[put][1] <= after) came += ins[put++][1];
        // What was inserted or moved is put where it belongs anyway.
        if (put < ins.length && ins[put][0] <= after) continue;
        while (next < out.length && out[next][0] <= after - came + gone) gone += out[next++][1];
        const before = after - came + gone;
        const former = this.parts[placeIn(formerEnds, before)]?.key;
        if (former !== parts[placeIn(ends, after)]?.key) pairs.push([before, after]);
      }
    }
    return pairs;
  }

  /** Whether the blocks are as many items as the parts say. */
  isWhole() {
    return this.counts.total === this.count && this.parts.reduce((sum, part) => sum + part.count, 0) === this.count;
  }

  /**
   * @param {number} start
   * @param {number} count
   * @param {Set<Block>} touched
   */
  remove(start, count, touched) {
    let left = count;
    while (left > 0) {
      const { place, block, offset } = this.at(start);
      const here = Math.min(left, block.count - offset);
      this.splice(place, offset, here, [], []);
      block.part.count -= here;
      touched.add(block);
      left -= here;
    }
    this.count -= count;
  }

  /**
   * Makes room for parts that came. Empty parts go when the change is done.
   * @param {{ key: string, count: number }[] | null} parts
   * @param {[number, number][]} inserted
   */
  setParts(parts, inserted) {
    if (!parts) {
      if (this.parts.length === 0 && inserted.length > 0) this.parts.push(new Part('', 0));
      if (this.list.length === 0 && inserted.length > 0) this.list.push(new Block(this.parts[0], 0));
      this.targets = null;
      this.sum();
      return;
    }
    const known = new Map(this.parts.map((part) => [part.key, part]));
    /** @type {Part[]} */
    const result = [];
    /** @type {Block[]} */
    const list = [];
    /** @type {Map<Part, Block[]>} */
    const blocks = new Map();
    const isSame = parts.length === this.parts.length && parts.every((part, index) => part.key === this.parts[index].key);
    if (!isSame) {
      for (const block of this.list) {
        const own = blocks.get(block.part);
        if (own) own.push(block);
        else blocks.set(block.part, [block]);
      }
      for (const { key } of parts) {
        const part = known.get(key) ?? new Part(key, 0);
        result.push(part);
        for (const block of blocks.get(part) ?? [new Block(part, 0)]) list.push(block);
      }
      // The blocks of a part that is gone are empty by now.
      this.parts = result;
      this.list = list;
      this.sum();
    }
    // Where each part ends in the list after.
    let end = 0;
    this.targets = parts.map(({ count }) => end += count);
  }

  /**
   * @param {number} start
   * @param {number} count
   * @param {Map<number, { cell: Cell | null, shape: number }>} held
   * @param {(index: number) => { item: Item | null, shape: number } | null} known
   * @param {Set<Block>} touched
   */
  insert(start, count, held, known, touched) {
    let [index, left] = [start, count];
    while (left > 0) {
      const { place, offset, room } = this.placeFor(index);
      const block = this.list[place];
      const here = Math.min(left, room);
      /** @type {(Cell | null)[]} */
      const cells = [];
      const shapes = [];
      for (let at = index; at < index + here; at += 1) {
        const moved = held.get(at);
        const fresh = known(at);
        cells.push(moved ? moved.cell : fresh?.item ? new Cell(fresh.item) : null);
        shapes.push(moved && moved.shape > 0 ? moved.shape : fresh?.shape ?? 0);
        if (!fresh && !(moved && moved.shape > 0)) block.isVague = true;
      }
      this.splice(place, offset, 0, cells, shapes);
      block.part.count += here;
      touched.add(block);
      index += here;
      left -= here;
    }
    this.count += count;
  }

  /**
   * The block into which an item is put, and how many more belong into its part.
   * @param {number} index
   */
  placeFor(index) {
    if (!this.targets) {
      const { place, offset } = this.at(index);
      return { place, offset, room: Infinity };
    }
    // The part that holds the index afterwards; everything before it is in its place already.
    const low = Math.min(placeIn(this.targets, index), this.targets.length - 1);
    const part = this.parts[low];
    const room = this.targets[low] - index;
    let { place, offset } = index < this.counts.total ? this.at(index) : this.lastOf(part);
    if (this.list[place].part !== part) ({ place, offset } = this.lastOf(part));
    return { place, offset, room };
  }

  /**
   * The end of a part: its last block.
   * @param {Part} part
   */
  lastOf(part) {
    // Parts and blocks are in the same order: search the block by the part's place.
    let [low, high] = [0, this.list.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.list[middle].part.order <= part.order) low = middle;
      else high = middle - 1;
    }
    return { place: low, offset: this.list[low].count };
  }

  /**
   * @param {number} place
   * @param {number} at
   * @param {number} removed
   * @param {(Cell | null)[]} cells
   * @param {number[]} shapes
   */
  splice(place, at, removed, cells, shapes) {
    const block = this.list[place];
    block.count += cells.length - removed;
    if (block.cells) block.cells = block.cells.slice(0, at).concat(cells, block.cells.slice(at + removed));
    else if (cells.some((cell) => cell)) {
      block.cells = new Array(block.count).fill(null);
      cells.forEach((cell, index) => { /** @type {any[]} */ (block.cells)[at + index] = cell; });
    }
    if (block.shapes) {
      block.shapes = shapesWith(block.shapes, at, removed, shapes);
    } else if (block.count === cells.length && shapes.every((shape) => shape > 0)) {
      block.shapes = Uint16Array.from(shapes);
    }
    block.waiting?.push({ at, removed, shapes });
    if (this.metrics) {
      if (block.shapes && block.rows) block.rows = spliced(block.rows, block.shapes, at, removed, shapes.length, this.metrics);
      else this.layOut(block);
      if (block.shapes && block.rows) block.height = heightOfRows(block.shapes, block.rows, this.metrics);
    }
    this.counts.set(place, block.count);
    this.heights.set(place, this.outerHeight(block, place));
  }

  /**
   * Gives an item that changed what is known of it.
   * @param {number} index
   * @param {{ item: Item | null, shape: number } | null} fresh
   */
  change(index, fresh) {
    const { place, block, offset } = this.at(index);
    if (block.cells || fresh?.item) {
      block.cells ??= new Array(block.count).fill(null);
      block.cells[offset] = fresh?.item ? new Cell(fresh.item) : null;
    }
    if (!fresh) {
      block.isVague = true;
      block.waiting?.push({ at: offset, removed: 1, shapes: [0] });
    } else if (block.shapes && block.shapes[offset] !== fresh.shape) {
      this.splice(place, offset, 1, [block.cells?.[offset] ?? null], [fresh.shape]);
    } else {
      block.waiting?.push({ at: offset, removed: 1, shapes: [fresh.shape] });
    }
  }

  /**
   * Divides what became too large, joins what became too small, and drops what is empty.
   * @param {Set<Block>} touched
   */
  tidy(touched) {
    let isOther = false;
    for (const block of touched) {
      const place = this.list.indexOf(block);
      if (place < 0) continue;
      if (block.count === 0) {
        this.list.splice(place, 1);
        isOther = true;
      } else if (block.count > most) {
        this.list = this.list.slice(0, place).concat(this.divided(block), this.list.slice(place + 1));
        isOther = true;
      } else if (block.count < least) {
        const next = this.list[place + 1];
        if (next && next.part === block.part && next.count + block.count <= usual && this.joined(block, next)) {
          this.list.splice(place + 1, 1);
          touched.delete(next);
          isOther = true;
        }
      }
    }
    this.parts = this.parts.filter((part) => part.count > 0);
    this.targets = null;
    if (isOther) this.sum();
  }

  /** @param {Block} block */
  divided(block) {
    /** @type {Block[]} */
    const result = [];
    let first = 0;
    let row = 0;
    while (first < block.count) {
      let end = Math.min(block.count, first + usual);
      if (block.count - end < least) end = block.count;
      /** @type {number[] | null} */
      let rows = null;
      if (block.rows) {
        // At the end of a row, so that no row is broken anew.
        rows = [];
        let at = first;
        while (row < block.rows.length && (at < end || end === block.count)) {
          rows.push(block.rows[row]);
          at += block.rows[row++];
        }
        end = at;
      }
      const part = new Block(block.part, end - first);
      part.shapes = block.shapes?.slice(first, end) ?? null;
      const cells = block.cells?.slice(first, end);
      part.cells = cells?.some((cell) => cell) ? cells : null;
      part.look = block.look;
      part.rows = rows;
      part.isVague = block.isVague;
      if (this.metrics && part.shapes && rows) part.height = heightOfRows(part.shapes, rows, this.metrics);
      else this.layOut(part);
      result.push(part);
      first = end;
    }
    return result;
  }

  /**
   * Puts the items of a block at the end of the one before it.
   * @param {Block} block
   * @param {Block} next
   * @returns {boolean} false if shapes of one of them are on their way
   */
  joined(block, next) {
    if (block.waiting || next.waiting || !block.shapes !== !next.shapes) return false;
    const count = block.count + next.count;
    if (block.cells || next.cells) {
      block.cells = (block.cells ?? new Array(block.count).fill(null)).concat(next.cells ?? new Array(next.count).fill(null));
    }
    if (block.shapes && next.shapes) {
      const shapes = new Uint16Array(count);
      shapes.set(block.shapes);
      shapes.set(next.shapes, block.count);
      block.shapes = shapes;
    }
    block.rows = block.rows && next.rows ? [...block.rows, ...next.rows] : null;
    block.isVague ||= next.isVague;
    block.look = Math.max(block.look, next.look);
    block.count = count;
    block.height += next.height;
    if (!block.rows) this.layOut(block);
    return true;
  }

  /** The height of everything. */
  get height() {
    return this.heights.total;
  }
}

/**
 * What a change takes out of the list before and puts into the list after, ascending; what moves is in both.
 * @param {Pick<Step, 'removed' | 'inserted' | 'moved'>} step
 */
function taken({ removed, inserted, moved }) {
  const single = (/** @type {number} */ index) => /** @type {[number, number]} */ ([index, 1]);
  const ascending = (/** @type {[number, number][]} */ ranges) => ranges.sort((one, other) => one[0] - other[0]);
  return {
    out: ascending([...removed, ...moved.map(([before]) => single(before))]),
    ins: ascending([...inserted, ...moved.map(([, after]) => single(after))]),
  };
}

/**
 * Whether ascending ranges lie beside one another within a list.
 * @param {[number, number][]} ranges
 * @param {number} count
 */
function isDisjoint(ranges, count) {
  let end = 0;
  for (const [start, length] of ranges) {
    if (start < end || length < 1) return false;
    end = start + length;
  }
  return end <= count;
}

/**
 * Calls for each part of a list that ranges lie in, with how many items of the range that are.
 * @param {[number, number][]} ranges ascending, within the list
 * @param {{ key: string, count: number }[]} parts
 * @param {(key: string, count: number) => void} visit
 */
function eachPiece(ranges, parts, visit) {
  let [place, begin] = [0, 0];
  for (const [start, count] of ranges) {
    for (let [index, left] = [start, count]; left > 0 && place < parts.length;) {
      const end = begin + parts[place].count;
      if (index >= end) {
        begin = end;
        place += 1;
        continue;
      }
      const here = Math.min(left, end - index);
      visit(parts[place].key, here);
      index += here;
      left -= here;
    }
  }
}

/**
 * Shapes after a splice. Engines take no more than some ten thousands of arguments, so nothing is spread here.
 * @param {Uint16Array} before
 * @param {number} at
 * @param {number} removed
 * @param {number[]} put
 */
function shapesWith(before, at, removed, put) {
  const shapes = new Uint16Array(before.length - removed + put.length);
  shapes.set(before.subarray(0, at));
  shapes.set(put, at);
  shapes.set(before.subarray(at + removed), at + put.length);
  return shapes;
}

/**
 * The first of ascending ends that lies above an index.
 * @param {number[]} ends
 * @param {number} index
 */
function placeIn(ends, index) {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] <= index) low = middle + 1;
    else high = middle;
  }
  return low;
}
