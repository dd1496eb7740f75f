// What a person types into the search field, understood word by word.
//
//   favourites november 2023 "may" harbour
//   └ kind      └ dates       └────┴ text: file names, captions, keywords
//
// Every part narrows what is found. A part of kinds or dates becomes a predicate, text the `search` of the same fetch;
// the server's store answers both. A month of many years is looked for by `found.js`. No text becomes part of a predicate,
// so there is nothing to escape: a predicate here is made of numbers and of words of this file.
//
// Words are compared without case and accents. What stands in quotation marks is always text.

/**
 * @typedef {object} Part
 * @property {'kind' | 'date' | 'text'} kind
 * @property {number} start where the part stands in what was typed
 * @property {number} end
 * @property {string} shown how it was understood: the phrase of a kind, the name of a span of time, the text
 * @property {string} [where] the predicate of kinds and dates
 * @property {number} [month] a month of any year, 1 to 12; its predicate needs the years that there are
 */

/**
 * Text without case and accents.
 * @param {string} text
 */
export const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');

/** The kinds, with the words that name them in any language of the page. */
const kinds = [
  { name: 'favorites', where: 'isFavorite == YES', words: 'favorite favorites favourite favourites favorit favoriten' },
  {
    name: 'images', where: 'mediaType == 1',
    words: 'photo photos picture pictures image images foto fotos bild bilder',
  },
  { name: 'videos', where: 'mediaType == 2', words: 'video videos film films filme movie movies' },
  { name: 'panoramas', where: '(mediaSubtypes & 1) != 0', words: 'panorama panoramas panoramen' },
  {
    name: 'screenshots', where: '(mediaSubtypes & 4) != 0',
    words: 'screenshot screenshots bildschirmfoto bildschirmfotos',
  },
  { name: 'livePhotos', where: '(mediaSubtypes & 8) != 0', words: 'live livephoto livephotos' },
  { name: 'portraits', where: '(mediaSubtypes & 16) != 0', words: 'portrait portraits portrat portrats' },
  { name: 'slomo', where: '(mediaSubtypes & 131072) != 0', words: 'slomo slo-mo slowmotion zeitlupe zeitlupen' },
  { name: 'timelapses', where: '(mediaSubtypes & 262144) != 0', words: 'timelapse timelapses time-lapse zeitraffer' },
  {
    name: 'screenRecordings', where: '(mediaSubtypes & 524288) != 0',
    words: 'screenrecording screenrecordings bildschirmaufnahme bildschirmaufnahmen',
  },
  { name: 'selfies', where: 'isSelfPortrait == YES', words: 'selfie selfies' },
  { name: 'bursts', where: 'burstIdentifier != NULL', words: 'burst bursts serie serien' },
  { name: 'raw', where: 'isRaw == YES', words: 'raw' },
  { name: 'edited', where: 'hasAdjustments == YES', words: 'edited bearbeitet bearbeitete' },
  { name: 'located', where: 'latitude != NULL', words: 'located geotagged verortet' },
  { name: 'undated', where: 'creationDate == NULL', words: 'undated undatiert' },
];
/** @type {Map<string, { name: string, where: string }>} */
const kindWords = new Map(kinds.flatMap((kind) => kind.words.split(' ').map((word) => [word, kind])));

/**
 * The months by their names in a language, whole and short, and in English.
 * @param {string} locale
 */
function monthNames(locale) {
  /** @type {Map<string, number>} */
  const names = new Map();
  for (const language of ['en', locale]) {
    for (const style of /** @type {const} */ (['long', 'short'])) {
      const format = new Intl.DateTimeFormat(language, { month: style, timeZone: 'UTC' });
      for (let month = 1; month <= 12; month += 1) {
        names.set(folded(format.format(Date.UTC(2024, month - 1, 1))).replace(/\.$/, ''), month);
      }
    }
  }
  // The fourth letter is often written, and not in every list of names.
  names.set('sept', 9);
  return names;
}

const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
const four = (/** @type {number} */ value) => String(value).padStart(4, '0');

/**
 * The predicate of a span of days: by the camera's wall time, or by the reader's for photos without one.
 * @param {number} year
 * @param {number} month 1 to 12, and beyond
 * @param {number} day
 * @param {number} endYear the day after the span
 * @param {number} endMonth
 * @param {number} endDay
 */
function span(year, month, day, endYear, endMonth, endDay) {
  const wall = (/** @type {number} */ y, /** @type {number} */ m, /** @type {number} */ d) => {
    const date = new Date(Date.UTC(y, m - 1, d));
    return `'${four(date.getUTCFullYear())}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}'`;
  };
  const instant = (/** @type {number} */ y, /** @type {number} */ m, /** @type {number} */ d) =>
    `'${new Date(y, m - 1, d).toISOString()}'`;
  const between = (/** @type {string} */ key, /** @type {typeof wall} */ at) =>
    `${key} >= ${at(year, month, day)} AND ${key} < ${at(endYear, endMonth, endDay)}`;
  return `(${between('localCreationDate', wall)} OR localCreationDate == NULL AND ${between('creationDate', instant)})`;
}

const monthSpan = (/** @type {number} */ year, /** @type {number} */ month) => span(year, month, 1, year, month + 1, 1);

/** How many years a month of any year can name as a predicate; the address of a fetch is short. */
const yearLimit = 5;

/**
 * The predicate of a month of any year; null if there are too many, and the records have to be looked through.
 * @param {number} month
 * @param {number[]} years those that have the month
 */
