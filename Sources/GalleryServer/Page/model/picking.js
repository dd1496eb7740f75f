// What a picking session offers, as fetches: its filter, and what a person searches, as predicates.
//
// The server refuses to select what the filter leaves out, so a mistake here would show too much to the person who owns
// the library, and give the app nothing.

/** The place of each kind's bit in PhotoKit's media subtypes. */
const bits = /** @type {Record<string, number>} */ ({
  livePhotos: 3, panoramas: 0, screenshots: 2, screenRecordings: 19, slomoVideos: 17, timelapseVideos: 18,
  cinematicVideos: 21, depthEffectPhotos: 4, spatialMedia: 10,
});
const styles = ['unsupported', 'image', 'imageAnimated', 'livePhoto', 'video', 'videoLooping'];

/**
 * The predicate of a kind of assets.
 * @param {string} name as filters call it
 * @returns {string | undefined}
 */
export function kindCondition(name) {
  if (name === 'images') return 'mediaType == 1';
  if (name === 'videos') return 'mediaType == 2';
  if (name === 'favorites') return 'isFavorite == YES';
  if (name === 'bursts') return 'burstIdentifier != nil';
  return name in bits ? `(mediaSubtypes & ${1 << bits[name]}) != 0` : undefined;
}

/**
 * The predicate of a filter such as `all(images,not(livePhotos))`.
 * @param {string} text as the server spells it
 * @throws {Error} for a filter that this page does not know
 */
export function filterCondition(text) {
  let at = 0;
  const word = () => /^\w*/.exec(text.slice(at))?.[0] ?? '';
  const expect = (/** @type {string} */ sign) => {
    if (text[at] !== sign) throw new Error(`The filter '${text}' is not understood at ${at}.`);
    at += 1;
  };
  /** @returns {string} */
  const read = () => {
    const name = word();
    at += name.length;
    const simple = text[at] === '(' ? undefined : kindCondition(name);
    if (simple !== undefined) return simple;
    expect('(');
    if (name === 'playbackStyle') {
      const style = word();
      at += style.length;
      expect(')');
      const number = styles.includes(style) ? styles.indexOf(style) : Number(style);
      return `playbackStyle == ${Number.isInteger(number) ? number : -1}`;
    }
    const parts = [];
    while (text[at] !== ')') {
      if (parts.length > 0) expect(',');
      parts.push(read());
    }
    expect(')');
    if (name === 'not' && parts.length === 1) return `NOT (${parts[0]})`;
    if (name === 'any') return parts.length === 0 ? 'FALSEPREDICATE' : `(${parts.join(' OR ')})`;
    if (name === 'all') return parts.length === 0 ? 'TRUEPREDICATE' : `(${parts.join(' AND ')})`;
    throw new Error(`The filter '${text}' has '${name}', which this page does not know.`);
  };
  const condition = read();
  if (at !== text.length) throw new Error(`The filter '${text}' is not understood at ${at}.`);
  return condition;
}

/**
 * The names of the months in a language, long and short, from January.
 * @param {string} locale
 */
function monthsOf(locale) {
  const forms = [{ month: 'long', timeZone: 'UTC' }, { month: 'short', timeZone: 'UTC' }]
    .map((options) => new Intl.DateTimeFormat(locale, /** @type {Intl.DateTimeFormatOptions} */ (options)));
  return Array.from({ length: 12 }, (_, month) => forms.map((form) =>
    form.format(Date.UTC(2001, month, 15)).toLocaleLowerCase(locale).replace('.', '')));
}

/**
 * @param {number} year
 * @param {number} [month] from 1
 * @param {number} [day]
 */
function span(year, month, day) {
  const text = (/** @type {Date} */ date) => date.toISOString().slice(0, 10);
  const first = new Date(Date.UTC(year, (month ?? 1) - 1, day ?? 1));
  const end = day ? new Date(Date.UTC(year, (month ?? 1) - 1, day + 1))
    : month ? new Date(Date.UTC(year, month, 1)) : new Date(Date.UTC(year + 1, 0, 1));
  return `(localCreationDate >= "${text(first)}" AND localCreationDate < "${text(end)}")`;
}

/**
 * What a person searches: years, months, days and kinds.
 * @param {string} text
 * @param {{ kinds: Record<string, string>, locale: string, years: number[] }} words `kinds`: for each kind the words
 *   for it; `years`: those in which a month without a year is looked for
 * @returns {{ where: string | undefined, rest: string }} `rest`: the other words
 */
export function searchCondition(text, { kinds, locale, years }) {
  const months = [monthsOf(locale), monthsOf('en')];
  /** @type {string[]} */
  const conditions = [];
  /** @type {string[]} */
  const rest = [];
  /** @type {number | undefined} */
  let asked;
  /** @type {number | undefined} */
  let month;
  for (const part of text.trim().toLocaleLowerCase(locale).split(/\s+/).filter(Boolean)) {
    const date = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?$/.exec(part);
    const found = months.map((names) => names.findIndex((forms) => forms.some((form) =>
      form === part || part.length >= 3 && form.startsWith(part)))).find((index) => index >= 0);
    const kind = Object.entries(kinds).find(([, words]) => words.toLocaleLowerCase(locale).split(',')
      .some((one) => one.trim() === part || part.length >= 4 && one.trim().startsWith(part)));
    if (date) conditions.push(span(Number(date[1]), Number(date[2]), date[3] ? Number(date[3]) : undefined));
    else if (/^\d{4}$/.test(part) && Number(part) > 0) asked = Number(part);
    else if (kind) conditions.push(kindCondition(kind[0]) ?? 'FALSEPREDICATE');
    else if (found !== undefined) month = found + 1;
    else rest.push(part);
  }
  if (asked !== undefined) conditions.push(span(asked, month));
  else if (month !== undefined) {
    const spans = years.map((year) => span(year, month));
    conditions.push(spans.length > 0 ? `(${spans.join(' OR ')})` : 'FALSEPREDICATE');
  }
  return { where: conditions.length > 0 ? conditions.join(' AND ') : undefined, rest: rest.join(' ') };
}
