// One photo of a list over the whole page, with its neighbours, and what is known of it.
//
//   dialog.viewer
//     .viewer-stage    the picture, the bar above it, previous and next, a burst's pictures
//     .viewer-panel    information, beside the stage or below it on a phone
//
// The viewer is led along with the list: `index` is where the shown asset stands at the list's state. An asset that
// leaves the list is followed by its neighbour, and the viewer says so. The address names the asset (`?photo=`), so
// Back closes the viewer and a link opens it; what is shown changes the address without a new entry of the history.
//
// Invariant: while something is shown, `item` is the asset that stands at `index`, or the one whose item is on its
// way. What is on the screen is `shown`: that asset, or a picture of its burst or stack. The bar, the panel and every
// command are about `shown`; places, the address and neighbours are about `item`.

import { App } from './app.js';
import { mapped } from '../model/mapped.js';
import { t } from '../text/text.js';
import { actions, isAllowed, run } from './actions.js';
import { dismissDialogs } from './dialog.js';
import { h } from './dom.js';
import { Gestures } from './gestures.js';
import { spoken } from './tile.js';
import { Bar } from './viewer-bar.js';
import { Burst } from './viewer-burst.js';
import { Panel } from './viewer-panel.js';
import { Picture } from './viewer-picture.js';
import { loaded } from './viewing.js';

/** @typedef {import('../client/photoledger.js').Item} Item */
/** @typedef {import('../model/list.js').List} List */

/**
 * @typedef {object} Place Where a viewer was opened: a grid, or what stands in for one.
 * @property {List} list
 * @property {(index: number) => void} setCursor
 * @property {HTMLElement} scroll gets the focus back
 */

/** How long a photo is shown before more than its picture is asked for, and between such questions, milliseconds. */
const settleTime = 120;
const refreshTime = 1200;
/** How far a key pans, CSS pixels. */
const panStep = 80;
/** Where the browser keeps whether the panel is open. */
const panelName = 'photoledger.panel';
/** What the state of the browser's history holds while a viewer is open that made an entry. */
const mark = 'viewer';

/**
 * An identifier without what follows the UUID.
 * @param {string} id
 */
export const short = (id) => id.split('/')[0];

/**
 * Opens a viewer at an item of a grid's list.
 * @param {App} app
 * @param {Place} grid
 * @param {number} index
 * @param {{ at?: string }} options `at`: a state or date to look back at; nothing can be changed then
 */
export function openViewer(app, grid, index, { at } = {}) {
  return new Viewer(app, grid, index, at);
}

/** Whether the panel was open; not where the browser keeps nothing. */
function keptPanel() {
  try {
    return localStorage.getItem(panelName) === 'open';
  } catch {
    return false;
  }
}

/** @param {boolean} isOpen */
function keepPanel(isOpen) {
  try {
    localStorage.setItem(panelName, isOpen ? 'open' : 'closed');
  } catch {
    // A browser that stores nothing begins with a closed panel again.
  }
}

