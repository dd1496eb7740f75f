// The model of the page against naive arrays: random changes, thousands of steps.

import assert from 'node:assert/strict';
import test from 'node:test';

import { random } from './random.mjs';
import { broken, heightOfRow, ratio, spliced } from '../../Sources/GalleryServer/Page/layout/rows.js';
import { Blocks, Cell } from '../../Sources/GalleryServer/Page/model/blocks.js';
import { mapped, stayed } from '../../Sources/GalleryServer/Page/model/mapped.js';
import { Reorder } from '../../Sources/GalleryServer/Page/model/reorder.js';
import { Selection } from '../../Sources/GalleryServer/Page/model/selection.js';
import { Sums } from '../../Sources/GalleryServer/Page/model/sums.js';

/** Ranges of ascending indexes. */
function ranges(indexes) {
  const result = [];
  for (const index of indexes) {
    const last = result[result.length - 1];
    if (last && last[0] + last[1] === index) last[1] += 1;
    else result.push([index, 1]);
  }
  return result;
}

/** An item of a naive list: sorted by month, descending, then by number. */
const monthOf = (item) => `20${String(10 + Math.floor(item.month / 12)).padStart(2, '0')}-${String(item.month % 12 + 1).padStart(2, '0')}`;
const order = (one, other) => other.month - one.month || one.number - other.number;

/** The members of a longest ascending subsequence: what kept its order, so that all others moved. */
function longestAscending(numbers) {
  const ends = [];
  const former = new Map();
  for (const number of numbers) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] < number) low = middle + 1;
      else high = middle;
    }
    former.set(number, ends[low - 1]);
    ends[low] = number;
  }
  const result = new Set();
  for (let number = ends[ends.length - 1]; number !== undefined; number = former.get(number)) result.add(number);
  return result;
}

/** A naive list that makes random changes and says what the feed would say. */
class Naive {
  constructor(seed, count, months) {
    this.pick = random(seed);
    this.months = months;
    this.next = 0;
    this.items = Array.from({ length: count }, () => this.made()).sort(order);
  }

  made() {
    return { number: this.next++, month: this.pick(this.months), id: `a${this.next}`, width: 50 + this.pick(400), height: 100 };
  }

  step() {
    const before = this.items;
    const size = [1, 1, 2, 5, 40, 1000][this.pick(6)];
    const kind = this.pick(5);
    const gone = new Set();
    const changed = new Set();
    let after = before.slice();
    if (kind === 0 || before.length < 3) after.push(...Array.from({ length: size }, () => this.made()));
    if (kind === 1) for (let n = 0; n < size; n += 1) gone.add(before[this.pick(before.length)]);
    if (kind >= 2 && before.length > 0) {
      for (let n = 0; n < Math.min(size, 50); n += 1) {
        const at = this.pick(before.length);
        if (gone.has(before[at]) || after[at] !== before[at]) continue;
        const item = { ...before[at], width: 50 + this.pick(400) };
        // Often to the month of a neighbour, so that it keeps its place and comes under another heading.
        if (kind === 3) item.month = this.pick(2) ? this.pick(this.months) : before[Math.max(0, at - 1)].month;
        if (kind === 4) Object.assign(item, { month: after[Math.min(at + 1, after.length - 1)].month, number: -this.next++ });
        changed.add(item.id);
        after[at] = item;
      }
    }
    after = after.filter((item) => !gone.has(item)).sort(order);
    const places = new Map(before.map((item, index) => [item.id, index]));
    const ids = new Set(after.map((item) => item.id));
    const removed = before.flatMap((item, index) => ids.has(item.id) ? [] : [index]);
    const inserted = after.flatMap((item, index) => places.has(item.id) ? [] : [index]);
    const kept = after.flatMap((item, index) => places.has(item.id) ? [[places.get(item.id), index]] : []);
    const still = longestAscending(kept.map(([place]) => place));
    const moved = kept.filter(([place]) => !still.has(place));
    this.items = after;
    const count = (list) => {
      const counts = new Map();
      for (const item of list) counts.set(monthOf(item), (counts.get(monthOf(item)) ?? 0) + 1);
      return counts;
    };
    return {
      removed: ranges(removed), inserted: ranges(inserted), moved,
      changed: after.flatMap((item, index) => changed.has(item.id) ? [index] : []),
      parts: [...count(after)].map(([key, n]) => ({ key, count: n })),
    };
  }

  parts() {
    const counts = new Map();
    for (const item of this.items) counts.set(monthOf(item), (counts.get(monthOf(item)) ?? 0) + 1);
    return [...counts].map(([key, count]) => ({ key, count }));
  }
}

