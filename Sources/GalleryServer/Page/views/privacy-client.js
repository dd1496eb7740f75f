// What is known of one client: its selection, keys, share link, and what it could see from when to when.

import { messageOf } from '../model/failures.js';
import { instant, t } from '../text/text.js';
import { choosePhotos } from './chooser.js';
import { confirmed } from './dialog.js';
import { fill, h } from './dom.js';
import { clientName } from './client-names.js';
import { itemsOf, thumbChoice } from './thumbs.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./privacy.js').Client} Client */

/**
 * @typedef {object} Interval
 * @property {'everything' | 'selection' | 'ownCollection' | 'pick'} ground
 * @property {string | null} object
 * @property {{ token: string, date: string }} from
 * @property {{ token: string, date: string } | null} to
 */

/** How many records an answer holds, and how many answers are read. */
const pageSize = 1000;
const pageLimit = 20;
/** How many photos are shown at once. */
const shownAtOnce = 64;

/**
 * Everything that a client could see, from when to when; of very many, the first ones.
 * @param {App} app
 * @param {string} client
 * @param {AbortSignal} signal
 * @returns {Promise<{ intervals: Interval[], isComplete: boolean }>}
 */
async function intervalsOf(app, client, signal) {
  /** @type {Interval[]} */
  const intervals = [];
  let start = 0;
  for (let page = 0; page < pageLimit; page += 1) {
    const path = `/v1/clients/${encodeURIComponent(client)}/access`;
    const answer = await app.client.ask('GET', path, { query: { start, limit: pageSize }, signal });
    intervals.push(...answer.records);
    if (answer.next === null) return { intervals, isComplete: true };
    start = Number(answer.next);
  }
  return { intervals, isComplete: false };
}

/**
 * Shows what is known of a client.
 * @param {App} app
 * @param {Client} client
 * @param {HTMLElement} place
 * @param {AbortSignal} signal
 * @param {() => Promise<void>} changed
 */
export async function clientDetails(app, client, place, signal, changed) {
  fill(place, h('p', { role: 'status' }, t('state.loading')));
  try {
    const [access, { keys }, { shares }, { origins }] = await Promise.all([intervalsOf(app, client.name, signal),
      app.client.ask('GET', '/v1/keys', { signal }), app.client.ask('GET', '/v1/shares', { signal }),
      app.client.ask('GET', originsPath(client.name), { signal })]);
    fill(place, ...await selectionPart(app, client, access.intervals, signal, changed), ...accessPart(access),
      ...keysPart(app, keys.filter((/** @type {any} */ key) => key.client === client.name), changed),
      ...sharesPart(app, shares.filter((/** @type {any} */ share) => share.client === client.name), changed),
      ...originsPart(app, client.name, origins, changed),
      h('h4', null, t('privacy.end')), h('p', { class: 'soft' }, t('privacy.withdraw.sentence')),
      h('button', { class: 'button grave', 'data-act': 'withdraw', onclick: () => withdraw(app, client.name, changed) },
        t('privacy.withdraw')));
  } catch (error) {
    if (signal.aborted) return;
    fill(place, h('p', { class: 'problem', role: 'alert' }, messageOf(error)),
      h('button', { class: 'button', onclick: () => clientDetails(app, client, place, signal, changed) },
        t('action.retry')));
  }
}

/**
 * The photos of a selection, to be added to and taken away.
 * @param {App} app
 * @param {Client} client
 * @param {Interval[]} intervals
 * @param {AbortSignal} signal
 * @param {() => Promise<void>} changed
 */
async function selectionPart(app, client, intervals, signal, changed) {
  const { name } = client;
  // A selection that is kept while everything may be seen is not told as intervals.
  const ids = intervals.filter((one) => one.ground === 'selection' && one.to === null && one.object !== null)
    .map((one) => /** @type {string} */ (one.object));
  const act = h('button', { class: 'button', disabled: true, 'data-act': 'narrow', onclick: async () => {
    const assets = [...choice.chosen].map((id) => id.split('/')[0]);
    if (await app.commit([{ op: 'client.withdraw', client: name, assets }],
      t('privacy.done.narrow', { count: assets.length, name: clientName(name) }),
        { cause: 'privacy page' })) await changed();
  } }, t('privacy.narrow'));
  const choice = thumbChoice(app, t('privacy.selection'), (chosen) => { act.disabled = chosen.size === 0; });
  const add = h('button', { class: 'button', 'data-act': 'widen', onclick: async () => {
    add.disabled = true;
    try {
      const assets = await choosePhotos(app, t('request.choose', { name: clientName(name) }),
        t('privacy.widen.sentence'), t('request.choose.act'));
      if (assets && await app.commit([{ op: 'client.grant', client: name, assets }],
        t('privacy.done.widen', { count: assets.length, name: clientName(name) }),
          { cause: 'privacy page' })) await changed();
    } catch (error) {
      app.notices.fail(error);
    } finally {
      add.disabled = false;
    }
  } }, t('privacy.widen'));
  let shown = 0;
  const gone = h('p', { class: 'soft', hidden: true });
  const more = async () => {
    button.disabled = true;
    try {
      const part = ids.slice(shown, shown + shownAtOnce);
      const items = await itemsOf(app.client, part, { signal });
      for (const id of part) {
        const item = items.get(id);
        if (item) choice.add(item);
      }
      shown += part.length;
      button.hidden = shown >= ids.length;
      const missing = shown - choice.element.childElementCount;
      gone.hidden = missing === 0;
      gone.textContent = t('privacy.selection.gone', { count: missing });
    } catch (error) {
      if (!signal.aborted) app.notices.fail(error);
    } finally {
      button.disabled = false;
    }
  };
  const button = h('button', { class: 'button', onclick: more }, t('history.more'));
  await more();
  return [h('h4', null, t('privacy.selection')),
    h('p', { class: 'soft' }, t(client.authorizationStatus.readWrite === 'limited' ? 'privacy.selection.sentence'
      : 'privacy.selection.unused')),
    choice.element, gone, h('div', { class: 'entry-actions' }, button, add, ids.length > 0 ? act : null)];
}

