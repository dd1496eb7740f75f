// Albums: the top level, what a folder holds, and the photos of an album.
//
//   #/albums                     the top level, and the kinds of media that the library sorts by itself
//   #/albums/ID of a folder      what it holds
//   #/albums/ID of an album      its photos, in its own order
//   #/albums/smartAlbumVIDEOS    one of the library's own smart albums
//
// Everything follows commits by the feed: the tree of collections, the photos of an album, what smart albums show.

import { Collections, FollowedCollections } from '../model/collections.js';
import { messageOf } from '../model/failures.js';
import { isolated, t } from '../text/text.js';
import { timelineActions, gridView } from './photos.js';
import { Cards, Covers, isWaitingFor, showCover, titleOf } from './album-cards.js';
import { makeCollection, makeSmartAlbum, mayChange, menuOf, moveTo, predicateOf, putInto } from './album-edits.js';
import { App } from './app.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { movePhotos } from './moving.js';

/** @typedef {import('../model/collections.js').Collection} Collection */

/**
 * The library's own smart albums, by PhotoKit's names, with their icons. What is hidden has a view of its own, and all
 * photos are the timeline.
 * @type {Record<string, string>}
 */
export const builtIn = {
  smartAlbumRecentlyAdded: 'clock', smartAlbumFavorites: 'heart', smartAlbumVideos: 'video',
  smartAlbumSelfPortraits: 'people', smartAlbumLivePhotos: 'live', smartAlbumDepthEffect: 'people',
  smartAlbumPanoramas: 'photos', smartAlbumTimelapses: 'clock', smartAlbumSlomoVideos: 'video',
  smartAlbumCinematic: 'video', smartAlbumBursts: 'stack', smartAlbumScreenshots: 'photos',
  smartAlbumScreenRecordings: 'video', smartAlbumAnimated: 'play', smartAlbumLongExposures: 'photos',
  smartAlbumSpatial: 'photos', smartAlbumRAW: 'camera',
};

/** How long the next look at covers and counts waits after one, milliseconds: an import makes many commits. */
const contentPause = 2000;

/**
 * Opens what an address names.
 * @param {App} app
 * @param {import('./app.js').Address} address
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app, address) {
  const { argument } = address;
  if (Object.hasOwn(builtIn, argument)) return openBuiltIn(app, argument);
  const tree = await Collections.read(app.client);
  if (argument === '') return overview(app, tree, null);
  const one = tree.get(argument);
  if (!one) return gone(app, tree, argument);
  return one.kind === 'folder' ? overview(app, tree, one) : album(app, tree, one);
}

/**
 * What is shown in place of an album that is not there, until an undo brings it back.
 * @param {App} app
 * @param {Collections} tree
 * @param {string} id
 * @returns {import('./app.js').View}
 */
function gone(app, tree, id) {
  const title = t('nav.albums');
  const head = h('header', { class: 'view-head' }, h('h1', null, title));
  const followed = new FollowedCollections(app.client, app.feed, tree);
  followed.addEventListener('change', () => { if (followed.tree.get(id)) app.renew(); });
  return {
    title, element: h('section', { class: 'view' }, head, goneSentence()), close: () => followed.close(),
  };
}

const goneSentence = () => h('div', { class: 'empty', role: 'status' }, h('p', null, t('albums.gone')),
  h('p', null, h('a', { class: 'button', href: App.href('albums') }, t('albums.all'))));

/**
 * The link to what an album is in.
 * @param {Collections} tree
 * @param {Collection | null} one
 */
function backLink(tree, one) {
  const folder = one?.parent ? tree.get(one.parent) : undefined;
  const title = folder ? titleOf(folder) : t('nav.albums');
  return h('a', { class: 'back', href: App.href('albums', folder?.id ?? '') }, icon('back'),
    h('span', { dir: 'auto' }, title));
}

/**
 * Cards of what a folder holds, or of the top level.
 * @param {App} app
 * @param {Collections} tree
 * @param {Collection | null} folder
 * @returns {Promise<import('./app.js').View>}
 */