const shapeOf = (item) => Math.round(item.width / item.height * 256);

function check(blocks, naive, hasHeadings) {
  assert.equal(blocks.count, naive.items.length);
  assert.ok(blocks.isWhole());
  let index = 0;
  let height = 0;
  blocks.list.forEach((block, place) => {
    assert.ok(block.count > 0 && block.count <= 2048 + 1000, `a block of ${block.count}`);
    assert.equal(blocks.first(place), index);
    if (block.rows) assert.equal(block.rows.reduce((sum, row) => sum + row, 0), block.count);
    if (block.rows) assert.ok(block.rows.every((row) => row > 0));
    for (let offset = 0; offset < block.count; offset += 1) {
      const item = naive.items[index];
      const cell = block.cells?.[offset];
      if (cell?.item) assert.equal(cell.item.id, item.id);
      if (block.shapes && !block.isVague) assert.equal(block.shapes[offset], shapeOf(item));
      if (hasHeadings) assert.equal(block.part.key, monthOf(item));
      index += 1;
    }
    height += blocks.outerHeight(block, place);
  });
  assert.ok(Math.abs(height - blocks.height) < 0.01, 'heights');
}

/** Changes that cannot be of a list, each made of one that is. */
function wrongs(step, parts, count) {
  const found = [
    ['a wrong count', { ...step, count: step.count + 1 }, parts],
    ['what leaves beyond the end', { ...step, removed: [...step.removed, [count, 1]], count: step.count - 1 }, parts],
    ['what moves from beyond the end', { ...step, moved: [...step.moved, [count, 0]] }, parts],
    ['what changes beyond the end', { ...step, changed: [[step.count, 1]] }, parts],
    ['what comes twice', { ...step, inserted: [...step.inserted, [0, 1], [0, 1]].sort((one, other) => one[0] - other[0]), count: step.count + 2 }, parts],
  ];
  if (parts && parts.length > 0) {
    found.push(['a part less', step, parts.slice(1)], ['a part of another count', step, [{ key: parts[0].key, count: parts[0].count + 1 }, ...parts.slice(1)]]);
  }
  return found;
}

for (const hasHeadings of [false, true]) {
  for (let seed = 1; seed <= 12; seed += 1) {
    test(`blocks follow random changes as an array does, ${hasHeadings ? 'with' : 'without'} headings, seed ${seed}`, () => {
      const naive = new Naive(seed, [0, 1, 50, 5000][seed % 4], [1, 3, 40][seed % 3]);
      const pick = random(seed + 1000);
      const blocks = new Blocks(hasHeadings ? naive.parts() : [{ key: '', count: naive.items.length }]);
      blocks.measure({ width: 1000, target: 200, gap: 4 }, hasHeadings ? 40 : 0);
      const waiting = [];
      for (let step = 0; step < 120; step += 1) {
        // Some shapes and some items arrive, some of them late.
        for (const block of blocks.list) {
          if (!block.shapes && !block.waiting && pick(3) === 0) {
            const first = blocks.first(blocks.list.indexOf(block));
            block.waiting = [];
            waiting.push([block, Uint16Array.from(naive.items.slice(first, first + block.count), shapeOf)]);
          }
        }
        if (waiting.length > 0 && pick(2) === 0) blocks.fill(...waiting.splice(pick(waiting.length), 1)[0]);
        for (let n = 0; n < 5 && naive.items.length > 0; n += 1) {
          const index = pick(naive.items.length);
          blocks.madeCell(index).item ??= naive.items[index];
        }
        const selection = new Selection();
        for (let n = 0; n < 3 && naive.items.length > 0; n += 1) {
          const index = pick(naive.items.length);
          selection.set(index, index + 1 + pick(20), true);
        }
        selection.ranges = selection.ranges.map(([first, end]) => [first, Math.min(end, naive.items.length)]);
        const before = naive.items;
        const change = naive.step();
        const isKnown = pick(3) > 0;
        const known = (index) => isKnown ? { item: naive.items[index], shape: shapeOf(naive.items[index]) } : null;
        const taken = { ...change, changed: ranges(change.changed), count: naive.items.length };
        const parts = hasHeadings ? change.parts : null;
        // What does not fit is refused, and changes nothing.
        const look = () => JSON.stringify(blocks.list.map(({ part, count, rows, height }) => [part.key, count, rows, height]));
        const held = look();
        for (const [name, step, other] of wrongs(taken, parts, before.length)) {
          assert.equal(blocks.apply(step, other, known), false, name);
          assert.ok(look() === held && blocks.count === before.length, name);
        }
        assert.ok(blocks.apply(taken, parts, known));
        for (const index of change.changed) blocks.change(index, known(index));
        const vague = new Set(isKnown ? [] : change.changed);
        for (const index of vague) assert.ok(blocks.at(index).block.isVague);
        check(blocks, naive, hasHeadings);
        // A block with a shape that is not known is asked for anew.
        for (const block of blocks.list) {
          if (!block.isVague || block.waiting) continue;
          const first = blocks.first(blocks.list.indexOf(block));
          block.waiting = [];
          blocks.fill(block, Uint16Array.from(naive.items.slice(first, first + block.count), shapeOf));
        }
        // An index and a selection are led along as their items are.
        const places = new Map(naive.items.map((item, index) => [item.id, index]));
        for (let n = 0; n < 20 && before.length > 0; n += 1) {
          const index = pick(before.length);
          assert.equal(mapped(change, index), places.get(before[index].id) ?? -1);
        }
        const selected = [...selection].map((index) => places.get(before[index].id)).filter((at) => at !== undefined);
        selection.apply(change);
        assert.deepEqual([...selection], selected.sort((one, other) => one - other));
      }
    });
  }
}

