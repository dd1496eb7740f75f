// What can be done with selected photos. Each is one commit, with a notice that takes it back.
//
// An action asks for what it needs (an album, a date), then commits operations for the identifiers of the selection. The
// selection is read at the state that the grid shows, so what arrives meanwhile is not touched.

import { downloadLimit } from '../client/photoledger.js';
import { Selection } from '../model/selection.js';
import { t } from '../text/text.js';
import { preparedDownload, showDialog } from './dialog.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { later } from './later.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./grid.js').Grid} Grid */

/**
 * @typedef {object} Context
 * @property {{ id: string, title: string } | null} album the album whose members are shown
 * @property {Grid} grid
 * @property {{ id: string, isFavorite: boolean }[]} [items] those that it is done with, as they were when they were chosen
 *
 * @typedef {object} Action
 * @property {string} label the phrase of its button
 * @property {string} icon
 * @property {string} [scope] what a key needs for it; `change` if left out
 * @property {number} [limit] how many assets it takes
 * @property {(app: App, ids: string[], context: Context) => Promise<boolean>} run whether it was done
 */

/** How many identifiers a block carries; the server takes 4 MiB. */
export const blockLimit = 80_000;

/**
 * An identifier without what follows the UUID, which PhotoLedger does not need.
 * @param {string} id
 */
export const short = (id) => id.split('/')[0];

/**
 * Commits an operation for many assets.
 * @param {App} app
 * @param {string[]} ids
 * @param {(ids: string[]) => object} operation
 * @param {string} done
 */
async function commitFor(app, ids, operation, done) {
  const blocks = [];
  for (let at = 0; at < ids.length; at += blockLimit) blocks.push([operation(ids.slice(at, at + blockLimit).map(short))]);
  return await app.commitAll(blocks, done) !== null;
}

/** @type {Record<string, Action>} */
export const actions = {
  favorite: {
    label: 'action.favorite', icon: 'heart',
    run: (app, ids, context) => {
      // A property is only removed if all of them have it.
      const isFavorite = !context.items?.every((item) => item.isFavorite);
      return commitFor(app, ids, (assets) => ({ op: 'asset.edit', assets, isFavorite }),
        t(isFavorite ? 'done.favorite' : 'done.unfavorite', { count: ids.length }));
    },
  },
  hide: {
    label: 'action.hide', icon: 'hidden',
    run: (app, ids) => commitFor(app, ids, (assets) => ({ op: 'asset.edit', assets, isHidden: true }),
      t('done.hide', { count: ids.length })),
  },
  unhide: {
    label: 'action.unhide', icon: 'hidden',
    run: (app, ids) => commitFor(app, ids, (assets) => ({ op: 'asset.edit', assets, isHidden: false }),
      t('done.unhide', { count: ids.length })),
  },
  album: {
    label: 'action.album', icon: 'album',
    run: async (app, ids) => {
      const { chooseAlbum } = await later(app, () => import('./album-choice.js'));
      const album = await chooseAlbum(app);
      if (!album) return false;
      if (album.id) {
        return commitFor(app, ids, (assets) => ({ op: 'album.add', album: album.id, assets }),
          t('done.album', { count: ids.length, album: album.title }));
      }
      const [first, rest] = [ids.slice(0, blockLimit), ids.slice(blockLimit)];
      const receipt = await app.commit([{ op: 'album.create', title: album.title, as: '$new' },
        { op: 'album.add', album: '$new', assets: first.map(short) }],
      t('done.album', { count: first.length, album: album.title }));
      if (!receipt || rest.length === 0) return receipt !== null;
      return commitFor(app, rest, (assets) => ({ op: 'album.add', album: receipt.created[0], assets }),
        t('done.album', { count: rest.length, album: album.title }));
    },
  },
  removeFromAlbum: {
    label: 'action.removeFromAlbum', icon: 'minus',
    run: (app, ids, { album }) => commitFor(app, ids, (assets) => ({ op: 'album.remove', album: album?.id, assets }),
      t('done.removeFromAlbum', { count: ids.length })),
  },
  cover: {
    label: 'action.cover', icon: 'album', limit: 1,
    run: async (app, ids, { album }) => await app.commit(
      [{ op: 'album.cover', album: album?.id, asset: short(ids[0]) }], t('done.cover')) !== null,
  },
  share: {
    label: 'action.share', icon: 'link', scope: 'owner', limit: 10_000,
    run: async (app, ids, { album }) => {
      const { makeShare } = await later(app, () => import('./share-making.js'));
      return makeShare(app, ids, album);
    },
  },
  download: {
    label: 'action.download', icon: 'download', scope: 'originals', limit: downloadLimit,
    run: async (app, ids) => {
      try {
        const download = await preparedDownload(app.client, ids);
        if (!download) return false;
        // The page stays, whatever is answered.
        const anchor = h('a', { href: download.url, download: true, hidden: true });
        document.body.append(anchor);
        anchor.click();
        anchor.remove();
        return true;
      } catch (error) {
        app.notices.fail(error);
        return false;
      }
    },
  },
  dates: {
    label: 'action.dates', icon: 'clock', limit: 10_000,
    run: async (app, ids, context) => (await later(app, () => import('./dates.js'))).shiftDates(app, ids, context.grid),
  },
  trash: {
    label: 'action.trash', icon: 'trash',
    run: (app, ids) => commitFor(app, ids, (assets) => ({ op: 'asset.trash', assets }), t('done.trash', { count: ids.length })),
  },
  restore: {
    label: 'action.restore', icon: 'undo',
    run: (app, ids) => commitFor(app, ids, (assets) => ({ op: 'asset.restore', assets }), t('done.restore', { count: ids.length })),
  },
  purge: {
    label: 'action.purge', icon: 'trash',
    run: async (app, ids) => (await later(app, () => import('./trash.js'))).purge(app, ids.length, async () => ids),
  },
};

