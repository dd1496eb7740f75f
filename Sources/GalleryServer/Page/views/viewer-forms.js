// The forms of the information panel: date and place of a photo.
//
// A form gives the fields of one `asset.edit`, or nothing if it is given up. Escape gives a form up and leaves the
// viewer.

import { edited, knownOffsets, offsetText, stamp, whenRead } from '../model/wall-time.js';
import { locale, number, t } from '../text/text.js';
import { h } from './dom.js';

/**
 * The choice of an offset.
 * @param {number | null} offset
 * @param {Record<string, any>} attributes
 */
export function offsetChoice(offset, attributes) {
  const known = offset === null || knownOffsets.includes(offset)
    ? knownOffsets : [...knownOffsets, offset].sort((one, other) => one - other);
  return h('select', attributes,
    h('option', { value: '', '.selected': offset === null }, t('date.noOffset')),
    ...known.map((one) => h('option', { value: String(one), '.selected': one === offset }, `UTC${offsetText(one)}`)));
}

/**
 * The wall time of a photo in words, and its offset, or the name of the reader's time zone if it is by the reader's
 * clock; null without a date.
 * @param {any} asset
 */
export function dateInWords(asset) {
  const { instant, wall, offset, isReaders } = whenRead(asset);
  if (Number.isNaN(wall)) return null;
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium', timeZone: 'UTC' });
  return { date: format.format(wall), zone: isReaders ? zoneName(instant)
    : offset === null ? t('date.noOffset') : `UTC${offsetText(offset)}` };
}

/**
 * The name of the reader's time zone at an instant.
 * @param {number} instant
 */
function zoneName(instant) {
  const parts = new Intl.DateTimeFormat(locale, { timeZoneName: 'long' }).formatToParts(instant);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/**
 * A place in words.
 * @param {{ latitude: number, longitude: number, altitude: number | null }} location
 */
export function placeInWords({ latitude, longitude, altitude }) {
  const degrees = new Intl.NumberFormat(locale, { minimumFractionDigits: 5, maximumFractionDigits: 5 });
  const place = t('place.words', {
    latitude: degrees.format(Math.abs(latitude)), north: t(latitude < 0 ? 'place.south' : 'place.north'),
    longitude: degrees.format(Math.abs(longitude)), east: t(longitude < 0 ? 'place.west' : 'place.east'),
  });
  return altitude === null || altitude === undefined ? place
    : `${place}, ${t('place.altitude', { metres: number(Math.round(altitude)) })}`;
}

/**
 * @param {(Node | false)[]} fields
 * @param {{ save: () => Promise<unknown>, cancel: () => void, extra?: Node | null, label: string }} options
 */
function form(fields, { save, cancel, extra, label }) {
  return h('form', { class: 'viewer-form', 'aria-label': label, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    save();
  }, onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    cancel();
  } }, ...fields, h('div', { class: 'viewer-buttons' },
    h('button', { class: 'button main', type: 'submit' }, t('viewer.save')),
    h('button', { class: 'button', type: 'button', onclick: cancel }, t('action.cancel')), extra ?? null));
}

/**
 * @typedef {object} FormOptions
 * @property {(fields: Record<string, unknown>, done: string) => Promise<boolean>} save
 * @property {() => void} close
 */

/**
 * The form for date, time and offset.
 * @param {any} asset
 * @param {FormOptions} options
 */
export function dateForm(asset, { save, close }) {
  const { wall, offset } = whenRead(asset);
  const text = Number.isNaN(wall) ? '' : stamp(wall) ?? '';
  const [day = '', time = ''] = text.split('T');
  const date = h('input', { type: 'date', required: true, min: '0001-01-01', max: '9999-12-31', '.value': day,
    autofocus: true });
  const clock = h('input', { type: 'time', required: true, step: 1, '.value': time.slice(0, 8) });
  const zone = offsetChoice(offset, {});
  const problem = h('p', { class: 'viewer-problem', role: 'alert' });
  const submit = async () => {
    // Browsers leave seconds out that are zero. A fraction of a second stays if the time was not changed.
    const shown = clock.value.length === 5 ? `${clock.value}:00` : clock.value;
    const isSame = shown.slice(0, 8) === time.slice(0, 8);
    const fields = edited(Date.parse(`${date.value}T${isSame ? time : shown}Z`), zone.value === '' ? null
      : Number(zone.value));
    if (!fields) problem.textContent = t('date.invalid');
    else if (await save(fields, t('done.date'))) close();
  };
  const remove = h('button', { class: 'button', type: 'button', onclick: async () => {
    const fields = { creationDate: null, localCreationDate: null, timeZoneOffset: null };
    if (await save(fields, t('done.dateRemoved'))) close();
  } }, t('date.remove'));
  return form([
    h('label', { class: 'field' }, t('date.day'), date), h('label', { class: 'field' }, t('date.time'), clock),
    h('label', { class: 'field' }, t('date.offset'), zone), problem,
  ], { save: submit, cancel: close, extra: text === '' ? null : remove, label: t('date.edit') });
}

/**
 * The form for a place.
 * @param {any} asset
 * @param {FormOptions} options
 */
export function placeForm(asset, { save, close }) {
  const { location } = asset;
  const input = (/** @type {number | null | undefined} */ value, /** @type {Record<string, any>} */ more) =>
    h('input', { type: 'number', step: 'any', inputmode: 'decimal', '.value': value ?? '', ...more });
  const latitude = input(location?.latitude, { min: -90, max: 90, required: true, autofocus: true });
  const longitude = input(location?.longitude, { min: -180, max: 180, required: true });
  const altitude = input(location?.altitude, {});
  // Maps give both at once: "54.43, 11.19".
  latitude.addEventListener('paste', (event) => {
    const found = /^\s*(-?\d+(?:\.\d+)?)°?\s*[,;\s]\s*(-?\d+(?:\.\d+)?)°?\s*$/.exec(
      event.clipboardData?.getData('text') ?? '');
    if (!found) return;
    event.preventDefault();
    latitude.value = found[1];
    longitude.value = found[2];
  });
  const submit = async () => {
    const place = { latitude: latitude.valueAsNumber, longitude: longitude.valueAsNumber };
    const fields = { location: altitude.value === '' ? place : { ...place, altitude: altitude.valueAsNumber } };
    if (await save(fields, t('done.place'))) close();
  };
  const remove = h('button', { class: 'button', type: 'button', onclick: async () => {
    if (await save({ location: null }, t('done.placeRemoved'))) close();
  } }, t('place.remove'));
  return form([
    h('label', { class: 'field' }, t('place.latitude'), latitude),
      h('label', { class: 'field' }, t('place.longitude'), longitude),
    h('label', { class: 'field' }, t('place.altitudeMetres'), altitude),
  ], { save: submit, cancel: close, extra: location ? remove : null, label: t('place.edit') });
}