async function overview(app, tree, folder) {
  const id = folder?.id ?? null;
  const covers = new Covers(app);
  const followed = new FollowedCollections(app.client, app.feed, tree);
  const isChangeable = mayChange(app);
  const cards = new Cards(app, covers, isChangeable || app.isOwner ? {
    onMenu: (one) => menuOf(app, one, followed.tree.of(id)),
    onMove: (one, before) => { if (isChangeable) moveTo(app, one, followed.tree.of(id), before); },
    onInto: (one, into) => { if (isChangeable) putInto(app, one, into); },
  } : null);
  const heading = h('h1', { dir: 'auto', tabindex: '-1' });
  const count = h('p', { class: 'count', 'aria-live': 'polite' });
  const stale = h('p', { class: 'stale', role: 'status', hidden: true });
  const empty = h('div', { class: 'empty' });
  const body = h('div', null, cards.element, empty);
  const media = id === null ? new MediaTypes(app, covers) : null;

  const tools = isChangeable ? [
    ['album', () => makeCollection(app, 'album', id)], ['folder', () => makeCollection(app, 'folder', id)],
    ['smartAlbum', () => makeSmartAlbum(app, id)]] : [];
  const back = folder ? backLink(tree, folder) : null;
  const own = folder && (isChangeable || app.isOwner) ? h('button', {
    class: 'button', 'data-tool': 'menu', onclick: async () => {
      const now = followed.tree.get(folder.id);
      if (now && await menuOf(app, now) === 'delete') app.open('albums', now.parent ?? '');
    },
  }, icon('more'), h('span', null, t('albums.folder'))) : null;
  const element = h('section', { class: 'view collections' },
    h('header', { class: 'view-head' }, back, heading, count, h('div', { class: 'view-actions' },
      ...tools.map(([kind, making]) => h('button', {
        class: 'button', 'data-new': kind, onclick: making,
      }, icon('plus'), h('span', null, t(`albums.new.${kind}`)))), own)),
    stale, body, media?.element);

  /** @type {import('./app.js').View} */
  const view = {
    title: folder ? titleOf(folder) : t('nav.albums'), element,
    place: () => media?.shown ?? null,
    returnTo: (names) => media?.show(names),
    close: () => {
      followed.close();
      clearTimeout(timer);
      cards.close();
      covers.close();
    },
  };
  const show = () => {
    stale.hidden = true;
    const now = id === null ? null : followed.tree.get(id);
    if (now === undefined) {
      fill(body, goneSentence());
      return;
    }
    // An undo has restored the folder.
    if (cards.element.parentElement !== body) fill(body, cards.element, empty);
    const title = now ? titleOf(now) : t('nav.albums');
    if (heading.textContent !== title) heading.textContent = title;
    element.setAttribute('aria-label', title);
    const members = followed.tree.of(id);
    const hadFocus = cards.element.contains(document.activeElement);
    cards.show(members);
    if (hadFocus && members.length === 0) heading.focus({ preventScroll: true });
    fill(count, members.length > 0 && t('albums.members', { count: members.length }));
    if (members.length > 0) fill(empty);
    else if (empty.childElementCount === 0) {
      fill(empty, h('p', null, t(id === null ? isChangeable ? 'albums.empty' : 'albums.none' : 'albums.emptyFolder')));
    }
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isWaiting = false;
  const lookAtContents = () => {
    isWaiting = timer !== undefined;
    if (isWaiting) return;
    cards.look();
    media?.refresh();
    const end = () => {
      // Where the server or the network is slow, a look takes longer than the pause.
      if (covers.isBusy || document.hidden) timer = setTimeout(end, contentPause);
      else {
        timer = undefined;
        if (isWaiting) lookAtContents();
      }
    };
    timer = setTimeout(end, contentPause);
  };
  followed.addEventListener('change', show);
  followed.addEventListener('photos', lookAtContents);
  followed.addEventListener('renditions', (event) => {
    const { detail } = /** @type {CustomEvent<Set<string>>} */ (event);
    cards.freshen(detail);
    media?.freshen(detail);
  });
  followed.addEventListener('failed', (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    stale.hidden = false;
    fill(stale, t('albums.stale', { reason: messageOf(detail) }));
  });
  show();
  media?.read();
  return view;
}

/** The kinds of media that there are, with their counts; those without photos are not shown. */
class MediaTypes {
  /**
   * @param {App} app
   * @param {Covers} covers
   */
  constructor(app, covers) {
    this.app = app;
    this.covers = covers;
    this.lines = Object.entries(builtIn).map(([name, picture]) => {
      const cover = h('span', { class: 'cover' }, icon(picture));
      const count = h('span', { class: 'card-count' });
      const element = h('li', { class: 'card', 'data-smart': name, hidden: true },
        h('a', { class: 'card-link', href: App.href('albums', name) }, cover,
          h('span', { class: 'card-words' }, h('span', { class: 'card-title' }, t(`media.${name}`)),
            h('span', { class: 'card-line' }, icon(picture), count))));
      return { name, picture, cover, count, element };
    });
    this.problem = h('p', { class: 'problem', role: 'status', hidden: true });
    this.list = h('ul', { class: 'cards small', role: 'list' }, ...this.lines.map(({ element }) => element));
    this.element = h('section', { class: 'media-types', 'aria-labelledby': 'media-types', hidden: true },
      h('h2', { id: 'media-types' }, t('media.title')), this.problem, this.list);
  }

  /**
   * Shows covers whose pictures are made by now.
   * @param {Set<string>} ids
   */
  freshen(ids) {
    this.read(this.lines.filter(({ cover }) => isWaitingFor(cover, ids)));
  }

  /** The names of the kinds that are shown. */
  get shown() {
    return this.lines.filter(({ element }) => !element.hidden).map(({ name }) => name);
  }

  /**
   * Shows kinds before their counts are read, so that the page is as high as it was.
   * @param {string[]} names
   */
  show(names) {
    for (const { name, element } of this.lines) element.hidden = !names.includes(name);
    this.element.hidden = names.length === 0;
  }

  read(lines = this.lines) {
    for (const { name, picture, cover, count, element } of lines) {
      this.covers.read(cover, { smartAlbum: name }, (first, total) => {
        count.textContent = t('photos.count', { count: total });
        element.hidden = total === 0;
        showCover(this.app, cover, first, picture);
        this.element.hidden = this.lines.every((line) => line.element.hidden) && this.problem.hidden;
      }, (error) => {
        this.element.hidden = false;
        this.problem.hidden = false;
        fill(this.problem, messageOf(error));
      }, null, name === 'smartAlbumRecentlyAdded');
    }
  }

  refresh() {
    this.problem.hidden = true;
    this.read();
  }
}

/**
 * One of the library's own smart albums.
 * @param {App} app
 * @param {string} name
 */
async function openBuiltIn(app, name) {
  // What was added last has an order of its own.
  const sort = name === 'smartAlbumRecentlyAdded' ? {} : { sort: ['creationDate:desc'] };
  const view = await gridView(app, { title: t(`media.${name}`), question: { smartAlbum: name, ...sort } });
  view.element.querySelector('.view-head:not(.selection-bar)')?.prepend(
    h('a', { class: 'back', href: App.href('albums') }, icon('back'), h('span', null, t('nav.albums'))));
  return view;
}

/**
 * The photos of an album or smart album.
 * @param {App} app
 * @param {Collections} tree
 * @param {Collection} one
 */
async function album(app, tree, one) {
  const isOwnOrder = one.kind === 'album';
  const isChangeable = mayChange(app);
  let current = one;
  let isGone = false;
  const menu = h('button', { class: 'button', 'data-tool': 'menu', onclick: async () => {
    if (await menuOf(app, current) === 'delete') app.open('albums', current.parent ?? '');
  } }, icon('more'), h('span', null, t('albums.album')));
  const shown = predicateOf(one);
  const toTimeline = () => h('p', null,
    h('a', { class: 'button main', href: App.href('photos') }, t('albums.toTimeline')));
  const view = await gridView(app, {
    title: titleOf(one), question: { album: one.id }, album: isOwnOrder ? one : undefined,
    isReorderable: isOwnOrder && isChangeable,
    actions: isOwnOrder ? [...timelineActions, 'cover', 'removeFromAlbum'] : timelineActions,
    tools: isChangeable || app.isOwner ? [menu] : [], above: shown ? [shown] : [],
    empty: () => h('div', null, h('p', null, t(isOwnOrder ? 'albums.noPhotos' : 'albums.noMatches')),
      isOwnOrder && isChangeable && toTimeline()),
  });
  const heading = view.element.querySelector('h1');
  heading?.setAttribute('dir', 'auto');
  const back = backLink(tree, one);
  heading?.before(back);
  const followed = new FollowedCollections(app.client, app.feed, tree);
  const { close } = view;
  view.close = () => {
    followed.close();
    close?.();
  };
  followed.addEventListener('change', () => {
    const now = followed.tree.get(one.id);
    if (isGone) {
      // An undo has restored it.
      if (now) app.renew();
      return;
    }
    if (!now) {
      isGone = true;
      close?.();
      fill(view.element, goneSentence());
      return;
    }
    back.replaceChildren(...backLink(followed.tree, now).childNodes);
    back.setAttribute('href', App.href('albums', now.parent ?? ''));
    if (titleOf(now) !== titleOf(current)) {
      view.title = titleOf(now);
      if (heading) heading.textContent = view.title;
      for (const one of [view.element, view.grid.scroll]) one.setAttribute('aria-label', view.title);
      document.title = `${isolated(view.title)} – ${t('app.name')}`;
    }
    current = now;
  });
  followed.addEventListener('failed', (event) => app.notices.fail(/** @type {CustomEvent} */ (event).detail));
  view.grid.addEventListener('move', (event) => {
    movePhotos(app, view.grid, one.id, /** @type {import('./grid.js').MoveEvent} */ (event));
  });
  return view;
}
