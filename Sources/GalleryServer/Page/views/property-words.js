// The words of properties and of their values, for a photo's history, the sentences of the log and the plan of an undo.
//
//   property   ─▶ property.NAME          mediaType, mediaSubtypes ─▶ media.NAME, subtype.NAME
//   enumerated ─▶ value.PROPERTY.NAME    dates, places, files, sources of a file ─▶ as numbers and names
//
// The phrases are the page's list of properties. A property without a phrase is shown by the server's name; a test
// compares the list with the properties of the library.

import { offsetText } from '../model/wall-time.js';
import { instant, isolated, number, phraseOf, size, t } from '../text/text.js';

/**
 * Where the values of a property have their phrases, besides `value.PROPERTY`.
 * @type {Record<string, string>}
 */
const groups = { mediaType: 'media', mediaSubtypes: 'subtype' };
/** Properties whose values are assets or albums. */
const references = new Set(['stack', 'cover', 'creatorCover', 'followedAlbum']);

/**
 * What a property is called.
 * @param {string} property
 */
export const nameOf = (property) => phraseOf(`property.${property}`) ?? property;

/**
 * The asset or album that a value names; null for a value that names none.
 * @param {string} property
 * @param {any} value
 * @returns {string | null}
 */
export const objectIn = (property, value) => references.has(property) && typeof value === 'string' ? value : null;

/**
 * A single value that has a phrase of its own.
 * @param {string} property
 * @param {string | number} value
 */
const word = (property, value) => phraseOf(`${groups[property] ?? `value.${property}`}.${value}`) ?? String(value);

/**
 * A value as a sentence has it.
 * @param {string} property
 * @param {any} value
 * @returns {string}
 */
export function shown(property, value) {
  if (value === null || value === undefined || value === '') return t('value.none');
  if (property === 'localCreationDate') {
    return instant(Date.parse(`${value}Z`), { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
  }
  if (/Date$|Timestamp$/.test(property)) return instant(value);
  if (property === 'timeZoneOffset') return `UTC${offsetText(Number(value))}`;
  if (property === 'rating') return number(value);
  if (property === 'location') return `${value.latitude}, ${value.longitude}`;
  if (property === 'fileMetadata') {
    return t('value.facts', { count: Object.keys(value).filter((name) => name !== 'sources').length });
  }
  if (typeof value === 'boolean') return t(value ? 'value.yes' : 'value.no');
  if (Array.isArray(value)) {
    const names = value.map((one) => typeof one === 'object' && one !== null
      ? `${one.originalFilename ?? one.type ?? '?'}${one.dataSize ? ` (${size(one.dataSize)})` : ''}` : word(property, one));
    return names.length === 0 ? t('value.none') : names.map(isolated).join(', ');
  }
  return typeof value === 'object' ? JSON.stringify(value) : word(property, value);
}
