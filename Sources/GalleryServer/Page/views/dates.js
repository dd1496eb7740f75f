// Shifts the dates of photos, or gives them a time zone: a clock that was set wrong, a camera that did not travel.
//
// The dates differ, so the block has one edit for each photo. What comes of the first photo is shown before anything
// is done.

import { edited, editedInstant, offsetText, whenRead } from '../model/wall-time.js';
import { locale, t } from '../text/text.js';
import { showDialog } from './dialog.js';
import { fill, h } from './dom.js';
import { offsetChoice } from './viewer-forms.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */
/** @typedef {{ creationDate: string | null, localCreationDate: string | null }} Dates */
/** @typedef {Dates & { localIdentifier: string }} Dated */

/** How many assets a window holds, and how many are asked for one by one at a time. */
const windowSize = 1000;
const atOnce = 4;

/**
 * @typedef {object} Shift
 * @property {number} by milliseconds
 * @property {number | null | undefined} offset seconds; null for none, undefined to leave it
 * @property {boolean} keepsClock whether the wall time stays when the offset changes, rather than the instant
 */

/**
 * The dates of assets: those of the selection by windows, others one by one.
 * @param {App} app
 * @param {string[]} ids
 * @param {Grid} grid
 * @returns {Promise<Dated[]>}
 */
async function datesOf(app, ids, grid) {
  const { fetch, token } = grid.list;
  const ranges = grid.selection.ranges.map(([first, end]) => [first, end]);
  const wanted = new Set(ids);
  /** @type {Map<string, Dated>} */
  const found = new Map();
  for (const [first, end] of ranges) {
    for (let at = first; at < end; at += windowSize) {
      const query = { token, start: at, count: Math.min(windowSize, end - at) };
      const { items } = await app.client.ask('GET', `/v1/fetches/${encodeURIComponent(fetch)}/items`, { query });
      for (const asset of items) if (wanted.has(asset.localIdentifier)) found.set(asset.localIdentifier, asset);
    }
  }
  const rest = ids.filter((id) => !found.has(id));
  let next = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next < rest.length) {
      const asset = await app.client.asset(rest[next++]);
      found.set(asset.localIdentifier, asset);
    }
  }));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * The fields of the edit that shifts an asset; null if the date cannot be written, undefined if nothing is to be done.
 * Where there is only an instant, that alone is shifted unless a time zone is chosen: the clock is the reader's.
 * @param {Dated} asset
 * @param {Shift} shift
 */
function shifted(asset, { by, offset, keepsClock }) {
  const before = whenRead(asset);
  if (Number.isNaN(before.wall)) return undefined;
  if (before.isReaders && offset === undefined) return by === 0 ? undefined : editedInstant(before.instant + by);
  const to = offset === undefined ? before.offset : offset;
  const turn = keepsClock ? 0 : ((to ?? 0) - (before.offset ?? 0)) * 1000;
  if (by === 0 && turn === 0 && to === before.offset) return undefined;
  return edited(before.wall + by + turn, to);
}

/**
 * The wall time of an asset with its offset, or by the reader's clock without one.
 * @param {Dates & { timeZoneOffset?: number | null }} asset an edit has its offset beside its dates
 */
function words(asset) {
  const { wall, offset: read, isReaders } = whenRead(asset);
  const offset = isReaders ? null : asset.timeZoneOffset ?? read;
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
  return `${format.format(wall)} ${offset === null ? '' : `UTC${offsetText(offset)}`}`.trim();
}

/**
 * Asks how to shift the dates of assets, and does it.
 * @param {App} app
 * @param {string[]} ids
 * @param {Grid} grid
 * @returns {Promise<boolean>} whether it was done
 */
