// The picture that stands in for one that is not there yet: 37 bytes, drawn small and stretched.
//
// Byte 0 is the form; 1–3 the means and 4–6 the scales of Y, Cb and Cr; then 20 coefficients of Y and 5 each of Cb and Cr
// of a cosine transform. The form is described in the server's documentation.

const side = 12;

/** The pairs (u, v) in the order of the coefficients. */
const waves = (/** @type {number} */ below) => {
  const pairs = [];
  for (let sum = 1; sum < below; sum += 1) for (let v = 0; v <= sum; v += 1) pairs.push([sum - v, v]);
  return pairs;
};
const [fine, coarse] = [waves(6), waves(3)];

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
  const canvas = document.createElement('canvas');
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext('2d');
  if (!context) return null;
  const image = context.createImageData(side, side);
  const channel = (/** @type {number} */ mean, /** @type {number} */ scale, /** @type {number} */ first,
    /** @type {number[][]} */ pairs, /** @type {number} */ x, /** @type {number} */ y) => pairs.reduce(
    (sum, [u, v], index) => sum + (bytes[first + index] - 128) / 127 * scale
      * Math.cos(Math.PI * u * x) * Math.cos(Math.PI * v * y), mean);
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      const [x, y] = [(column + 0.5) / side, (row + 0.5) / side];
      const luma = channel(bytes[1], bytes[4], 7, fine, x, y);
      const blue = channel(bytes[2], bytes[5], 27, coarse, x, y) - 128;
      const red = channel(bytes[3], bytes[6], 32, coarse, x, y) - 128;
      image.data.set([luma + 1.402 * red, luma - 0.344 * blue - 0.714 * red, luma + 1.772 * blue, 255], 4 * (row * side + column));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
