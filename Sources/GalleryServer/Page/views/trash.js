// The trash: what was moved there lately first, to be restored or deleted for ever.
//
// A photo in the trash keeps its places in albums, so restoring is exact. A fetch of the trash holds hidden photos too;
// they are left out here and lie under the view of hidden photos, behind its second sign-in.
//
// Deleting for ever removes the files, so a notice of it has no Undo: it could only bring a record without a picture.

import { Problem } from '../client/photoledger.js';
import { t } from '../text/text.js';
import { confirmed } from './dialog.js';
import { h } from './dom.js';
import { icon } from './icons.js';
import { mayChange } from './album-edits.js';
import { gridView } from './photos.js';

/** How many identifiers one operation carries. */
const blockLimit = 80_000;

/**
 * The trash.
 * @param {import('./app.js').App} app
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app) {
  const button = h('button', {
    class: 'button', 'data-tool': 'empty', onclick: () => emptyTrash(app, view.grid, button),
  }, icon('trash'), h('span', null, t('trash.empty')));
  const view = await gridView(app, {
    title: t('nav.trash'), question: { trash: true, where: 'isHidden == NO', sort: ['trashedDate:desc'] },
    actions: ['restore', 'purge'], tools: mayChange(app) ? [button] : [],
    above: [h('p', { class: 'soft' }, t('trash.explanation'))],
    empty: () => h('p', null, t('trash.none')),
  });
  const show = () => { button.disabled = view.grid.list.count === 0; };
  view.grid.addEventListener('count', show);
  show();
  return view;
}

/**
 * Deletes photos for ever, after a question.
 * @param {import('./app.js').App} app
 * @param {number} count
 * @param {() => Promise<string[]>} read gives the identifiers, once the question was answered
 * @returns {Promise<boolean>} whether it was done
 */
export async function purge(app, count, read) {
  const isSure = await confirmed(t('purge.title', { count }), t('purge.sentence'), t('action.purge'),
    { isGrave: true });
  if (!isSure) return false;
  let done = 0;
  try {
    const ids = await read();
    for (let at = 0; at < ids.length; at += blockLimit) {
      const assets = ids.slice(at, at + blockLimit).map((id) => id.split('/')[0]);
      done += await purgeTrashed(app, assets);
    }
    return true;
  } catch (error) {
    app.notices.fail(error);
    return false;
  } finally {
    if (done > 0) app.notices.show(t('done.purge', { count: done }));
  }
}

/**
 * Deletes photos of the trash for ever, without those that others restore or delete meanwhile.
 * @param {import('./app.js').App} app
 * @param {string[]} assets
 * @returns {Promise<number>} how many
 */
async function purgeTrashed(app, assets) {
  for (let left = assets; ;) {
    try {
      if (left.length > 0) await app.client.commit([{ op: 'asset.purge', assets: left }]);
      return left.length;
    } catch (error) {
      // The commit is refused as a whole if one of them is not in the trash any more.
      if (!(error instanceof Problem) || (error.status !== 400 && error.status !== 404)) throw error;
      const inTrash = await readTrash(app);
      const rest = left.filter((id) => inTrash.has(id));
      if (rest.length === left.length) throw error;
      left = rest;
    }
  }
}

/**
 * What is in the trash now, hidden photos included.
 * @param {import('./app.js').App} app
 */
async function readTrash(app) {
  const question = { trash: true, hidden: true, allBursts: true, allStacks: true };
  const { fetch, token, count } = await app.client.openFetch(question);
  /** @type {Set<string>} */
  const ids = new Set();
  for (let at = 0; at < count; at += 1000) {
    const window = await app.client.window(fetch, token, at, Math.min(1000, count - at));
    for (const { id } of window.items) ids.add(id.split('/')[0]);
  }
  return ids;
}

/**
 * Deletes for ever what a grid of the trash shows.
 * @param {import('./app.js').App} app
 * @param {import('./grid.js').Grid} grid
 * @param {HTMLButtonElement} button
 */
export async function emptyTrash(app, grid, button) {
  // What arrives in the trash while the question is shown was not asked about.
  const { count, fetch, token } = grid.list;
  button.disabled = true;
  await purge(app, count, async () => {
    const ids = [];
    for (let at = 0; at < count; at += 1000) {
      const window = await app.client.window(fetch, token, at, Math.min(1000, count - at));
      ids.push(...window.items.map((item) => item.id));
    }
    return ids;
  });
  button.disabled = grid.list.count === 0;
}
