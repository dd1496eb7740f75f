// What can be done with albums, smart albums and folders: each is one commit, with a notice that takes it back.
//
//   menuOf       the choices for one collection, as a dialog of buttons
//   newAlbum …   ask for what they need, then commit
//
// A move is wanted by what is shown, and the server counts its indexes in the order of the moment. So the order is read
// again before one is sent, and the indexes are those of the same albums in it.

import { Problem } from '../client/photoledger.js';
import { Collections } from '../model/collections.js';
import { messageOf } from '../model/failures.js';
import { instant, t } from '../text/text.js';
import { askText } from './actions.js';
import { pathOf, titleOf } from './album-cards.js';
import { clientName, learnNames } from './client-names.js';
import { confirmed, showDialog } from './dialog.js';
import { fill, h, uniqueName } from './dom.js';
import { icon } from './icons.js';
import { later } from './later.js';
import { causeWords } from './log-words.js';
import { commitMove } from './moving.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../model/collections.js').Collection} Collection */

/**
 * The words and fields of the operations on one kind of collection.
 * @type {Record<Collection['kind'], { field: string, fields: string }>}
 */
const operations = {
  album: { field: 'album', fields: 'albums' },
  smartAlbum: { field: 'smartAlbum', fields: 'smartAlbums' },
  folder: { field: 'folder', fields: 'folders' },
};

/**
 * Whether a session may change albums.
 * @param {App} app
 */
export const mayChange = (app) => app.session.scopes.includes('owner') || app.session.scopes.includes('change');

/**
 * Asks for a title; empty ones are refused with a notice.
 * @param {App} app
 * @param {string} heading
 * @param {string} action
 * @param {string} [value]
 */
async function askTitle(app, heading, action, value = '') {
  const title = await askText(heading, t('albums.title'), action, { value });
  if (title !== '') return title;
  app.notices.show(t('albums.noTitle'), { isError: true });
  return undefined;
}

/**
 * The operations that make a collection in a folder.
 * @param {object} creation
 * @param {string | null} folder
 */
const madeIn = (creation, folder) => [{ ...creation, as: '$new' },
  ...folder === null ? [] : [{ op: 'folder.add', folder, collections: ['$new'] }]];

/**
 * Makes an album or a folder.
 * @param {App} app
 * @param {'album' | 'folder'} kind
 * @param {string | null} folder where
 * @returns {Promise<string | undefined>} its identifier
 */
export async function makeCollection(app, kind, folder) {
  const title = await askTitle(app, t(`albums.new.${kind}`), t('action.create'));
  if (title === undefined) return undefined;
  const receipt = await app.commit(madeIn({ op: `${kind}.create`, title }, folder), t('done.created', { title }));
  return receipt?.created[0]?.split('/')[0];
}

/** The orders that a smart album can have. */
const orders = ['', 'creationDate:desc', 'creationDate:asc', 'addedDate:desc', 'modificationDate:desc', 'rating:desc'];

/**
 * Makes a smart album. What the server says of a predicate stands beside the field.
 * @param {App} app
 * @param {string | null} folder where
 * @param {string} [where] the predicate to begin with
 * @returns {Promise<string | undefined>} its identifier
 */
export function makeSmartAlbum(app, folder, where = '') {
  return showDialog(t('albums.new.smartAlbum'), (close) => {
    const name = uniqueName('predicate');
    const title = h('input', { type: 'text', required: true, maxlength: 1000, autofocus: true });
    const predicate = h('textarea', {
      rows: 3, spellcheck: 'false', autocapitalize: 'off', '.value': where, dir: 'ltr', class: 'code',
      'aria-describedby': name,
    });
    const problem = h('p', { class: 'problem', id: name, role: 'alert' });
    const order = h('select', null,
      ...orders.map((value) => h('option', { value }, t(`albums.order.${value || 'none'}`))));
    const hidden = h('input', { type: 'checkbox' });
    const button = h('button', { class: 'button main', type: 'submit' }, t('action.create'));
    const refuse = (/** @type {string} */ sentence) => {
      fill(problem, sentence);
      predicate.setAttribute('aria-invalid', 'true');
      predicate.focus();
    };
    const submit = async () => {
      fill(problem);
      predicate.removeAttribute('aria-invalid');
      const wanted = title.value.trim();
      if (wanted === '') {
        fill(problem, t('albums.noTitle'));
        title.focus();
        return;
      }
      const asked = predicate.value.trim();
      const parts = { ...asked === '' ? {} : { where: asked }, ...order.value === '' ? {} : { sort: [order.value] } };
      button.disabled = true;
      let isFound = false;
      try {
        // Asked first: what is wrong with the predicate stands beside its field.
        await app.client.openFetch(parts);
        isFound = true;
        const receipt = await app.commit(madeIn({
          op: 'smartAlbum.create', title: wanted, ...parts, ...hidden.checked ? { includesHidden: true } : {},
        }, folder), t('done.created', { title: wanted }), { throws: true });
        if (receipt) close(receipt.created[0]?.split('/')[0]);
      } catch (error) {
        if (isFound) fill(problem, messageOf(error));
        else refuse(messageOf(error));
      } finally {
        button.disabled = false;
      }
    };
    return [h('form', { class: 'smart-album', onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      submit();
    } },
    h('label', { class: 'field' }, t('albums.title'), title),
    h('label', { class: 'field' }, t('albums.predicate'), predicate),
    h('p', { class: 'soft' }, t('albums.predicateHint')), problem,
    h('label', { class: 'field' }, t('albums.order'), order),
    h('label', { class: 'check' }, hidden, h('span', null, t('albums.includesHidden'))),
    h('div', { class: 'dialog-actions' },
      h('button', { class: 'button', type: 'button', onclick: () => close() }, t('action.cancel')), button))];
  });
}