test('a picture alone fills the small rows of a phone, and is not blown up on a desktop', () => {
  const shapes = Uint16Array.of(384);
  assert.equal(heightOfRow(shapes, 0, 1, { width: 345, target: 121, gap: 4 }), 230);
  assert.equal(heightOfRow(shapes, 0, 1, { width: 1030, target: 220, gap: 4 }), 330);
});

test('sums find the part that a position lies in', () => {
  const pick = random(7);
  for (let round = 0; round < 200; round += 1) {
    const values = Array.from({ length: pick(40) + 1 }, () => pick(5));
    const sums = new Sums(values);
    for (let n = 0; n < 10; n += 1) {
      const at = pick(values.length);
      values[at] = pick(9);
      sums.set(at, values[at]);
    }
    const total = values.reduce((sum, one) => sum + one, 0);
    assert.equal(sums.total, total);
    for (let position = 0; position < total; position += 1) {
      let [index, rest] = [0, position];
      while (rest >= values[index]) rest -= values[index++];
      assert.deepEqual(sums.find(position), { index, rest });
    }
  }
});

test('rows hold every item once, and none is empty or much too wide', () => {
  const pick = random(11);
  const metrics = { width: 1000, target: 200, gap: 4 };
  for (let round = 0; round < 300; round += 1) {
    const shapes = Uint16Array.from({ length: pick(200) + 1 }, () => 80 + pick(900));
    let rows = broken(shapes, 0, shapes.length, metrics);
    assert.equal(rows.reduce((sum, row) => sum + row, 0), shapes.length);
    for (let first = 0, row = 0; row < rows.length; first += rows[row++]) {
      const width = shapes.subarray(first, first + rows[row]).reduce((sum, shape) => sum + ratio(shape), 0);
      assert.ok(rows[row] === 1 || width < 10, `a row of width ${width}`);
    }
    // A splice leaves rows that it does not meet as they are.
    const list = Array.from(shapes);
    const at = pick(list.length + 1);
    const removed = Math.min(list.length - at, pick(4));
    const put = Array.from({ length: pick(4) }, () => 80 + pick(900));
    list.splice(at, removed, ...put);
    const after = spliced(rows, Uint16Array.from(list), at, removed, put.length, metrics);
    assert.equal(after.reduce((sum, row) => sum + row, 0), list.length);
    assert.ok(after.every((row) => row > 0) || list.length === 0);
  }
});

test('a cell keeps what arrives for it while it moves', () => {
  const blocks = new Blocks([{ key: '', count: 10 }]);
  const cell = blocks.madeCell(3);
  assert.ok(blocks.apply({ removed: [[0, 1]], inserted: [[5, 2]], moved: [[3, 0]], changed: [], count: 11 }, null, () => null));
  assert.equal(blocks.cell(0), cell);
  assert.ok(cell instanceof Cell);
});

test('a range that is being extended begins at its photo whatever is committed meanwhile', () => {
  const selection = new Selection();
  const step = (parts) => ({ removed: [], inserted: [], moved: [], changed: [], ...parts });
  selection.toggle(2);
  selection.toggle(10);
  selection.extend(14);
  assert.deepEqual(selection.ranges, [[2, 3], [10, 15]]);
  // Three come before everything, and one of the range leaves.
  selection.apply(step({ removed: [[12, 1]], inserted: [[0, 3]] }));
  assert.deepEqual(selection.ranges, [[5, 6], [13, 17]]);
  selection.extend(14);
  assert.deepEqual(selection.ranges, [[5, 6], [13, 15]], 'narrower, from the same photo on');
  // Without its photo there is no range to extend.
  selection.apply(step({ removed: [[13, 1]] }));
  selection.extend(8);
  assert.deepEqual(selection.ranges, [[5, 6], [8, 9], [13, 14]]);
});

