// Sums of the beginnings of a sequence of numbers, each changed and found in O(log n) (a Fenwick tree).

export class Sums {
  /** @param {ArrayLike<number>} values */
  constructor(values) {
    const size = values.length;
    this.size = size;
    this.tree = new Float64Array(size + 1);
    this.values = Float64Array.from(values);
    for (let index = 1; index <= size; index += 1) {
      this.tree[index] += values[index - 1];
      const parent = index + (index & -index);
      if (parent <= size) this.tree[parent] += this.tree[index];
    }
    this.top = 1;
    while (this.top * 2 <= size) this.top *= 2;
  }

  /** The sum of all. */
  get total() {
    return this.before(this.size);
  }

  /**
   * The sum of the first values.
   * @param {number} count
   */
  before(count) {
    let sum = 0;
    for (let index = count; index > 0; index -= index & -index) sum += this.tree[index];
    return sum;
  }

  /**
   * Gives an index another value.
   * @param {number} index
   * @param {number} value
   */
  set(index, value) {
    const change = value - this.values[index];
    if (change === 0) return;
    this.values[index] = value;
    for (let at = index + 1; at <= this.size; at += at & -at) this.tree[at] += change;
  }

  /**
   * The index whose part of the total a position lies in: the last one with `before(index) <= position` that is not
   * empty; the last of all for a position at the end.
   * @param {number} position
   * @returns {{ index: number, rest: number }} `rest` is the position within the part
   */
  find(position) {
    let index = 0;
    let rest = Math.max(0, position);
    for (let step = this.top; step > 0; step >>= 1) {
      const next = index + step;
      if (next <= this.size && this.tree[next] <= rest) {
        index = next;
        rest -= this.tree[next];
      }
    }
    if (index < this.size) return { index, rest };
    return { index: this.size - 1, rest: rest + (this.size > 0 ? this.values[this.size - 1] : 0) };
  }
}