/**
 * Gives a collection another title.
 * @param {App} app
 * @param {Collection} one
 */
export async function rename(app, one) {
  const title = await askTitle(app, t(`albums.rename.${one.kind}`), t('action.rename'), one.title);
  if (title === undefined || title === one.title) return false;
  return await app.commit([{ op: `${one.kind}.rename`, [operations[one.kind].field]: one.id, title }],
    t('done.renamed', { title })) !== null;
}

/**
 * Deletes a collection.
 * @param {App} app
 * @param {Collection} one
 */
export async function remove(app, one) {
  const title = titleOf(one);
  const isSure = await confirmed(t('albums.delete.title', { title }), t(`albums.delete.${one.kind}`),
    t('action.delete'), { isGrave: true });
  if (!isSure) return false;
  return await app.commit([{ op: `${one.kind}.delete`, [operations[one.kind].fields]: [one.id] }],
    t('done.deleted', { title })) !== null;
}

/**
 * Lets the first photo of an album stand for it again.
 * @param {App} app
 * @param {Collection} one
 */
const uncover = async (app, one) =>
  await app.commit([{ op: 'album.cover', album: one.id, asset: null }], t('done.uncover')) !== null;

/**
 * Puts a collection into a folder, or to the top level.
 * @param {App} app
 * @param {Collection} one
 * @param {Collection | null} folder
 */
export async function putInto(app, one, folder) {
  const place = folder ? titleOf(folder) : t('albums.top');
  return await app.commit([{ op: 'folder.add', folder: folder?.id ?? null, collections: [one.id] }],
    t('done.moved', { title: titleOf(one), place })) !== null;
}

/**
 * Asks for a folder and puts a collection into it.
 * @param {App} app
 * @param {Collection} one
 */
export async function chooseFolder(app, one) {
  const tree = await Collections.read(app.client);
  const folders = [...tree.walk()].filter((other) => other.kind === 'folder' && !tree.isIn(other.id, one.id));
  /** @type {Collection | null | undefined} */
  const chosen = await showDialog(t('albums.into.title', { title: titleOf(one) }), (close) => [
    h('ul', { class: 'choices' },
      h('li', null, h('button', { class: 'button', disabled: one.parent === null, onclick: () => close(null) },
        icon('album'), t('albums.top'))),
      ...folders.map((folder) => h('li', null, h('button', {
        class: 'button', dir: 'auto', disabled: folder.id === one.parent, onclick: () => close(folder),
      }, icon('folder'), h('span', null, pathOf(tree, folder)))))),
    folders.length === 0 ? h('p', { class: 'soft' }, t('albums.noFolders')) : '',
  ]);
  return chosen === undefined ? false : putInto(app, one, chosen);
}

/**
 * Puts a collection before the one that has a place now.
 * @param {App} app
 * @param {Collection} one
 * @param {Collection[]} shown the order that the place counts in
 * @param {number} before
 */
export async function moveTo(app, one, shown, before) {
  const next = shown[before]?.id ?? null;
  const counted = async () => {
    const answer = await app.client.ask('GET', '/v1/collections', { query: { folder: one.parent } });
    const now = answer.collections.map((/** @type {any} */ record) => String(record.localIdentifier).split('/')[0]);
    const from = now.indexOf(one.id);
    const at = next === null ? now.length : now.indexOf(next);
    return from < 0 || at < 0 ? null : { from, to: at > from ? at - 1 : at };
  };
  const operation = (/** @type {{ from: number, to: number }} */ { from, to }) =>
    ({ op: 'folder.moveAt', folder: one.parent, indexes: [from], to, expectedMembers: [one.id], expectedNext: next });
  try {
    const place = await counted();
    if (!place) {
      app.notices.show(t('albums.changed'), { isError: true });
      return true;
    }
    if (place.to === place.from) return false;
    return await commitMove(app, operation(place), async () => {
      const now = await counted();
      return now && now.to !== now.from ? operation(now) : null;
    }, t('done.ordered', { title: titleOf(one) })) !== null;
  } catch (error) {
    app.notices.fail(error);
    return false;
  }
}

/**
 * A line that says what a smart album shows.
 * @param {Collection} one
 */
