// The picture that stands in for one that is not there yet: 37 bytes, drawn small and stretched.
//
// Byte 0 is the form; 1–3 the means and 4–6 the scales of Y, Cb and Cr; then 20 coefficients of Y and 5 each of Cb and Cr
// of a cosine transform. The form is described in the server's documentation. It becomes an uncompressed bitmap, so that a
// screen of them does not hold up scrolling.
//
// Rejected: a canvas for each, which the browser compresses to a PNG first.

const side = 12;

/**
 * The waves of a transform at each pixel: those with `u + v` below a number, in the order of the coefficients.
 * @param {number} below
 */
function waves(below) {
  const table = [];
  const cosine = (/** @type {number} */ wave, /** @type {number} */ at) => Math.cos(Math.PI * wave * (at + 0.5) / side);
  for (let sum = 1; sum < below; sum += 1) {
    for (let v = 0; v <= sum; v += 1) {
      for (let at = 0; at < side * side; at += 1) table.push(cosine(sum - v, at % side) * cosine(v, Math.floor(at / side)));
    }
  }
  return Float32Array.from(table);
}
const [fine, coarse] = [waves(6), waves(3)];
/** What stands before the pixels of a bitmap of that side, 24 bits each, lowest row first. */
const head = new Uint8Array(54);
{
  const view = new DataView(head.buffer);
  const fields = [[0, 2, 0x4d42], [2, 4, 54 + 3 * side * side], [10, 4, 54], [14, 4, 40], [18, 4, side], [22, 4, side],
    [26, 2, 1], [28, 2, 24]];
  for (const [at, size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
  }
}

/** @type {Map<string, string | null>} */
const drawn = new Map();

/**
 * A URL of the picture; null if the bytes are of another form.
 * @param {string} text base64
 * @returns {string | null}
 */
export function placeholderURL(text) {
  const known = drawn.get(text);
  if (known !== undefined) return known;
  if (drawn.size > 4000) drawn.clear();
  const url = draw(text);
  drawn.set(text, url);
  return url;
}

/** @param {string} text */
function draw(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  if (bytes.length !== 37 || bytes[0] !== 1) return null;
  const luma = channel(bytes[1], bytes[4], bytes.subarray(7, 27), fine);
  const blue = channel(bytes[2], bytes[5], bytes.subarray(27, 32), coarse);
  const red = channel(bytes[3], bytes[6], bytes.subarray(32, 37), coarse);
  const bitmap = new Uint8ClampedArray(head.length + 3 * side * side);
  bitmap.set(head);
  for (let at = 0; at < side * side; at += 1) {
    const [y, b, r] = [luma[at], blue[at] - 128, red[at] - 128];
    const to = head.length + 3 * ((side - 1 - Math.floor(at / side)) * side + at % side);
    bitmap[to] = y + 1.772 * b;
    bitmap[to + 1] = y - 0.344 * b - 0.714 * r;
    bitmap[to + 2] = y + 1.402 * r;
  }
  return `data:image/bmp;base64,${btoa(String.fromCharCode(...bitmap))}`;
}

/**
 * A channel at each pixel.
 * @param {number} mean
 * @param {number} scale
 * @param {Uint8Array} coefficients
 * @param {Float32Array} table
 */
function channel(mean, scale, coefficients, table) {
  const pixels = new Float32Array(side * side).fill(mean);
  coefficients.forEach((coefficient, wave) => {
    const factor = (coefficient - 128) / 127 * scale;
    for (let at = 0; at < pixels.length; at += 1) pixels[at] += factor * table[wave * pixels.length + at];
  });
  return pixels;
}
