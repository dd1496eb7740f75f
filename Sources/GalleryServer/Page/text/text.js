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
// Screen readers and hyphenation go by what the document says; a worker does not have one.
const root = globalThis.document?.documentElement;
if (root) root.lang = language;
const plural = new Intl.PluralRules(locale);
const numbers = new Intl.NumberFormat(locale);

/** Letters that are written from right to left, and the marks that change the direction of what follows. */
const turns = new RegExp('[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}'
  + '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]', 'u');
const [isolate, pop] = ['\u2068', '\u2069'];

/**
 * A text that does not change the direction of what stands around it: a title in a sentence, a name in a list. Marks
 * that would end the isolation are left out, and those that would outlast it are ended.
 * @param {string} text
 */
export function isolated(text) {
  if (!turns.test(text)) return text;
  let open = 0;
  let inside = '';
  for (const character of text) {
    if (character === pop) {
      if (open === 0) continue;
      open -= 1;
    } else if (character >= '\u2066' && character <= '\u2068') open += 1;
    inside += character;
  }
  return isolate + inside + pop.repeat(open + 1);
}

/**
 * A phrase with its values put in, each isolated. `{count}` chooses between the forms of a phrase that has several.
 * @param {string} name
 * @param {Record<string, string | number>} [values]
 */
export function t(name, values = {}) {
  const phrase = languages[language][name] ?? languages.en[name];
  if (phrase === undefined) throw new Error(`The page has no phrase '${name}'.`);
  const form = typeof phrase === 'string' ? phrase : phrase[plural.select(Number(values.count)) === 'one' ? 'one' : 'other'];
  return form.replace(/\{(\w+)\}/g, (_, key) => {
    const value = values[key];
    return typeof value === 'number' ? numbers.format(value) : isolated(String(value ?? ''));
  });
}

/**
 * The phrase for a name that the server sends; undefined if there is none, as for one that a later server adds.
 * @param {string} name
 * @param {Record<string, string | number>} [values]
 */
export const phraseOf = (name, values) => Object.hasOwn(languages.en, name) ? t(name, values) : undefined;

/** The names of all phrases, in the order of `en.js`. */
export const phraseNames = Object.keys(en);

/**
 * What a problem says. The server's sentences are English: another language has a phrase for each type of problem,
 * which quotes the sentence where that names what the person needs.
 * @param {{ type: string, status: number, message: string }} problem
 */
export function problemWords({ type, status, message }) {
  if (language === 'en') return message;
  const name = `problem.${type}`;
  return t(Object.hasOwn(languages[language], name) ? name : 'problem.other', { status, detail: message });
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
  // The short form of bytes is 'byte' in English, also of several.
  return new Intl.NumberFormat(locale, { style: 'unit', unit: units[power], unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1 }).format(bytes / 1000 ** power);
}