export class Viewer {
  /**
   * @param {App} app
   * @param {Place} grid
   * @param {number} index
   * @param {string | undefined} at
   */
  constructor(app, grid, index, at) {
    this.app = app;
    this.grid = grid;
    this.list = grid.list;
    this.at = at;
    this.index = index;
    /** @type {Item | null} */
    this.item = null;
    /** @type {any} */
    this.asset = null;
    this.isOpen = true;
    /** Whether the shown asset is looked for in a list that began anew: until then the index is another's. */
    this.isFinding = false;
    /**
     * What the list is expected to show in place of the shown one; null if nothing.
     * @type {string | null}
     */
    this.successor = null;
    /**
     * The asset that a command of the viewer takes out of the list.
     * @type {string | null}
     */
    this.leaving = null;
    /**
     * The commands that take an asset out of the list, from the press until it is known what came of them: a second
     * press of the same does nothing.
     * @type {Set<string>}
     */
    this.underway = new Set();
    /**
     * What the heart was pressed to; null once the item says it. A press turns that over, also before the answer.
     * @type {{ id: string, isFavorite: boolean, isSending: boolean } | null}
     */
    this.wish = null;
    this.direction = 1;
    /** @type {HTMLImageElement[]} */
    this.ahead = [];
    this.asking = new AbortController();
    this.own = app.read();
    this.canChange = at === undefined && isAllowed(app, 'favorite');

    /** How much a key or a button enlarges. */
    this.zoomStep = 1.5;
    this.picture = new Picture(app);
    this.panel = new Panel(this);
    this.bar = new Bar(this);
    this.burst = new Burst(this);
    this.spoken = h('p', { class: 'visually-hidden', role: 'status' });
    this.message = h('p', { class: 'viewer-message', role: 'status', hidden: true });
    this.offline = h('p', { class: 'banner', role: 'status' }, t('state.offline'));
    this.showOffline();
    this.middle = h('div', { class: 'viewer-middle' }, this.picture.element, this.bar.previous, this.bar.next);
    this.stage = h('div', { class: 'viewer-stage', tabindex: '-1' }, this.bar.element, this.offline, this.message,
      this.middle,
      this.burst.element, this.spoken);
    this.dialog = h('dialog', {
      class: 'viewer', 'aria-label': t('viewer'), onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onclose: (/** @type {Event} */ event) => { if (event.target === this.dialog) this.closed(); },
    }, this.stage, this.panel.element);
    this.picture.onZoom = () => this.bar.showZoom();
    this.picture.onLive = (isPlaying) => this.bar.live.setAttribute('aria-pressed', String(isPlaying));
    this.followPointers();
    if (innerWidth > 720 && keptPanel()) this.togglePanel();
    /** @type {[EventTarget, string, (event: any) => void][]} */
    this.listeners = [
      [this.list, 'change', (event) => this.changed(event.change)],
      [this.list, 'loaded', () => this.refresh()],
      [this.list, 'renditions', () => this.refresh()],
      [window, 'hashchange', () => this.addressChanged()],
      [app.feed, 'connection', () => this.connectionChanged()],
      [app.feed, 'signedout', () => this.showOffline()],
      // A button that is hidden or removed leaves the focus to the page, which lies below the viewer.
      [document, 'keydown', (event) => {
        if (event.target === document.body && this.isOnTop) this.key(event, this.stage);
      }],
      [document, 'keyup', (event) => { if (event.key === 'l') this.picture.stopLive(); }],
    ];
    for (const [target, name, listener] of this.listeners) target.addEventListener(name, listener);
    document.body.append(this.dialog);
    // Notices have to be above the viewer, where they can be reached.
    this.noticesHome = app.notices.element.parentElement;
    this.dialog.append(app.notices.element);
    this.dialog.showModal();
    this.stage.focus();
    this.showIndex(index);
  }

  /** The asset on the screen: a picture of the burst that is looked at, or else the item of the list. */
  get shown() {
    return this.burst.preview ?? this.item;
  }

  /** Whether the asset on the screen is a favourite, or is about to be one. */
  get isFavorite() {
    const { shown, wish } = this;
    return wish && wish.id === shown?.id ? wish.isFavorite : shown?.isFavorite ?? false;
  }

  followPointers() {
    const { picture } = this;
    new Gestures(this.middle, {
      isEnlarged: () => picture.isEnlarged,
      pan: (x, y) => { if (picture.isEnlarged) picture.pan(x, y); },
      enlarge: (factor, x, y) => picture.zoomTo(picture.view.scale * factor, x, y),
      twice: (x, y) => picture.toggle(x, y),
      drag: (way) => { picture.element.style.transform = way === 0 ? '' : `translateX(${way}px)`; },
      swipe: (step) => {
        picture.element.style.transform = '';
        if (step !== 0) this.step(step);
      },
      hold: () => picture.playLive(),
      letGo: () => picture.stopLive(),
    });
  }

  // MARK: What is shown

