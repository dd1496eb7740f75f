// One shared picture or film at a time, for visitors: nothing of it but itself. It has an entry of the browser's
// history while it is open, so that Back, a button or a swipe of phones, closes it and does not leave the page.
//
// The gallery's viewer knows metadata, albums and history, which a visitor has nothing to do with; and its elements
// read URLs with the cookie, which this page never uses.

import { clearSource, setSource } from '../client/pictures.js';
import { mapped } from '../model/mapped.js';
import { t } from '../text/text.js';
import { fill, h, once } from './dom.js';
import { icon } from './icons.js';
import { spoken } from './tile.js';

/** What the state of the browser's history holds while the viewer is open. */
const mark = 'guest';

/**
 * Settled when the entry of a closed viewer has left the history, which takes a while; null if none is leaving.
 * @type {Promise<void> | null}
 */
let leaving = null;

/** Takes the entry of a viewer out of the history. */
function leaveEntry() {
  leaving = new Promise((resolve) => {
    const gone = () => {
      removeEventListener('popstate', gone);
      leaving = null;
      resolve();
    };
    addEventListener('popstate', gone);
  });
  history.back();
}

/**
 * @param {import('./grid.js').Grid} grid
 * @param {number} start
 * @param {{ onDownload?: (id: string) => Promise<void> }} options
 * @returns {HTMLDialogElement} the viewer, which ends when it is closed
 */
