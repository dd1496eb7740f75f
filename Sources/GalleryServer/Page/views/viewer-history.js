// What happened to a photo, in sentences, and who can see it. For the owner, whom alone the server answers.
//
// The server gives one record for each property that a commit changed, the oldest first; the page gives one entry for
// each commit, the newest first. An entry can be undone for this photo alone.

import { instant, isolated, t } from '../text/text.js';
import { clientName } from './client-names.js';
import { h } from './dom.js';
import { causeWords } from './log-words.js';
import { nameOf, shown } from './property-words.js';

/** @typedef {import('./app.js').App} App */
/**
 * @typedef {object} Naming
 * @property {(id: string) => string} titleOf an album's title
 * @property {(id: string) => string} photoOf what another photo is called
 */

/** How many records an answer holds, and how many answers are read. */
const pageSize = 1000;
const pageLimit = 20;
/** For how many clients with full access the page asks since when they have it. */
const clientLimit = 20;
/** What follows from other changes and says nothing to a person. */
const silent = new Set(['modificationDate', 'addedDate', 'creationDate', 'timeZoneOffset']);

/**
 * All records of an object.
 * @param {App} app
 * @param {string} id
 * @param {'history' | 'access'} question
 * @param {string | undefined} at
 * @param {AbortSignal} signal
 * @returns {Promise<any[]>}
 */
export async function recordsOf(app, id, question, at, signal) {
  const path = `/v1/objects/${encodeURIComponent(id)}/${question}`;
  const records = [];
  /** @type {number | null} */
  let start = 0;
  for (let page = 0; page < pageLimit && start !== null; page += 1) {
    /** @type {{ records: any[], next: number | string | null }} */
    const answer = await app.client.ask('GET', path, { query: { start, limit: pageSize, at }, signal });
    records.push(...answer.records);
    start = answer.next === null ? null : Number(answer.next);
  }
  return records;
}

/**
 * The records of one commit after the other.
 * @param {any[]} records
 * @returns {any[][]}
 */
function commits(records) {
  /** @type {any[][]} */
  const groups = [];
  for (const record of records) {
    const last = groups[groups.length - 1];
    if (last && last[0].token === record.token) last.push(record);
    else groups.push([record]);
  }
  return groups;
}

/**
 * What one record says.
 * @param {any} record
 * @param {Naming} naming
 * @returns {string}
 */
function sentence({ object, property, old, new: fresh }, { titleOf, photoOf }) {
  switch (property) {
    case 'isFavorite': return t(fresh ? 'event.favorite' : 'event.unfavorite');
    case 'isHidden': return t(fresh ? 'event.hidden' : 'event.unhidden');
    case 'trashedDate': return t(fresh ? 'event.trashed' : 'event.restored');
    case 'isErased': return t('event.erased');
    case 'erased': return t('said.erased');
    case 'stack':
      if (fresh === null) return t('event.unstacked');
      return fresh === object ? t('event.stackTop') : t('event.stackedUnder', { top: photoOf(fresh) });
    case 'picks': return t('event.picks', { client: clientName(String(fresh ?? old ?? '')) });
    case 'selections':
      return t(fresh ? 'event.selections' : 'event.selections.end', { client: clientName(String(fresh ?? old ?? '')) });
    case 'containers': {
      const album = titleOf((fresh ?? old)?.container ?? '');
      return t(fresh && old ? 'event.albumMove' : fresh ? 'event.albumAdd' : 'event.albumRemove', { album });
    }
    case 'keywords': {
      const [before, after] = [new Set(old ?? []), new Set(fresh ?? [])];
      const came = [...after].filter((word) => !before.has(word));
      const left = [...before].filter((word) => !after.has(word));
      return [came.length > 0 && t('event.keywordsAdded', { words: came.map(isolated).join(', ') }),
        left.length > 0 && t('event.keywordsRemoved', { words: left.map(isolated).join(', ') })].filter(Boolean).join(' ');
    }
    default: return t('event.change', { property: nameOf(property), old: shown(property, old),
      new: shown(property, fresh) });
  }
}

/**
 * What a commit did to the photo.
 * @param {any[]} group
 * @param {Naming} naming
 * @returns {string[]}
 */
function sentences(group, naming) {
  // A new photo has all of its properties at once, which says no more than that it came.
  const begun = group.filter((record) => record.type !== 'asset.created');
  const hasLocal = begun.some((record) => record.property === 'localCreationDate');
  const said = begun.filter(({ property }) => !silent.has(property)
    || ((property === 'creationDate' || property === 'timeZoneOffset') && !hasLocal)
      || (property === 'timeZoneOffset' && hasLocal));
  const found = said.map((record) => sentence(record, naming)).filter((one) => one !== '');
  return begun.length < group.length ? [t('event.created'), ...found] : found;
}