test('what stays among its neighbours is not what was moved', () => {
  const change = { removed: [[1, 1]], inserted: [[0, 2]], moved: [[3, 9]], changed: [] };
  assert.deepEqual([0, 1, 2, 3, 4].map((index) => stayed(change, index)), [2, -1, 3, -1, 4]);
  assert.equal(mapped(change, 3), 9);
});

test('three hundred thousand that come at once are taken in like one', () => {
  const count = 300_000;
  for (const parts of [null, [{ key: '2024-02', count }, { key: '2024-01', count: 3 }]]) {
    const blocks = new Blocks([{ key: parts ? '2024-01' : '', count: 3 }]);
    blocks.measure({ width: 1000, target: 200, gap: 4 }, parts ? 40 : 0);
    blocks.fill(blocks.list[0], Uint16Array.of(256, 300, 200));
    for (let index = 0; index < 3; index += 1) blocks.madeCell(index).item = { id: `a${index}` };
    // On their way while all this comes.
    blocks.list[0].waiting = [];
    const first = blocks.list[0];
    const come = { removed: [], inserted: [[0, count]], moved: [], changed: [], count: count + 3 };
    assert.ok(blocks.apply(come, parts, (index) => index < count ? { item: null, shape: 256 } : null));
    assert.equal(blocks.count, count + 3);
    assert.ok(blocks.isWhole());
    assert.equal(blocks.cell(count + 1).item.id, 'a1');
    assert.ok(blocks.list.every((block) => block.count <= 2048));
    blocks.fill(first, Uint16Array.of(256, 300, 200));
    const go = { removed: [[0, count]], inserted: [], moved: [], changed: [], count: 3 };
    assert.ok(blocks.apply(go, parts && [{ key: '2024-01', count: 3 }], () => null));
    assert.equal(blocks.cell(1).item.id, 'a1');
    assert.ok(blocks.isWhole());
  }
});

test('rows of three hundred thousand that come into one block are broken', () => {
  const metrics = { width: 1000, target: 200, gap: 4 };
  const shapes = new Uint16Array(600_003).fill(256);
  const rows = spliced([3], shapes, 0, 0, 600_000, metrics);
  assert.equal(rows.reduce((sum, row) => sum + row, 0), 600_003);
});

test('a move means the same photos and the same place whatever others commit before it', () => {
  const pick = random(71);
  let [led, lost] = [0, 0];
  for (let seed = 1; seed <= 40; seed += 1) {
    const naive = new Naive(seed, 60, 12);
    for (let round = 0; round < 10 && naive.items.length > 6; round += 1) {
      const before = naive.items;
      const chosen = new Set(Array.from({ length: 1 + pick(4) }, () => pick(before.length)));
      const indexes = [...chosen].sort((one, other) => one - other);
      const gap = pick(before.length + 1);
      const move = new Reorder(indexes, gap, before.length);
      // What moveAt does with the indexes: they are taken out, and put in again.
      const rest = before.filter((_, index) => !chosen.has(index));
      const wanted = [...before.slice(0, gap).filter((_, index) => !chosen.has(index)), ...indexes.map((index) => before[index]),
        ...before.slice(gap).filter((_, index) => !chosen.has(gap + index))];
      const result = rest.slice();
      result.splice(move.to, 0, ...indexes.map((index) => before[index]));
      assert.deepEqual(result, wanted);
      assert.equal(move.isDone, before.every((item, index) => item === wanted[index]));
      const [ids, next] = [indexes.map((index) => before[index].id), move.next === null ? null : before[move.next].id];
      const change = naive.step();
      if (move.apply(change)) {
        led += 1;
        assert.deepEqual(move.indexes.map((index) => naive.items[index].id), ids);
        assert.equal(move.next === null ? null : naive.items[move.next].id, next);
        const others = naive.items.filter((item) => !ids.includes(item.id));
        assert.equal(others[move.to]?.id ?? null, next);
      } else {
        lost += 1;
        const now = new Set(naive.items.map((item) => item.id));
        const movedNext = change.moved.some(([index]) => before[index].id === next);
        assert.ok(movedNext || [...ids, ...next === null ? [] : [next]].some((id) => !now.has(id)));
      }
    }
  }
  assert.ok(led > 50 && lost > 10, `${led} led, ${lost} lost`);
});