/**
 * Whether a session may carry an action out.
 * @param {App} app
 * @param {string} name
 */
export function isAllowed(app, name) {
  const { scopes } = app.session;
  return scopes.includes('owner') || scopes.includes(actions[name].scope ?? 'change');
}

/**
 * Carries an action out for given assets.
 * @param {App} app
 * @param {string} name
 * @param {string[]} ids
 * @param {Context} context
 */
export async function run(app, name, ids, context) {
  const { limit } = actions[name];
  if (limit !== undefined && ids.length > limit) {
    app.notices.show(t(limit === 1 ? 'action.onlyOne' : 'action.tooMany', { count: limit }), { isError: true });
    return false;
  }
  return actions[name].run(app, ids, context);
}

/**
 * The bar of what can be done with a grid's selection; hidden while nothing is selected.
 * @param {App} app
 * @param {Grid} grid
 * @param {string[]} names
 * @param {{ album: { id: string, title: string } | null }} options
 */
export function barOf(app, grid, names, { album }) {
  const context = { album, grid };
  const count = h('p', { class: 'count' });
  // The bar is hidden until something is selected, and what was hidden a moment ago is not read aloud.
  const said = h('p', { class: 'visually-hidden', role: 'status' });
  grid.element.append(said);
  const allowed = names.filter((name) => isAllowed(app, name));
  const perform = async (/** @type {string} */ name) => {
    // Reading a large selection takes a while, and a second press would do the same again.
    if (bar.hasAttribute('aria-busy')) return;
    bar.setAttribute('aria-busy', 'true');
    // What is selected meanwhile stays so.
    const taken = new Selection();
    taken.ranges = grid.selection.ranges;
    const lead = (/** @type {any} */ { change }) => taken.apply(change);
    grid.list.addEventListener('change', lead);
    try {
      const items = await grid.selectedItems();
      if (!await run(app, name, items.map(({ id }) => id), { ...context, items })) return;
      for (const [first, end] of taken.ranges) grid.selection.set(first, end, false);
      // The next range begins elsewhere.
      if (grid.selection.count === 0) grid.selection.clear();
    } catch (error) {
      app.notices.fail(error);
    } finally {
      grid.list.removeEventListener('change', lead);
      bar.removeAttribute('aria-busy');
    }
  };
  const bar = h('div', { class: 'view-head selection-bar', role: 'toolbar', 'aria-label': t('selection.bar'), hidden: true },
    h('button', { class: 'icon-button', 'aria-label': t('selection.clear'), onclick: () => {
      grid.selection.clear();
      grid.scroll.focus();
    } }, icon('close')), count,
    h('button', { class: 'button', onclick: () => grid.selection.set(0, grid.list.count, true) }, t('selection.all')),
    h('div', { class: 'view-actions' }, ...allowed.map((name) =>
      h('button', { class: 'button', 'data-action': name, onclick: () => perform(name) },
        icon(actions[name].icon), h('span', null, t(actions[name].label))))));
  grid.selection.addEventListener('change', () => {
    const isOver = grid.selection.count === 0;
    // A bar that goes would take the focus of its button with it.
    if (isOver && bar.contains(document.activeElement)) grid.scroll.focus({ preventScroll: true });
    bar.hidden = isOver;
    fill(count, t('selection.count', { count: grid.selection.count }));
    said.textContent = bar.hidden ? '' : count.textContent;
  });
  return bar;
}

/**
 * Asks for a line of text.
 * @param {string} title
 * @param {string} label
 * @param {string} action
 * @param {{ value?: string, limit?: number }} options
 * @returns {Promise<string | undefined>}
 */
export function askText(title, label, action, { value = '', limit = 1000 } = {}) {
  return showDialog(title, (close) => {
    const input = h('input', { type: 'text', required: true, maxlength: limit, '.value': value, autofocus: true });
    return [h('form', { method: 'dialog', onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      close(input.value.trim());
    } }, h('label', { class: 'field' }, label, input),
    h('div', { class: 'dialog-actions' },
      h('button', { class: 'button', type: 'button', onclick: () => close() }, t('action.cancel')),
      h('button', { class: 'button main', type: 'submit' }, action)))];
  });
}
