// Uploading into the library: files, folders, drops anywhere on the page, into an album if wanted.
//
// The queue belongs to the page and not to this view, so uploading goes on while other views are shown.

import { messageOf } from '../model/failures.js';
import { UploadStore } from '../model/upload-store.js';
import { Uploads } from '../model/uploads.js';
import { isolated, t } from '../text/text.js';
import { askText } from './actions.js';
import { showCameraLink } from './camera-link.js';
import { h } from './dom.js';
import { takeDrops } from './dropped.js';
import { icon } from './icons.js';
import { UploadPanel, chooseButtons, guardLeaving } from './upload-panel.js';

/** @typedef {import('./app.js').App} App */

/** @type {Promise<Uploads> | null} */
let queue = null;

/** @type {{ id: string, title: string } | null} where new files go */
let album = null;

/**
 * The page's queue.
 * @param {App} app
 */
function queueOf(app) {
  queue ??= (async () => {
    let store = null;
    let problem = null;
    try {
      store = await UploadStore.open();
    } catch (error) {
      problem = error;
    }
    const uploads = new Uploads(app.client, {
      owner: app.session.client, store,
      toAlbum: async (to, assets) => await app.commit([{ op: 'album.add', album: to.id, assets }],
        t('upload.inAlbum', { count: assets.length, album: to.title })) !== null,
    });
    guardLeaving(uploads);
    app.stayFor(uploads);
    if (problem) app.notices.show(t('upload.unkept'), { isError: true });
    await uploads.restore().catch((error) => app.notices.fail(error));
    return uploads;
  })();
  return queue;
}

/**
 * Takes files that were dropped somewhere on the page, and shows the upload view. Says if a closed tab left files
 * behind.
 * @param {App} app
 */
export async function takeDropsOf(app) {
  takeDrops(t('upload.drop'), async ({ chosen, problems }) => {
    for (const problem of problems.slice(0, 3)) app.notices.show(problem, { isError: true });
    // With the first call, which is empty; the person may have gone on since.
    if (chosen.length + problems.length === 0 && app.read().name !== 'upload') app.open('upload');
    const uploads = await queueOf(app);
    await uploads.add(chosen, album);
  });
  const count = (await queueOf(app)).entries.filter((entry) => entry.state === 'lost').length;
  if (count === 0 || app.read().name === 'upload') return;
  app.notices.show(t('upload.lost', { count }), { action: t('nav.upload'), onAction: () => app.open('upload'),
    seconds: 20 });
}

/**
 * All albums, with the folders that they lie in.
 * @param {App} app
 * @param {string} [folder]
 * @param {string} [prefix]
 * @returns {Promise<{ id: string, title: string }[]>}
 */
async function albumsOf(app, folder, prefix = '') {
  const { collections } = await app.client.ask('GET', '/v1/collections', { query: { folder } });
  const found = [];
  for (const { localIdentifier: id, kind, localizedTitle } of collections) {
    const title = prefix + (localizedTitle || t('upload.untitled'));
    if (kind === 'album') found.push({ id, title });
    else if (kind === 'folder') found.push(...await albumsOf(app, id, `${isolated(title)} / `));
  }
  return found;
}

/** @param {App} app */
async function albumChoice(app) {
  /** @type {{ id: string, title: string }[]} */
  let albums;
  try {
    albums = await albumsOf(app);
  } catch (error) {
    return h('p', { role: 'alert' }, t('upload.noAlbums',
      { reason: messageOf(error) }));
  }
  if (!albums.some(({ id }) => id === album?.id)) album = null;
  const select = h('select', { class: 'album-choice' });
  const draw = () => {
    const option = (/** @type {string} */ value, /** @type {string} */ text) =>
      h('option', { value, '.selected': value === (album?.id ?? '') }, text);
    select.replaceChildren(option('', t('upload.noAlbum')), ...albums.map(({ id, title }) => option(id, title)),
      option('new', t('upload.newAlbum')));
  };
  select.addEventListener('change', async () => {
    if (select.value !== 'new') {
      album = albums.find(({ id }) => id === select.value) ?? null;
      return;
    }
    const title = await askText(t('upload.newAlbum'), t('upload.albumTitle'), t('upload.create'));
    const done = t('upload.created', { album: title ?? '' });
    const receipt = title ? await app.commit([{ op: 'album.create', title }], done) : null;
    if (title && receipt) {
      album = { id: receipt.created[0], title };
      albums.push(album);
    }
    draw();
    select.focus();
  });
  draw();
  return h('label', { class: 'field' }, t('upload.album'), select);
}

/**
 * @param {App} app
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app) {
  const title = t('nav.upload');
  const uploads = await queueOf(app);
  const mayChange = app.session.scopes.includes('owner') || app.session.scopes.includes('change');
  const panel = new UploadPanel(uploads, {
    onSignIn: () => window.open('/sign-in', '_blank', 'noopener'),
    onRestore: mayChange ? async (asset) => {
      if (await app.commit([{ op: 'asset.restore', assets: [asset] }], t('done.restore', { count: 1 }))) {
        uploads.restored(asset);
      }
    } : undefined,
  });
  const mayRead = app.session.scopes.includes('read') && app.session.authorizationStatus.readWrite !== 'denied';
  const cameraLink = h('button', { class: 'button', onclick: () => showCameraLink(app) },
    icon('link'), t('camera.link'));
  const element = h('section', { class: 'view upload', 'aria-label': title },
    h('header', { class: 'view-head' }, h('h1', null, title),
      h('div', { class: 'view-actions' },
        h('a', { class: 'button', href: '/camera' }, icon('camera'), t('upload.camera')), app.isOwner && cameraLink)),
    h('div', { class: 'drop-zone' }, h('p', null, t('upload.hint')),
      h('div', { class: 'upload-buttons' }, ...chooseButtons((chosen) => uploads.add(chosen, album)))),
    mayChange && mayRead && await albumChoice(app), panel.element);
  return { title, element, close: () => panel.close() };
}