export async function shiftDates(app, ids, grid) {
  const assets = await datesOf(app, ids, grid);
  const dated = assets.filter((asset) => !Number.isNaN(whenRead(asset).wall));
  if (dated.length === 0) {
    app.notices.show(t('dates.none'), { isError: true });
    return false;
  }
  /** @type {Shift | undefined} */
  const shift = await showDialog(t('dates.title', { count: dated.length }),
    (close) => dialogContent(dated, assets.length, close));
  if (!shift) return false;
  const operations = dated.flatMap((asset) => {
    const fields = shifted(asset, shift);
    return fields ? [{ op: 'asset.edit', assets: [asset.localIdentifier.split('/')[0]], ...fields }] : [];
  });
  return await app.commit(operations, t('done.dates', { count: operations.length })) !== null;
}

/**
 * @param {Dated[]} dated
 * @param {number} total
 * @param {(shift?: Shift) => void} close
 */
function dialogContent(dated, total, close) {
  const amount = (/** @type {string} */ name, /** @type {number} */ max, /** @type {boolean} */ isFirst = false) =>
    h('input', {
      type: 'number', min: 0, max, step: 1, inputmode: 'numeric', name, '.value': '0', autofocus: isFirst,
      oninput: () => preview(),
    });
  const [days, hours, minutes] = [amount('days', 400_000, true), amount('hours', 10_000_000),
    amount('minutes', 600_000_000)];
  const direction = h('select', { name: 'direction', onchange: () => preview() },
    h('option', { value: '1' }, t('dates.later')), h('option', { value: '-1' }, t('dates.earlier')));
  const zone = offsetChoice(null, { name: 'zone', onchange: () => preview() });
  zone.prepend(h('option', { value: 'leave', '.selected': true }, t('dates.leaveZone')));
  zone.value = 'leave';
  const keeps = h('select', { name: 'keeps', onchange: () => preview() },
    h('option', { value: 'clock' }, t('dates.keepClock')), h('option', { value: 'moment' }, t('dates.keepMoment')));
  const keepsField = h('label', { class: 'field' }, t('dates.keeps'), keeps);
  const before = h('p', { class: 'dates-before' });
  const after = h('p', { class: 'dates-after' });
  const submit = h('button', { class: 'button main', type: 'submit' }, t('dates.shift'));
  const isValid = () => [days, hours, minutes].every((input) => input.value !== '' && input.validity.valid);
  /** @returns {Shift} */
  const read = () => ({
    by: Number(direction.value) * 60_000 * ((days.valueAsNumber * 24 + hours.valueAsNumber) * 60
      + minutes.valueAsNumber),
    offset: zone.value === 'leave' ? undefined : zone.value === '' ? null : Number(zone.value),
    keepsClock: keeps.value === 'clock',
  });
  const preview = () => {
    const shift = read();
    keepsField.hidden = shift.offset === undefined;
    const all = isValid() ? dated.map((asset) => shifted(asset, shift)) : [null];
    const changes = all.filter((fields) => fields);
    submit.disabled = changes.length === 0 || all.includes(null);
    fill(before, t('dates.before', { date: words(dated[0]) }));
    const fields = all[0];
    fill(after, all.includes(null) ? t('date.invalid')
      : !fields ? t('dates.unchanged') : t('dates.after', { date: words(fields) }));
  };
  preview();
  return [h('form', { method: 'dialog', onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!submit.disabled) close(read());
  } },
  h('div', { class: 'dates-amounts' }, h('label', { class: 'field' }, t('dates.days'), days),
    h('label', { class: 'field' }, t('dates.hours'), hours),
    h('label', { class: 'field' }, t('dates.minutes'), minutes),
    h('label', { class: 'field' }, t('dates.direction'), direction)),
  h('label', { class: 'field' }, t('dates.zone'), zone), keepsField,
  h('div', { class: 'dates-preview', role: 'status' }, h('p', { class: 'soft' }, t('dates.first')), before, after),
  total > dated.length && h('p', { class: 'soft' }, t('dates.undated', { count: total - dated.length })),
  h('div', { class: 'dialog-actions' },
    h('button', { class: 'button', type: 'button', onclick: () => close() }, t('action.cancel')), submit))];
}