export const predicateOf = (one) => one.predicate === null ? null
  : h('p', { class: 'predicate' }, t('albums.shows'), ' ', h('code', { dir: 'ltr' }, one.predicate));

/**
 * Shows what can be done with a collection, and does what is chosen.
 * @param {App} app
 * @param {Collection} one
 * @param {Collection[]} [siblings] the order that it stands in, where it can be changed
 * @returns {Promise<string | null>} what was done; null if nothing
 */
export async function menuOf(app, one, siblings) {
  const place = siblings?.findIndex((other) => other.id === one.id) ?? -1;
  const last = (siblings?.length ?? 0) - 1;
  /** @type {[string, string, boolean, () => Promise<boolean | void>][]} */
  const choices = mayChange(app) ? [
    ['rename', 'edit', true, () => rename(app, one)],
    ['into', 'folder', true, () => chooseFolder(app, one)],
    ['first', 'back', place > 0, () => moveTo(app, one, siblings ?? [], 0)],
    ['earlier', 'back', place > 0, () => moveTo(app, one, siblings ?? [], place - 1)],
    ['later', 'forward', place >= 0 && place < last, () => moveTo(app, one, siblings ?? [], place + 2)],
    ['last', 'forward', place >= 0 && place < last, () => moveTo(app, one, siblings ?? [], last + 1)],
    ['uncover', 'album', one.cover !== null, () => uncover(app, one)],
    ['delete', 'trash', true, () => remove(app, one)],
  ] : [];
  if (app.isOwner && one.kind === 'album') {
    choices.unshift(['share', 'link', true,
      async () => (await later(app, () => import('./share-making.js'))).shareAlbum(app, one)]);
  }
  if (app.isOwner && one.kind !== 'smartAlbum') choices.push(['blame', 'people', true, () => showBlame(app, one)]);
  const there = choices.filter(([, , isThere]) => isThere);
  const chosen = await showDialog(titleOf(one), (close) => [
    predicateOf(one) ?? '',
    h('ul', { class: 'choices' }, ...there.map(([name, picture], at) => h('li', null, h('button', {
      class: 'button', 'data-choice': name, autofocus: at === 0, onclick: () => close(name),
    }, icon(picture), t(`albums.do.${name}`)))))]);
  const found = choices.find(([name]) => name === chosen);
  if (!found) return null;
  try {
    return await found[3]() ? found[0] : null;
  } catch (error) {
    app.notices.fail(error);
    return null;
  }
}

/**
 * Shows who put each member in, and who took out what is not there any more.
 * @param {App} app
 * @param {Collection} one
 */
export function showBlame(app, one) {
  return showDialog(t('blame.title', { title: titleOf(one) }), () => {
    const rows = h('tbody');
    const table = h('table', { class: 'blame' }, h('thead', null, h('tr', null,
      ...['member', 'who', 'when', 'why'].map((name) => h('th', { scope: 'col' }, t(`blame.${name}`))))), rows);
    const state = h('p', { class: 'soft', role: 'status' });
    const former = h('input', { type: 'checkbox', onchange: () => begin() });
    /** @type {number | null} */
    let next = 0;
    const more = h('button', { class: 'button', hidden: true, onclick: () => read() }, t('blame.more'));
    const read = async () => {
      const wanted = former.checked;
      more.hidden = true;
      fill(state, t('state.loading'));
      try {
        const answer = await app.client.ask('GET', `/v1/collections/${encodeURIComponent(one.id)}/blame`,
          { query: { start: next, former: wanted || undefined } });
        if (wanted !== former.checked) return;
        next = answer.next;
        await learnNames(app, answer.records.flatMap((/** @type {any} */ one) => [one.added?.client, one.removed?.client]));
        rows.append(...answer.records.map(row));
        fill(state, rows.childElementCount === 0 ? t('blame.none') : '');
        more.hidden = next === null;
      } catch (error) {
        const isGone = error instanceof Problem && error.status === 404;
        fill(state, isGone ? t('albums.gone') : messageOf(error));
        more.hidden = false;
      }
    };
    const begin = () => {
      next = 0;
      fill(rows);
      read();
    };
    begin();
    return [h('label', { class: 'check' }, former, h('span', null, t('blame.former'))),
      h('div', { class: 'wide' }, table), state, more];
  }, { class: 'dialog large' });
}

/**
 * A line of the table: who put a member in, or took it out.
 * @param {any} record
 */
function row(record) {
  const { added, removed, isPresent } = record;
  const act = isPresent ? added : removed ?? added;
  const label = String(record.label ?? record.member).replace(/^'(.*)'$/s, '$1');
  return h('tr', { class: isPresent ? null : 'former' },
    h('td', null, h('span', { dir: 'auto' }, label),
      isPresent ? null : h('span', { class: 'soft' }, ` – ${t('blame.removed')}`)),
    h('td', { dir: 'auto', title: act?.client }, clientName(act?.client ?? '')), h('td', null, act?.date ? instant(act.date) : ''),
    h('td', { dir: 'auto' }, causeWords(act?.cause ?? '')));
}
