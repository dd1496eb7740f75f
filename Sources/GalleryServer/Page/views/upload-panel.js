// What is being uploaded, file by file: used by the upload view and by share links that take photos.
//
// The panel is drawn at most four times a second, and shows at most 200 files, those that need somebody first. A screen
// reader hears how far it is every few seconds, and the end at once.

import { locale, size, t } from '../text/text.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { isWanted } from './dropped.js';

/** @typedef {import('../model/uploads.js').Uploads} Uploads */
/** @typedef {import('../model/uploads.js').Entry} Entry */
/** @typedef {import('../model/uploads.js').Chosen} Chosen */

const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
const rowLimit = 200;
const drawEvery = 250;
const sayEvery = 5000;

/** The order of files by their state. */
const rank = { sending: 0, failed: 1, refused: 2, hashing: 3, ready: 4, queued: 5, lost: 6, taken: 7, there: 8 };

/** Photos and films, and what cameras and programs put beside them. */
const accepted = 'image/*,video/*,image/heic,image/heif,.heic,.heif,.avif,.jxl,.dng,.cr2,.cr3,.nef,.arw,.raf,.rw2,.orf,'
  + '.pef,.srw,.raw,.mov,.mp4,.m4v,.avi,.mkv,.mts,.xmp,.aae';

/**
 * @param {FileList | null} files
 * @returns {Chosen[]}
 */
const chosenOf = (files) => [...files ?? []].map((file) => ({ file, path: file.webkitRelativePath || file.name }))
  .filter(({ path }) => isWanted(path));

/**
 * Buttons that choose files and folders.
 * @param {(chosen: Chosen[]) => void} take
 */
export function chooseButtons(take) {
  const input = (/** @type {Record<string, any>} */ attributes) => {
    const element = h('input', {
      type: 'file', multiple: true, hidden: true, onchange: () => {
        take(chosenOf(element.files));
        element.value = '';
      }, ...attributes,
    });
    return element;
  };
  const files = input({ class: 'choose-files', accept: accepted, 'aria-label': t('upload.files') });
  const folder = input({ class: 'choose-folder', webkitdirectory: true, 'aria-label': t('upload.folder') });
  const pickFiles = async () => {
    const picker = /** @type {any} */ (globalThis).showOpenFilePicker;
    if (!picker) {
      files.click();
      return;
    }
    try {
      // Handles let the upload go on after the tab was closed.
      const handles = await picker({ multiple: true });
      const chosenOne = async (/** @type {any} */ handle) => ({ file: await handle.getFile(), handle });
      take(await Promise.all(handles.map(chosenOne)));
    } catch (error) {
      // The person closed the dialog; or the browser has the function and does not offer it here.
      if (!(error instanceof DOMException && error.name === 'AbortError')) files.click();
    }
  };
  const buttons = [h('button', { class: 'button main', onclick: pickFiles }, icon('photos'), t('upload.files'))];
  if ('webkitdirectory' in HTMLInputElement.prototype) {
    buttons.push(h('button', { class: 'button', onclick: () => folder.click() }, icon('folder'), t('upload.folder')));
  }
  return [...buttons, files, folder];
}

/** Files, and what can be done with each. */
export class UploadPanel {
  /**
   * @param {Uploads} uploads
   * @param {{ onSignIn?: () => void, onRestore?: (asset: string) => Promise<unknown> }} options
   */
  constructor(uploads, { onSignIn, onRestore } = {}) {
    this.uploads = uploads;
    this.onSignIn = onSignIn;
    this.onRestore = onRestore;
    /** @type {Map<string, ReturnType<UploadPanel['rowFor']>>} */
    this.rows = new Map();
    this.order = '';
    this.drawn = 0;
    this.said = 0;
    this.timer = 0;
    this.bar = h('progress', { max: 1, value: 0, 'aria-label': t('upload.progress') });
    this.sentence = h('p', { class: 'upload-sum' });
    this.spoken = h('p', { class: 'visually-hidden', role: 'status' });
    this.trouble = h('div', { class: 'upload-trouble', role: 'alert', hidden: true });
    this.lost = h('div', { class: 'upload-lost', hidden: true });
    const of = (/** @type {string[]} */ ...states) => uploads.entries.filter((one) => states.includes(one.state));
    this.of = of;
    const pause = () => (uploads.isPaused ? uploads.resume() : uploads.pause());
    this.pause = h('button', { class: 'button', onclick: pause });
    this.again = h('button', { class: 'button', onclick: () => uploads.retry(of('failed')) }, t('upload.retryAll'));
    const stop = () => uploads.cancel(of('queued', 'hashing', 'ready', 'sending'));
    this.stop = h('button', { class: 'button', onclick: stop }, t('upload.cancelAll'));
    this.clear = h('button', { class: 'button', onclick: () => uploads.clear() }, t('upload.clear'));
    this.buttons = h('div', { class: 'upload-buttons' }, this.pause, this.stop, this.again, this.clear);
    this.list = h('ul', { class: 'upload-list', 'aria-label': t('upload.list') });
    this.more = h('p', { class: 'soft', hidden: true });
    this.head = h('div', { class: 'upload-head', hidden: true }, this.sentence, this.bar, this.buttons);
    this.element = h('div', { class: 'upload-panel' }, this.trouble, this.lost, this.head, this.spoken, this.list,
      this.more);
    this.changed = () => this.drawSoon();
    this.ended = () => this.draw(true);
    this.unkept = () => fill(this.lost, h('p', null, t('upload.unkept')));
    uploads.addEventListener('change', this.changed);
    uploads.addEventListener('idle', this.ended);
    uploads.addEventListener('unkept', this.unkept);
    this.draw();
  }

