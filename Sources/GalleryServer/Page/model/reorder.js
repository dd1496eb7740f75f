// A move of items within a list: which ones, and before which one they are to stand.
//
//   indexes, before ─▶ Reorder ─▶ indexes, to          as `moveAt` counts them
//                        ▲
//               change ──┘  apply: the same items and the same place, at a later state
//
// The place is an item, the first behind the gap that does not move itself, or the end of the list. So what others commit
// meanwhile leads the move along, and it cannot come to stand for another one.

import { mapped, stayed } from './mapped.js';

export class Reorder {
  /**
   * @param {number[]} indexes those that move
   * @param {number} before the index before which they are to stand
   * @param {number} count how many items the list has
   */
  constructor(indexes, before, count) {
    this.indexes = indexes;
    this.count = count;
    const moving = new Set(indexes);
    let next = before;
    while (next < count && moving.has(next)) next += 1;
    /** The item before which they are to stand; null: the end. */
    this.next = next < count ? next : null;
  }

  /** The index that they have to stand at, counted without them. */
  get to() {
    const next = this.next ?? this.count;
    return next - this.indexes.filter((index) => index < next).length;
  }

  /** Whether they lie together and stand where they are to stand. */
  get isDone() {
    const { to } = this;
    const sorted = [...this.indexes].sort((one, other) => one - other);
    return sorted.every((index, place) => index === to + place);
  }

  /**
   * Leads the move along with a change of the list.
   * @param {import('../client/photoledger.js').Change} change
   * @returns {boolean} false if an item that moves is gone, or if the item that they are to stand before is gone or was moved
   */
  apply(change) {
    const indexes = this.indexes.map((index) => mapped(change, index));
    const next = this.next === null ? null : stayed(change, this.next);
    if (next === -1 || indexes.includes(-1)) return false;
    [this.indexes, this.next, this.count] = [indexes, next, change.count];
    return true;
  }
}
