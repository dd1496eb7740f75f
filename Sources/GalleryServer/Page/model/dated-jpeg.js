// When a picture was taken, put into a JPEG that a canvas made, which says nothing of itself.
//
//   FF D8 │ FF E1 length "Exif\0\0" TIFF │ the rest of the file
//
// The TIFF has one directory that names a second one, with the wall time (DateTimeOriginal) and its offset from
// Greenwich.

/** @param {number} value */
const two = (value) => String(value).padStart(2, '0');

/**
 * A moment as EXIF and file names write it.
 * @param {Date} date
 */
export function stamps(date) {
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())];
  const time = [two(date.getHours()), two(date.getMinutes()), two(date.getSeconds())];
  const minutes = -date.getTimezoneOffset();
  const offset = `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return { exif: `${day.join(':')} ${time.join(':')}`, offset, name: `${day.join('')}_${time.join('')}` };
}

/**
 * @param {Blob} jpeg
 * @param {Date} date
 * @returns {Blob} of the type image/jpeg
 */
export function datedJPEG(jpeg, date) {
  const { exif, offset } = stamps(date);
  const texts = [`${exif}\0`, `${offset}\0`];
  const tiff = new DataView(new ArrayBuffer(56 + texts[0].length + texts[1].length));
  const entry = (/** @type {[number, number, number, number, number]} */ [at, tag, type, count, value]) => {
    tiff.setUint16(at, tag);
    tiff.setUint16(at + 2, type);
    tiff.setUint32(at + 4, count);
    tiff.setUint32(at + 8, value);
  };
  tiff.setUint32(0, 0x4d4d002a);
  tiff.setUint32(4, 8);
  tiff.setUint16(8, 1);
  entry([10, 0x8769, 4, 1, 26]);
  tiff.setUint16(26, 2);
  entry([28, 0x9003, 2, texts[0].length, 56]);
  entry([40, 0x9011, 2, texts[1].length, 56 + texts[0].length]);
  [...texts.join('')].forEach((letter, index) => tiff.setUint8(56 + index, letter.charCodeAt(0)));
  const head = new DataView(new ArrayBuffer(12));
  head.setUint32(0, 0xffd8ffe1);
  head.setUint16(4, 8 + tiff.byteLength);
  [...'Exif\0\0'].forEach((letter, index) => head.setUint8(6 + index, letter.charCodeAt(0)));
  return new Blob([head.buffer, tiff.buffer, jpeg.slice(2)], { type: 'image/jpeg' });
}