export function openGuestViewer(grid, start, { onDownload } = {}) {
  const { list, app: { client, feed } } = grid;
  let index = start;
  /** @type {HTMLImageElement | HTMLVideoElement | null} */
  let shown = null;
  let id = '';
  /**
   * Names the bytes that are shown: an edit replaces them.
   * @type {string | null}
   */
  let sha256 = null;
  /** Whether what is shown could not be had. */
  let isMissing = false;
  /**
   * What the list knew of it when it was asked for.
   * @type {import('../client/photoledger.js').Item | null}
   */
  let known = null;
  const stage = h('div', { class: 'guest-stage', tabindex: '-1' });
  const said = h('p', { class: 'visually-hidden', role: 'status' });
  // That of the page lies behind this viewer.
  const offline = h('p', { class: 'banner', role: 'status', hidden: feed.isOpen }, t('state.offline'));
  /** @type {(name: string, label: string, onclick: () => void, place?: string) => HTMLButtonElement} */
  const button = (name, label, onclick, place = '') =>
    h('button', { class: `icon-button ${place}`, 'aria-label': t(label), onclick }, icon(name));
  const back = button('back', 'guest.previous', () => go(index - 1), 'guest-back');
  const next = button('forward', 'guest.next', () => go(index + 1), 'guest-next');
  // A film takes a while, and a second press would read it again.
  const save = button('download', 'action.download', () => { once(save, async () => id && onDownload?.(id)); });
  /** @type {HTMLDialogElement} */
  const dialog = h('dialog', { class: 'guest-viewer', 'aria-label': t('guest.viewer') }, offline, stage, back, next,
    h('div', { class: 'guest-bar' }, onDownload && save,
      button('close', 'action.close', () => dialog.close())), said);

  /** Switches off what leads beyond the ends. A button that goes out of use would take the focus with it. */
  function showEnds() {
    const [isFirst, isLast] = [index === 0, index === list.count - 1];
    const { activeElement } = document;
    if ((isFirst && activeElement === back) || (isLast && activeElement === next)) stage.focus();
    back.disabled = isFirst;
    next.disabled = isLast;
  }

  /** @param {number} to */
  async function go(to) {
    if (to < 0 || to >= list.count) return;
    const isOther = to !== index;
    index = to;
    showEnds();
    if (!list.item(index) && (isOther || !id)) wait();
    try {
      if (!list.item(index)) await list.load(index, 1);
    } catch (error) {
      grid.app.notices.fail(error);
    }
    const item = list.item(index);
    if (item && to === index) show(item);
  }

  /** Shows that the photo at the index is not loaded yet, and no other in its place. */
  function wait() {
    if (shown) clearSource(shown);
    shown = null;
    id = '';
    isMissing = false;
    fill(stage, h('p', { class: 'guest-state', role: 'status' }, t('state.loading')));
  }

  /** @param {import('../client/photoledger.js').Item} item */
  function show(item) {
    if (item.id === id && item.sha256 === sha256 && !isMissing) return;
    if (shown) clearSource(shown);
    ({ id, sha256 } = item);
    known = item;
    isMissing = false;
    const isFilm = item.mediaType === 2;
    const url = client.renditionURL(item, isFilm ? 'play' : 'large');
    const name = spoken(item);
    const element = isFilm ? h('video', { controls: true, playsinline: true, 'aria-label': name })
      : h('img', { alt: name, draggable: 'false' });
    const state = h('p', { class: 'guest-state', role: 'status' }, t('state.loading'));
    shown = element;
    element.addEventListener(isFilm ? 'loadeddata' : 'load', () => state.remove());
    element.addEventListener('error', () => {
      if (shown !== element) return;
      isMissing = true;
      fill(state, t('guest.notShown'));
      rendered();
    });
    fill(stage, element, state);
    said.textContent = `${name}. ${t('guest.place', { number: index + 1, count: list.count })}`;
    if (url) setSource(client, element, url);
    else fill(state, t('guest.notShown'));
  }

  /** Shows what could not be had when it was asked for, and what was edited meanwhile. */
  function loaded() {
    const item = list.item(index);
    if (item?.id !== id || item.sha256 !== sha256) go(index);
  }

  /** Asks again for what could not be had, if the feed has said something of it since. */
  function rendered() {
    const item = list.item(index);
    if (!isMissing || !item) return;
    if (item.rendition !== known?.rendition || (item.play ?? null) !== (known?.play ?? null)) go(index);
  }

  function connected() {
    offline.hidden = feed.isOpen;
    if (feed.isOpen && isMissing) go(index);
  }

  /** @param {Event} event */
  function changed(event) {
    const { change } = /** @type {import('../model/list.js').ListChange} */ (event);
    const to = change ? mapped(change, index) : -1;
    if (to < 0) dialog.close();
    else {
      index = to;
      showEnds();
      loaded();
    }
  }

  // Two fingers enlarge the page, and one moves it then. The style of the stage gives a drag to the side to this
  // viewer, which goes on to another photo with it.
  const isEnlarged = () => (globalThis.visualViewport?.scale ?? 1) > 1.01;
  const enlarged = () => { stage.style.touchAction = isEnlarged() ? 'manipulation' : ''; };
  enlarged();
  globalThis.visualViewport?.addEventListener('resize', enlarged);
  let press = 0;
  stage.addEventListener('pointerdown', (event) => { press = event.clientX; });
  stage.addEventListener('pointerup', (event) => {
    if (isEnlarged()) return;
    const way = event.clientX - press;
    if (event.pointerType !== 'mouse' && Math.abs(way) > 60) go(index + (way < 0 ? 1 : -1));
  });
  dialog.addEventListener('keydown', (event) => {
    // With Alt, Ctrl or Cmd they are the browser's: Alt and an arrow go back and forward.
    if (event.altKey || event.ctrlKey || event.metaKey || event.target instanceof HTMLVideoElement) return;
    if (event.key === 'ArrowRight') go(index + 1);
    else if (event.key === 'ArrowLeft') go(index - 1);
  });
  const left = () => dialog.close();
  const enter = () => {
    addEventListener('popstate', left);
    // After a reload the entry is there already.
    if (history.state?.photo !== mark) history.pushState({ photo: mark }, '');
  };
  // The entry of the viewer before this one would close this one as it leaves.
  if (leaving) leaving.then(() => { if (dialog.open) enter(); });
  else enter();
  list.addEventListener('change', changed);
  list.addEventListener('loaded', loaded);
  list.addEventListener('renditions', rendered);
  feed.addEventListener('connection', connected);
  dialog.addEventListener('close', () => {
    list.removeEventListener('change', changed);
    list.removeEventListener('loaded', loaded);
    list.removeEventListener('renditions', rendered);
    feed.removeEventListener('connection', connected);
    globalThis.visualViewport?.removeEventListener('resize', enlarged);
    removeEventListener('popstate', left);
    if (!leaving && history.state?.photo === mark) leaveEntry();
    if (shown) clearSource(shown);
    if (dialog.contains(notices)) home?.append(notices);
    dialog.remove();
    if (list.count > 0) grid.setCursor(index);
    grid.scroll.focus();
  });
  document.body.append(dialog);
  // Notices have to be above the viewer, where they can be seen.
  const notices = grid.app.notices.element;
  const home = notices.parentElement;
  dialog.append(notices);
  dialog.showModal();
  stage.focus();
  go(start);
  return dialog;
}