/**
 * What a client could see, from when to when: photos of one stretch of time in one line.
 * @param {{ intervals: Interval[], isComplete: boolean }} access
 */
function accessPart({ intervals, isComplete }) {
  /** @type {Map<string, { one: Interval, count: number }>} */
  const lines = new Map();
  for (const one of intervals) {
    // The library's own smart albums, which everybody has, say nothing.
    if (one.ground === 'ownCollection') continue;
    const key = `${one.ground} ${one.from.token} ${one.to?.token}`;
    const line = lines.get(key);
    if (line) line.count += 1;
    else lines.set(key, { one, count: 1 });
  }
  const shown = [...lines.values()].sort((a, b) => Date.parse(b.one.from.date) - Date.parse(a.one.from.date));
  return [h('h4', null, t('privacy.saw')), shown.length === 0 ? h('p', { class: 'soft' }, t('privacy.saw.nothing'))
    : h('ul', { class: 'intervals' }, ...shown.slice(0, 200).map(({ one: { ground, from, to }, count }) => h('li', null,
      h('strong', null, t(`privacy.ground.${ground}`, { count })), ' ',
      to ? t('privacy.fromTo', { from: instant(from.date), to: instant(to.date) })
        : t('privacy.fromNow', { from: instant(from.date) })))),
  isComplete && shown.length <= 200 ? null : h('p', { class: 'soft' }, t('undo.notAll'))];
}

/**
 * @param {App} app
 * @param {any[]} keys
 * @param {() => Promise<void>} changed
 */
function keysPart(app, keys, changed) {
  return [h('h4', null, t('privacy.keys')), keys.length === 0 ? h('p', { class: 'soft' }, t('privacy.keys.none'))
    : h('ul', { class: 'lines' }, ...keys.map((key) => h('li', null,
      h('span', { dir: 'auto' }, key.person ? t('people.key.session', { person: key.person })
        : key.label || key.name), ' ',
      h('span', { class: 'soft' }, t('people.key.dates', { created: instant(key.created),
        expires: instant(key.expires) })), ' ',
      h('button', {
        class: 'button', 'aria-label': t('people.key.withdrawOf', { name: key.label || key.person || key.name }),
        onclick: () => end(app, `/v1/keys/${encodeURIComponent(key.name)}`, t('people.key.withdrawn'), changed),
      }, t('people.withdraw')))))];
}

/**
 * @param {App} app
 * @param {any[]} shares
 * @param {() => Promise<void>} changed
 */
function sharesPart(app, shares, changed) {
  if (shares.length === 0) return [];
  return [h('h4', null, t('people.shares')), h('ul', { class: 'lines' },
    ...shares.map((share) => h('li', null, h('bdi', null, share.title), ' ',
    h('span', { class: 'soft' }, share.expires
      ? t(share.isExpired ? 'people.share.expired' : 'people.share.until', { date: instant(share.expires) })
      : t('people.share.forever')), ' ',
    h('button', { class: 'button', onclick: () => end(app, `/v1/shares/${encodeURIComponent(share.name)}`,
      t('people.share.ended'), changed) },
      t('people.share.end')))))];
}

/** @param {string} client */
const originsPath = (client) => `/v1/clients/${encodeURIComponent(client)}/origins`;

/**
 * The origins whose pages may show the client's pickers in a frame.
 * @param {App} app
 * @param {string} client
 * @param {string[]} origins
 * @param {() => Promise<void>} changed
 */
function originsPart(app, client, origins, changed) {
  if (origins.length === 0) return [];
  return [h('h4', null, t('privacy.origins')), h('p', { class: 'soft' }, t('privacy.origins.sentence')),
    h('ul', { class: 'lines' }, ...origins.map((origin) => h('li', null, h('bdi', null, origin), ' ',
      h('button', {
        class: 'button', 'data-origin': origin, 'aria-label': t('privacy.origins.withdraw', { origin }),
        onclick: async () => {
          try {
            await app.client.ask('PATCH', originsPath(client), { json: { withdraw: [origin] } });
            app.notices.show(t('privacy.origins.withdrawn'));
            await changed();
          } catch (error) {
            app.notices.fail(error);
          }
        },
      }, t('people.withdraw')))))];
}

/**
 * Ends a key or a share link.
 * @param {App} app
 * @param {string} path
 * @param {string} done
 * @param {() => Promise<void>} changed
 */
export async function end(app, path, done, changed) {
  try {
    await app.client.ask('DELETE', path);
    app.notices.show(done);
    await changed();
  } catch (error) {
    app.notices.fail(error);
  }
}

/**
 * @param {App} app
 * @param {string} name
 * @param {() => Promise<void>} changed
 */
async function withdraw(app, name, changed) {
  const isSure = await confirmed(t('privacy.withdraw.title', { name: clientName(name) }), t('privacy.withdraw.sure'),
    t('privacy.withdraw'),
    { isGrave: true });
  if (!isSure) return;
  await end(app, `/v1/clients/${encodeURIComponent(name)}`, t('privacy.withdrawn', { name: clientName(name) }), changed);
}
