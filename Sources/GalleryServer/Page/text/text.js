// The words of the page, in the reader's language.

import en from './en.js';
import de from './de.js';

/** @typedef {string | { one: string, other: string }} Phrase */
/** @type {Record<string, Record<string, Phrase>>} */
const languages = { en, de };

const wanted = navigator.languages.map((language) => language.split('-')[0]).find((one) => one in languages) ?? 'en';
/** The language of the page, such as `de`. */
export const language = wanted;
/** The reader's locale for dates and numbers. */
export const locale = navigator.languages.find((one) => one.startsWith(language)) ?? language;
const plural = new Intl.PluralRules(locale);
const numbers = new Intl.NumberFormat(locale);

/**
 * A phrase with its values put in. `{count}` chooses between the forms of a phrase that has several.
 * @param {string} name
 * @param {Record<string, string | number>} [values]
 */
export function t(name, values = {}) {
  const phrase = languages[language][name] ?? languages.en[name];
  if (phrase === undefined) throw new Error(`The page has no phrase '${name}'.`);
  const form = typeof phrase === 'string' ? phrase : phrase[plural.select(Number(values.count)) === 'one' ? 'one' : 'other'];
  return form.replace(/\{(\w+)\}/g, (_, key) => {
    const value = values[key];
    return typeof value === 'number' ? numbers.format(value) : String(value ?? '');
  });
}

/**
 * A number as the reader writes it.
 * @param {number} value
 */
export const number = (value) => numbers.format(value);

/**
 * A date of an asset, in the wall time of where it was taken.
 * @param {number} date milliseconds
 * @param {number | null} offset seconds
 * @param {Intl.DateTimeFormatOptions} options
 */
export function wallTime(date, offset, options = { dateStyle: 'medium', timeStyle: 'short' }) {
  const shown = offset === null ? date : date + offset * 1000;
  return formatOf(offset === null ? options : { ...options, timeZone: 'UTC' }).format(shown);
}

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/**
 * What writes dates in a form. It is made once: making one takes longer than drawing a tile.
 * @param {Intl.DateTimeFormatOptions} options
 */
function formatOf(options) {
  const key = JSON.stringify(options);
  let format = formats.get(key);
  if (!format) formats.set(key, format = new Intl.DateTimeFormat(locale, options));
  return format;
}

/**
 * An instant in the reader's own time.
 * @param {number | string} date
 * @param {Intl.DateTimeFormatOptions} [options]
 */
export const instant = (date, options = { dateStyle: 'medium', timeStyle: 'short' }) =>
  formatOf(options).format(new Date(date));

/**
 * A size in bytes with a unit.
 * @param {number} bytes
 */
export function size(bytes) {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return new Intl.NumberFormat(locale, { style: 'unit', unit: units[power], unitDisplay: 'short', maximumFractionDigits: 1 })
    .format(bytes / 1000 ** power);
}