  drawSoon() {
    if (this.timer) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.draw();
    }, Math.max(0, this.drawn + drawEvery - Date.now()));
  }

  /** @param {boolean} [isEnd] */
  draw(isEnd = false) {
    this.drawn = Date.now();
    const { uploads } = this;
    const { entries } = uploads;
    const count = (/** @type {string[]} */ ...states) => entries.filter((entry) => states.includes(entry.state)).length;
    const live = entries.filter((entry) => entry.state !== 'lost');
    const whole = live.reduce((sum, entry) => sum + entry.size, 0);
    const sent = live.reduce((sum, entry) =>
      sum + (['taken', 'there', 'refused'].includes(entry.state) ? entry.size : Math.min(entry.sent, entry.size)), 0);
    const left = count('queued', 'hashing', 'ready', 'sending');
    const trashed = entries.filter((entry) => entry.isTrashed).length;
    this.head.hidden = live.length === 0;
    this.bar.max = Math.max(1, whole);
    this.bar.value = left === 0 && whole === 0 ? 1 : sent;
    const hasProblems = count('refused', 'failed') > 0 || uploads.heldAlbums.size > 0;
    const parts = [
      left > 0 ? t('upload.left', { count: left, sent: size(sent), whole: size(whole) })
        : t(hasProblems ? 'upload.endedPartly' : 'upload.ended'),
      count('taken') > 0 && t('upload.sum.taken', { count: count('taken') }),
      count('there') > trashed && t('upload.sum.there', { count: count('there') - trashed }),
      trashed > 0 && t('upload.sum.trashed', { count: trashed }),
      count('refused') > 0 && t('upload.sum.refused', { count: count('refused') }),
      count('failed') > 0 && t('upload.sum.failed', { count: count('failed') }),
    ].filter(Boolean).join(' · ');
    this.sentence.textContent = parts;
    if (live.length > 0 && (isEnd || left === 0 || Date.now() - this.said > sayEvery)
      && this.spoken.textContent !== parts) {
      this.said = Date.now();
      this.spoken.textContent = parts;
    }
    fill(this.pause, uploads.isPaused ? t('upload.resume') : t('upload.pause'));
    this.pause.hidden = left === 0 && uploads.heldAlbums.size === 0;
    this.stop.hidden = left === 0;
    this.again.hidden = count('failed') === 0;
    this.clear.hidden = count('taken', 'there', 'refused') === 0;
    this.drawTrouble();
    this.drawLost(count('lost'));
    this.drawRows();
  }

  drawTrouble() {
    const { trouble, isPaused, isSignedOut, heldAlbums, isWaiting } = this.uploads;
    const albums = [...heldAlbums.values()].map((name) => t('said.name', { name }));
    const isAlbumHeld = albums.length > 0;
    const text = isAlbumHeld ? t('upload.albumHeld', { albums: lists.format(albums) })
      : isPaused && trouble ? t('upload.stopped', { reason: trouble })
      : isWaiting && trouble ? t('upload.waiting', { reason: trouble }) : '';
    this.trouble.hidden = text === '';
    if (this.trouble.dataset.text === text) return;
    this.trouble.dataset.text = text;
    fill(this.trouble, h('p', null, text),
      isSignedOut && this.onSignIn && h('button', { class: 'button', onclick: this.onSignIn }, t('upload.signIn')),
      (isPaused || isAlbumHeld) && text !== '' && h('button',
        { class: 'button main', onclick: () => this.uploads.resume() },
        t('upload.resume')));
  }

  /** @param {number} count */
  drawLost(count) {
    const { uploads } = this;
    if (!uploads.store) {
      this.lost.hidden = this.lost.childElementCount === 0;
      return;
    }
    this.lost.hidden = count === 0;
    const drawn = `${count} ${uploads.canAsk}`;
    if (this.lost.dataset.drawn === drawn) return;
    this.lost.dataset.drawn = drawn;
    fill(this.lost, h('p', null, t(uploads.canAsk ? 'upload.lost' : 'upload.lostFiles', { count })),
      uploads.canAsk && h('button', { class: 'button main', onclick: () => uploads.goOn() }, t('upload.goOn')),
      h('button', { class: 'button', onclick: () => uploads.cancel(this.of('lost')) }, t('upload.forget')));
  }

  drawRows() {
    const sorted = [...this.uploads.entries].sort((one, other) => rank[one.state] - rank[other.state]);
    const shown = sorted.slice(0, rowLimit);
    const seen = new Set(shown.map((entry) => entry.id));
    for (const [id, row] of this.rows) {
      if (seen.has(id)) continue;
      row.element.remove();
      this.rows.delete(id);
    }
    for (const entry of shown) {
      const row = this.rows.get(entry.id) ?? this.rowFor(entry);
      this.rows.set(entry.id, row);
      row.show();
    }
    // Moving an element takes the focus from its buttons, so it is done only when the order differs.
    const order = shown.map((entry) => entry.id).join();
    if (order !== this.order) {
      this.order = order;
      const focused = document.activeElement;
      for (const { id } of shown) this.list.append(this.rows.get(id)?.element ?? '');
      if (focused instanceof HTMLElement && this.list.contains(focused)) focused.focus({ preventScroll: true });
    }
    this.more.hidden = sorted.length <= rowLimit;
    if (!this.more.hidden) this.more.textContent = t('upload.more', { count: sorted.length - rowLimit });
  }

  /** @param {Entry} entry */
  rowFor(entry) {
    const state = h('span', { class: 'upload-state' });
    const bar = h('progress', { max: Math.max(1, entry.size), 'aria-label': entry.name });
    const again = h('button', { class: 'button', 'aria-label': t('upload.retryOne', { name: entry.name }),
      onclick: () => this.uploads.retry([entry]) }, t('action.retry'));
    const cancel = h('button', { class: 'icon-button',
      onclick: () => this.uploads.cancel([entry]) }, icon('close'));
    const restore = h('button', { class: 'button restore', 'aria-label': t('upload.restoreOne', { name: entry.name }),
      onclick: async () => {
        restore.disabled = true;
        await this.onRestore?.(entry.asset ?? '').finally(() => { restore.disabled = false; });
      } }, t('action.restore'));
    const element = h('li', { class: 'upload-row', 'data-name': entry.name },
      h('div', { class: 'upload-what' }, h('bdi', { class: 'upload-name', title: entry.path }, entry.name),
        h('span', { class: 'soft' }, size(entry.size)), state), bar, again, restore, cancel);
    let drawn = '';
    const show = () => {
      const waits = entry.state === 'ready' && entry.sent > 0 ? 'upload.state.partly' : `upload.state.${entry.state}`;
      const name = entry.isTrashed ? 'upload.state.trashed'
        : entry.state === 'taken' && entry.isCompletion ? 'upload.state.completed' : waits;
      const text = t(name, { sentence: entry.sentence });
      bar.hidden = !(entry.state === 'sending' || entry.state === 'ready' && entry.sent > 0);
      bar.value = entry.sent;
      if (drawn === text) return;
      drawn = text;
      element.dataset.state = entry.state;
      state.textContent = text;
      again.hidden = entry.state !== 'failed' && entry.state !== 'refused';
      restore.hidden = !this.onRestore || !entry.isTrashed || !entry.asset;
      cancel.hidden = entry.state === 'taken' || entry.state === 'there';
      const dismissal = again.hidden ? 'upload.cancelOne' : 'upload.dismissOne';
      cancel.setAttribute('aria-label', t(dismissal, { name: entry.name }));
    };
    return { element, show };
  }

  close() {
    clearTimeout(this.timer);
    this.uploads.removeEventListener('change', this.changed);
    this.uploads.removeEventListener('idle', this.ended);
    this.uploads.removeEventListener('unkept', this.unkept);
  }
}

/**
 * Lets the browser ask before the page is left while files are sent.
 * @param {Uploads} uploads
 * @param {() => boolean} [hasMore] whether something else would be lost
 */
export function guardLeaving(uploads, hasMore = () => false) {
  addEventListener('beforeunload', (event) => { if (uploads.isBusy || hasMore()) event.preventDefault(); });
}
