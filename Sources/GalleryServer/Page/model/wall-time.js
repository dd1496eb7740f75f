// The date of a photo: an instant, the wall time of where it was taken, and the offset between the two.
//
//   instant   16:30:00 UTC
//   wall      18:30:00            the clock on the wall, kept here as if it were UTC
//   offset    +02:00              null if the camera wrote none; the library then takes the wall time for UTC
//
// Invariant: what `edited` and `editedInstant` give has all three, so that the server has nothing to guess.

/** @typedef {{ instant: number, wall: number, offset: number | null }} When milliseconds, NaN if undated; seconds */

/** The first and the last instant that RFC 3339 can write. */
const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The offset at the end of a date, in seconds; null for `Z`.
 * @param {string} text RFC 3339
 */
export function offsetOf(text) {
  const found = /([+-])(\d\d):(\d\d)$/.exec(text);
  if (!found) return null;
  return (found[1] === '-' ? -1 : 1) * (Number(found[2]) * 3600 + Number(found[3]) * 60);
}

/**
 * An offset as RFC 3339 writes it.
 * @param {number} seconds
 */
export function offsetText(seconds) {
  const minutes = Math.round(Math.abs(seconds) / 60);
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0');
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/**
 * The date of an asset as the server gives it.
 * @param {{ creationDate: string | null, localCreationDate: string | null }} asset
 * @returns {When}
 */
export function when(asset) {
  const instant = asset.creationDate === null ? NaN : Date.parse(asset.creationDate);
  const offset = asset.creationDate === null ? null : offsetOf(asset.creationDate);
  const wall = asset.localCreationDate === null
    ? instant + (offset ?? 0) * 1000 : Date.parse(`${asset.localCreationDate.replace(/Z$/, '')}Z`);
  return { instant, wall, offset };
}

/**
 * The date of an asset as a reader has it. Where there is only an instant, as of films, whose headers have no clock,
 * that is by the reader's own clock; a wall time without an offset stays what it is.
 * @param {{ creationDate: string | null, localCreationDate: string | null }} asset
 * @returns {When & { isReaders: boolean }} `isReaders`: whether the clock is the reader's
 */
export function whenRead(asset) {
  const { instant, wall, offset } = when(asset);
  const isReaders = offset === null && asset.localCreationDate === null && !Number.isNaN(instant);
  if (!isReaders) return { instant, wall, offset, isReaders };
  const own = -60 * new Date(instant).getTimezoneOffset();
  return { instant, wall: instant + own * 1000, offset: own, isReaders };
}

/**
 * A date without a zone, `2024-05-31T18:30:00` with milliseconds if there are any; null outside of years 1 to 9999.
 * @param {number} milliseconds
 */
export function stamp(milliseconds) {
  if (!(milliseconds >= earliest && milliseconds <= latest)) return null;
  return new Date(milliseconds).toISOString().replace(/(\.000)?Z$/, '');
}

/**
 * The fields of an edit that gives a photo a wall time and an offset; null if the date cannot be written.
 * @param {number} wall
 * @param {number | null} offset
 * @returns {{ creationDate: string, localCreationDate: string, timeZoneOffset: number | null } | null}
 */
export function edited(wall, offset) {
  const [instant, local] = [stamp(wall - (offset ?? 0) * 1000), stamp(wall)];
  return instant === null || local === null
    ? null : { creationDate: `${instant}Z`, localCreationDate: local, timeZoneOffset: offset };
}

/**
 * The fields of an edit that gives a photo an instant without a clock, as films have it; null if it cannot be written.
 * @param {number} instant
 * @returns {{ creationDate: string, localCreationDate: null, timeZoneOffset: null } | null}
 */
export function editedInstant(instant) {
  const text = stamp(instant);
  return text === null ? null : { creationDate: `${text}Z`, localCreationDate: null, timeZoneOffset: null };
}

/** The offsets that are in use somewhere, in seconds. */
export const knownOffsets = [-12, -11, -10, -9.5, -9, -8, -7, -6, -5, -4, -3.5, -3, -2, -1, 0, 1, 2, 3, 3.5, 4, 4.5,
  5, 5.5,
  5.75, 6, 6.5, 7, 8, 8.75, 9, 9.5, 10, 10.5, 11, 12, 12.75, 13, 14].map((hours) => hours * 3600);