export function whereMonth(month, years) {
  if (years.length === 0) return 'FALSEPREDICATE';
  return years.length > yearLimit ? null : `(${years.map((year) => monthSpan(year, month)).join(' OR ')})`;
}

/**
 * @typedef {object} Word
 * @property {string} text
 * @property {boolean} isQuoted
 * @property {number} start
 * @property {number} end
 */

/**
 * The words of a text; quotation marks hold several together. A mark that is not closed is a sign like any other.
 * @param {string} text
 */
export function wordsOf(text) {
  /** @type {Word[]} */
  const words = [];
  for (const found of text.matchAll(/["“„]([^"“”„]+)["”“](?=\s|$)|\S+/gu)) {
    const start = found.index ?? 0;
    const isQuoted = found[1] !== undefined;
    const word = (isQuoted ? found[1] : found[0]).trim();
    if (word !== '') words.push({ text: word, isQuoted, start, end: start + found[0].length });
  }
  return words;
}

/**
 * A day that there is, or undefined.
 * @param {number} year
 * @param {number} month
 * @param {number} day
 */
function dayIn(year, month, day) {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? { year, month, day } : undefined;
}

/**
 * A date in digits: 2023-11-14, 2023-11, 2023, or 14.11.2023.
 * @param {string} text
 * @returns {{ year: number, month?: number, day?: number } | undefined}
 */
function digits(text) {
  const iso = /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$/.exec(text);
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (dotted) return dayIn(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]));
  if (!iso || Number(iso[1]) < 1800 || Number(iso[1]) > 2199) return undefined;
  const year = Number(iso[1]);
  if (iso[2] === undefined) return { year };
  const month = Number(iso[2]);
  if (iso[3] !== undefined) return dayIn(year, month, Number(iso[3]));
  return month >= 1 && month <= 12 ? { year, month } : undefined;
}

/**
 * Reads what was typed.
 * @param {string} text
 * @param {string} locale
 * @returns {Part[]}
 */
export function understood(text, locale) {
  const months = monthNames(locale);
  const words = wordsOf(text);
  const show = (/** @type {number} */ date, /** @type {Intl.DateTimeFormatOptions} */ options) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(date);
  /** @type {Part[]} */
  const parts = [];
  /** @type {(from: number, count: number, part: Pick<Part, 'kind' | 'shown' | 'where' | 'month'>) => number} */
  const add = (from, count, part) => {
    parts.push({ ...part, start: words[from].start, end: words[from + count - 1].end });
    return count;
  };
  /** @type {(from: number, count: number, date: { year: number, month: number, day: number }) => number} */
  const addDay = (from, count, { year, month, day }) => add(from, count, {
    kind: 'date', where: span(year, month, day, year, month, day + 1),
    shown: show(Date.UTC(year, month - 1, day), { dateStyle: 'long' }),
  });
  /** @type {(from: number, count: number, year: number, month: number) => number} */
  const addMonth = (from, count, year, month) => add(from, count, {
    kind: 'date', where: monthSpan(year, month),
    shown: show(Date.UTC(year, month - 1, 1), { month: 'long', year: 'numeric' }),
  });

  const plain = (/** @type {number} */ at) =>
    words[at] && !words[at].isQuoted ? folded(words[at].text).replace(/,$/, '') : '';
  const monthAt = (/** @type {number} */ at) => months.get(plain(at).replace(/\.$/, ''));
  const yearAt = (/** @type {number} */ at) => {
    const found = digits(plain(at));
    return found && found.month === undefined ? found.year : undefined;
  };
  const dayAt = (/** @type {number} */ at) => Number(/^([0-3]?\d)(?:\.|st|nd|rd|th)?$/.exec(plain(at))?.[1] ?? NaN);

  for (let at = 0; at < words.length;) {
    const month = monthAt(at);
    const date = digits(plain(at));
    const kind = kindWords.get(plain(at));
    // 14 November 2023, November 14 2023, November 2023, 2023 November
    const dayFirst = dayIn(yearAt(at + 2) ?? NaN, monthAt(at + 1) ?? NaN, dayAt(at));
    const dayLater = month === undefined ? undefined : dayIn(yearAt(at + 2) ?? NaN, month, dayAt(at + 1));
    const monthAfter = monthAt(at + 1);
    const yearAfter = yearAt(at + 1);
    if (dayFirst) at += addDay(at, 3, dayFirst);
    else if (dayLater) at += addDay(at, 3, dayLater);
    else if (month !== undefined && yearAfter !== undefined) at += addMonth(at, 2, yearAfter, month);
    else if (date && date.month === undefined && monthAfter !== undefined) at += addMonth(at, 2, date.year, monthAfter);
    else if (date?.day !== undefined && date.month !== undefined) {
      at += addDay(at, 1, { year: date.year, month: date.month, day: date.day });
    } else if (date?.month !== undefined) at += addMonth(at, 1, date.year, date.month);
    else if (date) {
      at += add(at, 1, { kind: 'date', where: span(date.year, 1, 1, date.year + 1, 1, 1), shown: four(date.year) });
    } else if (month !== undefined) {
      at += add(at, 1, { kind: 'date', month, shown: show(Date.UTC(2024, month - 1, 1), { month: 'long' }) });
    } else if (kind) at += add(at, 1, { kind: 'kind', where: kind.where, shown: kind.name });
    else at += add(at, 1, { kind: 'text', shown: words[at].text });
  }
  return parts;
}

/**
 * What was typed without a part of it.
 * @param {string} text
 * @param {Part} part
 */
export const without = (text, part) =>
  `${text.slice(0, part.start)} ${text.slice(part.end)}`.replace(/\s+/g, ' ').trim();