  /**
   * Shows the item at an index as soon as it is loaded.
   * @param {number} index
   */
  async showIndex(index) {
    if (this.isFinding) return;
    this.index = Math.min(Math.max(index, 0), this.list.count - 1);
    this.bar.showPosition();
    if (this.refresh()) return;
    const isThere = await loaded(this.list, this.index, 1);
    if (!this.isOpen || this.refresh() || isThere) return;
    if (this.app.feed.isOpen) this.tell(t('viewer.notLoaded'));
  }

  /**
   * Shows what stands at the index now.
   * @returns {boolean} whether it is loaded
   */
  refresh() {
    if (!this.isOpen || this.isFinding) return true;
    const item = this.list.item(this.index);
    if (!item) return false;
    const isOther = this.item?.id !== item.id;
    if (item === this.item) return true;
    const before = this.item;
    this.item = item;
    this.heard();
    if (this.message.textContent === t('viewer.notLoaded')) this.tell('');
    if (!this.burst.preview) this.picture.show(item);
    if (isOther) this.arrived(item);
    else if (before && before.sha256 !== item.sha256) this.askSoon();
    this.bar.show();
    return true;
  }

  /**
   * Another asset is shown.
   * @param {Item} item
   */
  arrived(item) {
    this.asset = null;
    this.burst.leave();
    this.picture.show(item);
    this.dialog.dataset.id = item.id;
    this.spoken.textContent = `${t('viewer.position',
      { index: this.index + 1, count: this.list.count })}. ${spoken(item)}`;
    this.panel.clear();
    this.setAddressSoon();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.ask();
      this.preload();
    }, settleTime);
    this.list.load(this.index - 2, 5);
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  settling = undefined;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  refreshing = undefined;
  lastAsked = 0;

  /** Asks again for what the server knows, after a pause and not too often. */
  askSoon() {
    if (this.refreshing !== undefined) return;
    const wait = Math.max(settleTime, this.lastAsked + refreshTime - performance.now());
    this.refreshing = setTimeout(() => {
      this.refreshing = undefined;
      this.ask();
    }, wait);
  }

  /** Until what the server knew after the last commit is there. */
  asked = Promise.resolve();

  /** Asks for what the server knows of the asset on the screen. */
  async ask() {
    const { shown } = this;
    if (!shown || !this.isOpen) return;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.lastAsked = performance.now();
    try {
      const path = `/v1/assets/${encodeURIComponent(shown.id)}`;
      const asset = await this.app.client.ask('GET', path, { query: { at: this.at }, signal });
      if (signal.aborted || this.shown?.id !== shown.id) return;
      this.asset = asset;
      this.picture.setAsset(asset);
      this.panel.show(asset);
      this.burst.offer(asset);
      this.bar.show();
    } catch (error) {
      if (!signal.aborted && this.shown?.id === shown.id) this.panel.fail(error);
    }
  }

  /** Loads the neighbours' pictures, the one in the direction of the last step first. */
  preload() {
    for (const image of this.ahead) image.removeAttribute('src');
    this.ahead = [];
    for (const step of [this.direction, -this.direction]) {
      const item = this.list.item(this.index + step);
      if (!item || item.mediaType === 3 || item.rendition === 'failed') continue;
      const url = this.app.client.renditionURL(item, 'large');
      if (!url) continue;
      const image = new Image();
      image.src = url;
      this.ahead.push(image);
    }
  }

  /** @param {number} factor */
  enlarge(factor) {
    this.picture.zoomTo(this.picture.view.scale * factor);
  }

  /**
   * Goes to a neighbour.
   * @param {number} step
   */
  step(step) {
    const to = this.index + step;
    if (to < 0 || to >= this.list.count) return;
    this.direction = Math.sign(step);
    this.tell('');
    // A button that goes out of use would take the focus with it.
    if (to === 0 || to === this.list.count - 1) {
      const { activeElement } = document;
      if (activeElement === this.bar.previous || activeElement === this.bar.next) this.stage.focus();
    }
    this.showIndex(to);
  }

  /**
   * Says something above the picture; nothing takes it away.
   * @param {string} sentence
   */
  tell(sentence) {
    this.message.hidden = sentence === '';
    this.message.textContent = sentence;
  }

  togglePanel() {
    const isOpen = this.panel.element.hidden;
    this.panel.element.hidden = !isOpen;
    this.dialog.classList.toggle('with-panel', isOpen);
    this.bar.info.setAttribute('aria-expanded', String(isOpen));
    if (innerWidth > 720) keepPanel(isOpen);
    if (isOpen && this.asset) this.panel.show(this.asset);
    if (!isOpen && this.panel.element.contains(document.activeElement)) this.bar.info.focus();
  }

  // MARK: Following

  /** @param {import('../client/photoledger.js').Change | null} change */
  async changed(change) {
    if (!this.isOpen) return;
    const { item } = this;
    if (this.list.count === 0) {
      this.app.notices.show(t('viewer.allGone'));
      this.close();
      return;
    }
    if (!change) {
      await this.findAgain();
      return;
    }
    if (this.isFinding) return;
    const place = mapped(change, this.index);
    if (place >= 0) {
      this.index = place;
      this.bar.showPosition();
      const isTouched = change.changed.some(([start, count]) => place >= start && place < start + count)
        || change.moved.some(([, after]) => after === place);
      if (isTouched) {
        this.refresh();
        this.ask();
      } else if (this.panel.isFollowing) this.askSoon();
      this.list.load(this.index - 2, 5);
      return;
    }
    // The next one that stays, or else the one before.
    let to = -1;
    const total = change.count + change.removed.reduce((sum, [, count]) => sum + count, 0);
    for (let from = this.index + 1; from < total && to < 0; from += 1) to = mapped(change, from);
    if (to < 0) to = this.list.count - 1;
    if (this.successor !== null) {
      const { successor } = this;
      await loaded(this.list, to - 3, 7);
      for (let near = to - 3; near <= to + 3; near += 1) if (this.list.item(near)?.id === successor) to = near;
      this.successor = null;
    } else if (item && item.id !== this.leaving) this.tell(t('viewer.gone'));
    this.leaving = null;
    if (this.isOpen) this.showIndex(to);
  }

  /** The list began anew: the shown asset is looked for around the index that the server names, or where it was. */
  async findAgain() {
    const { item, index } = this;
    const { fetch, token } = this.list;
    const path = `/v1/fetches/${encodeURIComponent(fetch)}/index`;
    this.isFinding = true;
    const query = { token, asset: item?.id };
    const found = item && await this.app.client.ask('GET', path, { query }).catch(() => null);
    const place = found?.index ?? index;
    const from = Math.max(0, place - 100);
    const isLoaded = await loaded(this.list, from, 200);
    this.isFinding = false;
    if (!this.isOpen || this.item !== item) return;
    for (let near = from; near < from + 200 && near < this.list.count; near += 1) {
      if (item && this.list.item(near)?.id === item.id) {
        this.index = near;
        this.refresh();
        this.bar.showPosition();
        return;
      }
    }
    // One that is there and could not be read is shown as soon as it can be.
    if (isLoaded || place !== found?.index) this.tell(t('viewer.gone'));
    this.showIndex(place);
  }

  /** Says that the server is not reached; not after the session has ended, which the page says. */
  showOffline() {
    this.offline.hidden = this.app.feed.isOpen || this.app.isSignedOut;
  }

  connectionChanged() {
    this.showOffline();
    if (!this.app.feed.isOpen) return;
    this.tell('');
    this.showIndex(this.index);
    if (this.picture.isWaiting) this.picture.load();
    this.ask();
  }

  // MARK: Commands

  /**
   * Commits an edit of the asset on the screen.
   * @param {Record<string, unknown>} fields
   * @param {string} done
   * @returns {Promise<boolean>} whether it was done
   */
  async edit(fields, done) {
    if (!this.shown || !this.canChange) return false;
    return this.commit([{ op: 'asset.edit', assets: [short(this.shown.id)], ...fields }], done);
  }

  /**
   * @param {object[]} operations
   * @param {string} done
   */
  async commit(operations, done) {
    this.dialog.setAttribute('aria-busy', 'true');
    try {
      return await this.app.commit(operations, done) !== null;
    } finally {
      this.dialog.removeAttribute('aria-busy');
      this.asked = this.ask();
    }
  }

  /** What is shown is newer than what the heart was pressed to, unless that is still on its way. */
  heard() {
    if (!this.wish?.isSending) this.wish = null;
  }

  /** Turns over whether the asset on the screen is a favourite. What is wished last is sent last. */
  async toggleFavorite() {
    const { shown } = this;
    if (!shown || !this.canChange) return;
    const former = this.wish?.id === shown.id ? this.wish : null;
    const wish = former ?? { id: shown.id, isFavorite: shown.isFavorite, isSending: false };
    wish.isFavorite = !wish.isFavorite;
    this.wish = wish;
    this.bar.show();
    if (wish.isSending) return;
    wish.isSending = true;
    let isDone = true;
    for (let sent = !wish.isFavorite; isDone && sent !== wish.isFavorite;) {
      sent = wish.isFavorite;
      isDone = await this.commit([{ op: 'asset.edit', assets: [short(shown.id)], isFavorite: sent }],
        t(sent ? 'done.favorite' : 'done.unfavorite', { count: 1 }));
    }
    wish.isSending = false;
    if (this.wish !== wish || (isDone && this.shown?.isFavorite !== wish.isFavorite)) return;
    this.wish = null;
    this.bar.show();
  }

  async trash() {
    if (!this.shown || !this.canChange || (this.asset && this.asset.trashedDate !== null)) return;
    await this.leave({ op: 'asset.trash', assets: [short(this.shown.id)] }, t('done.trash', { count: 1 }));
  }

  /**
   * Commits what takes the asset on the screen out of the list, perhaps; the notice says it then.
   * @param {object} operation
   * @param {string} done
   */
  async leave(operation, done) {
    const name = JSON.stringify(operation);
    if (this.underway.has(name)) return;
    this.underway.add(name);
    const { preview } = this.burst;
    const id = preview ? null : this.item?.id ?? null;
    if (!preview) this.leaving = id;
    try {
      const isDone = await this.commit([operation], done);
      // The list shows another picture of the burst, which stays.
      if (preview && isDone) this.burst.lose(preview);
      if (!preview && !isDone && this.leaving === id) this.leaving = null;
      await this.asked;
    } finally {
      this.underway.delete(name);
    }
  }

  /** Asks for an album and adds the asset to it. */
  async addToAlbum() {
    if (!this.shown || !('album' in actions)) return;
    const context = { album: null, grid: /** @type {import('./grid.js').Grid} */ (this.grid) };
    try {
      if (await run(this.app, 'album', [this.shown.id], context)) this.ask();
    } catch (error) {
      this.app.notices.fail(error);
    }
  }

  /** Whether no other dialog lies over the viewer. */
  get isOnTop() {
    return [...document.body.querySelectorAll('dialog')].every((one) => one === this.dialog || !one.open);
  }

  /**
   * @param {KeyboardEvent} event
   * @param {EventTarget | null} target what the key is meant for
   */
  key(event, target = event.target) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey
      || !(target instanceof Element)) return;
    if (target.closest('dialog') !== this.dialog || target.matches('input, textarea, select, video, audio')) return;
    const { picture } = this;
    const isRating = /^[0-5]$/.test(event.key) && !this.panel.element.hidden;
    const pan = (/** @type {number} */ x, /** @type {number} */ y) => () => picture.pan(x * panStep, y * panStep);
    const isInPanel = this.panel.element.contains(target);
    const isEnlarged = picture.isEnlarged && !isInPanel;
    /** @type {Record<string, (() => void) | undefined>} */
    const commands = {
      ArrowLeft: isEnlarged ? pan(1, 0) : () => this.step(-1), ArrowRight: isEnlarged ? pan(-1, 0) : () => this.step(1),
      ArrowUp: isEnlarged ? pan(0, 1) : undefined, ArrowDown: isEnlarged ? pan(0, -1) : undefined,
      PageUp: () => this.step(-1), PageDown: () => this.step(1),
      Home: () => this.step(-this.index), End: () => this.step(this.list.count - 1 - this.index),
      '+': () => this.enlarge(this.zoomStep), '=': () => this.enlarge(this.zoomStep),
        '-': () => this.enlarge(1 / this.zoomStep),
      z: () => picture.toggle(), i: () => this.togglePanel(), f: this.canChange ? () => this.toggleFavorite()
        : undefined,
      l: event.repeat ? undefined : () => picture.playLive(),
      // On a button of the panel it would mean a keyword or an album.
      Delete: event.repeat || isInPanel ? undefined : () => this.trash(),
    };
    const isScrolling = isInPanel && /^(Page|Home|End)/.test(event.key);
    const command = isRating && this.canChange ? () => this.panel.rate(Number(event.key)) : commands[event.key];
    if (!command || isScrolling) return;
    event.preventDefault();
    command();
  }

  // MARK: Address

  /**
   * The address of the view, with or without a photo.
   * @param {string | null} photo
   */
  href(photo) {
    const query = Object.fromEntries(this.own.query);
    delete query.photo;
    if (photo !== null) query.photo = photo;
    return App.href(this.own.name, this.own.argument, query);
  }

  /** Whether the browser still shows the address of the view that the viewer lies on. */
  get isAtHome() {
    const { name, argument, query } = this.app.read();
    query.delete('photo');
    return App.href(name, argument, Object.fromEntries(query)) === this.href(null);
  }

  /**
   * Puts the photo into the address; not for each that is passed, of which browsers allow a few a second. Once the
   * address has named a photo, one that names none is Back, which the browser reports a moment after it changed the
   * address: it must not be named again in between.
   */
  setAddressSoon() {
    if (!this.item || !this.isAtHome) return;
    if (this.named === null) {
      if (this.isNamed) return;
      history.pushState({ ...history.state, photo: mark }, '', this.href(short(this.item.id)));
    }
    this.isNamed = true;
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => this.setAddress(), 200);
  }

  /** Puts the photo in the place of the one that the address names. */
  setAddress() {
    if (!this.item || !this.isOpen || !this.isAtHome) return;
    const photo = short(this.item.id);
    if (this.named === null || this.named === photo) return;
    history.replaceState(history.state, '', this.href(photo));
  }

  /** The photo that the address names. */
  get named() {
    return this.app.read().query.get('photo');
  }

  isNamed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  addressing = undefined;

  /** Back and links: an address without the photo closes the viewer. */
  addressChanged() {
    if (this.isAtHome && this.named !== null) return;
    this.close();
  }

  /**
   * Closes the viewer, all of it at once: the dialog's event comes a moment later, when the next viewer may be there.
   * @param {{ keepsAddress?: boolean }} options `keepsAddress`: the address is somebody else's already
   */
  close({ keepsAddress = false } = {}) {
    this.keepsAddress = keepsAddress;
    dismissDialogs();
    this.dialog.close();
    this.closed();
  }

  keepsAddress = false;

  /** Everything ends, and the focus returns to the grid at the photo that was seen last. */
  closed() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.asking.abort();
    clearTimeout(this.settling);
    clearTimeout(this.refreshing);
    clearTimeout(this.addressing);
    for (const image of this.ahead) image.removeAttribute('src');
    for (const [target, name, listener] of this.listeners) target.removeEventListener(name, listener);
    this.panel.close();
    this.burst.leave();
    this.picture.close();
    this.noticesHome?.append(this.app.notices.element);
    this.dialog.remove();
    if (!this.keepsAddress && this.isAtHome && this.named !== null) {
      if (history.state?.photo === mark) history.back();
      else history.replaceState(history.state, '', this.href(null));
    }
    this.onClosed();
    if (!this.grid.scroll.isConnected) return;
    this.grid.setCursor(this.index);
    this.grid.scroll.focus({ preventScroll: true });
  }

  /** Called when the viewer is gone. */
  onClosed = () => {};
}
