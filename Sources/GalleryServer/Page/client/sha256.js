// SHA-256 of bytes that come in parts (FIPS 180-4).
//
// The browser's own hashes only what is in memory at once, and only in secure contexts. Files of films fit in neither.

/** The first 32 bits of the fractional parts of roots of the first primes: of cube roots, and of square roots. */
const [constants, beginning] = (() => {
  const cube = new Uint32Array(64);
  const square = new Uint32Array(8);
  const bits = (/** @type {number} */ root) => (root - Math.floor(root)) * 2 ** 32;
  let found = 0;
  for (let number = 2; found < 64; number += 1) {
    let isPrime = true;
    for (let factor = 2; factor * factor <= number; factor += 1) if (number % factor === 0) isPrime = false;
    if (!isPrime) continue;
    if (found < 8) square[found] = bits(Math.sqrt(number));
    cube[found] = bits(Math.cbrt(number));
    found += 1;
  }
  return [cube, square];
})();

export class Sha256 {
  constructor() {
    this.state = Uint32Array.from(beginning);
    this.words = new Uint32Array(64);
    /** What does not fill a block of 64 bytes yet. */
    this.rest = new Uint8Array(64);
    this.restSize = 0;
    this.size = 0;
  }

  /** @param {Uint8Array} bytes */
  update(bytes) {
    this.size += bytes.length;
    let at = 0;
    if (this.restSize > 0) {
      at = Math.min(64 - this.restSize, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.restSize);
      this.restSize += at;
      if (this.restSize < 64) return;
      this.block(this.rest, 0);
    }
    for (; at + 64 <= bytes.length; at += 64) this.block(bytes, at);
    this.rest.set(bytes.subarray(at));
    this.restSize = bytes.length - at;
  }

  /**
   * @param {Uint8Array} bytes
   * @param {number} start
   */
  block(bytes, start) {
    const { words, state } = this;
    for (let index = 0, at = start; index < 16; index += 1, at += 4) {
      words[index] = bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
    }
    for (let index = 16; index < 64; index += 1) {
      const one = words[index - 15];
      const two = words[index - 2];
      const low = (one >>> 7 | one << 25) ^ (one >>> 18 | one << 14) ^ one >>> 3;
      const high = (two >>> 17 | two << 15) ^ (two >>> 19 | two << 13) ^ two >>> 10;
      words[index] = words[index - 16] + low + words[index - 7] + high | 0;
    }
    let [a, b, c, d, e, f, g, i] = state;
    for (let index = 0; index < 64; index += 1) {
      const first = i + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (e & f ^ ~e & g)
        + constants[index] + words[index] | 0;
      const second = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c) | 0;
      i = g;
      g = f;
      f = e;
      e = d + first | 0;
      d = c;
      c = b;
      b = a;
      a = first + second | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += i;
  }

  /** The hash in 64 hexadecimal digits; nothing can be added after that. */
  digest() {
    const size = this.size;
    const end = new Uint8Array((size % 64 < 56 ? 64 : 128) - size % 64);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(size / 2 ** 29));
    view.setUint32(end.length - 4, size * 8 % 2 ** 32);
    this.update(end);
    return [...this.state].map((word) => word.toString(16).padStart(8, '0')).join('');
  }
}