/**
 * The albums that hold a photo according to its history, for which the server has no other question.
 * @param {any[]} records
 * @returns {Set<string>}
 */
export function albumsIn(records) {
  const albums = new Set();
  for (const { property, old, new: fresh } of records) {
    if (property !== 'containers') continue;
    if (fresh) albums.add(fresh.container);
    else if (old) albums.delete(old.container);
  }
  return albums;
}

/**
 * The photos beneath which a photo was stacked, the latest first, as the history is shown.
 * @param {any[]} records
 * @returns {string[]}
 */
export const stackTopsIn = (records) => [...new Set(records
  .filter(({ object, property, new: fresh }) => property === 'stack' && fresh && fresh !== object)
  .map(({ new: fresh }) => fresh).reverse())];

/**
 * The history as a list.
 * @param {any[]} records
 * @param {Naming & { undo: ((token: string, sentence: string) => void) | null }} options
 */
export function historyList(records, { undo, ...naming }) {
  const entries = commits(records).reverse().map((group) => {
    const [{ token, date, client, cause }] = group;
    const said = sentences(group, naming);
    if (said.length === 0) return null;
    return h('li', { class: 'history-entry', 'data-token': token },
      ...said.map((one) => h('p', { dir: 'auto' }, one)),
      h('p', { class: 'soft' }, t(cause ? 'event.originWhy' : 'event.origin',
        { date: instant(date), client: clientName(client), cause: causeWords(cause ?? '') })),
      undo && h('button', {
        class: 'button', type: 'button', 'data-keep': `back-${token}`,
          'aria-label': t('event.undoWhat', { what: said[0] }),
        onclick: () => undo(token, said[0]),
      }, t('event.undo')));
  });
  return h('ol', { class: 'viewer-list' }, ...entries);
}

/**
 * @typedef {{ client: string, ground: 'selection' | 'pick', from: string, to: string | null }} Span
 *
 * When a photo was in the selection of a client or among its picks, by the photo's history.
 * @param {any[]} records
 * @returns {Span[]}
 */
export function spansIn(records) {
  /** @type {Span[]} */
  const spans = [];
  for (const { property, old, new: fresh, date } of records) {
    if (property !== 'selections' && property !== 'picks') continue;
    const ground = property === 'picks' ? 'pick' : 'selection';
    const open = spans.find((one) => one.client === old && one.ground === ground && one.to === null);
    if (old && open) open.to = date;
    if (fresh) spans.push({ client: fresh, ground, from: date, to: null });
  }
  return spans;
}

/**
 * Since when clients with full access have it.
 * @param {App} app
 * @param {any[]} records who can see a photo
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, string>>} a date by client
 */
export async function fullSince(app, records, signal) {
  const full = records.filter(({ ground }) => ground === 'everything').slice(0, clientLimit);
  const dates = await Promise.all(full.map(async ({ client, token }) => {
    const path = `/v1/clients/${encodeURIComponent(client)}/access`;
    const answer = await app.client.ask('GET', path, { query: { at: token, limit: pageSize }, signal });
    const interval = answer.records.find((/** @type {any} */ one) => one.ground === 'everything');
    return /** @type {[string, string]} */ ([client, interval?.from.date ?? '']);
  }));
  return new Map(dates.filter(([, date]) => date !== ''));
}

/**
 * Who can see a photo and since when, and for whom it was selected before, as a list.
 * @param {any[]} records
 * @param {Span[]} spans
 * @param {Map<string, string>} since of clients with full access
 */
export function accessList(records, spans, since) {
  const former = spans.filter(({ to }) => to !== null);
  const nobody = records.length === 0 && h('p', null, t('access.nobody'));
  if (nobody && former.length === 0) return nobody;
  const grounds = new Set(['everything', 'selection', 'ownCollection', 'pick']);
  const line = (/** @type {string} */ client, /** @type {string} */ ground, /** @type {string | null} */ time) => h('li', null,
    h('p', { dir: 'auto', title: client }, clientName(client)),
    h('p', { class: 'soft' }, time === null ? ground : `${ground}, ${time}`));
  const now = records.map(({ client, ground }) => {
    const from = since.get(client)
      ?? spans.find((one) => one.client === client && one.ground === ground && one.to === null)?.from;
    return line(client, grounds.has(ground) ? t(`access.${ground}`) : ground,
      from ? t('privacy.fromNow', { from: instant(from) }) : null);
  });
  return h('div', null, nobody, h('ul', { class: 'viewer-list' }, ...now,
    ...former.map(({ client, ground, from, to }) => line(client,
      t(ground === 'pick' ? 'access.pick' : 'access.selection.former'),
      t('privacy.fromTo', { from: instant(from), to: instant(to ?? from) })))));
}
