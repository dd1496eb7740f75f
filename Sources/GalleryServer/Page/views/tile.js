// One picture of a grid: an option of its listbox.

import { clearSource, setSource } from '../client/pictures.js';
import { t, wallTime } from '../text/text.js';
import { h, uniqueName } from './dom.js';
import { icon } from './icons.js';
import { placeholderURL } from './placeholder.js';

/** @typedef {import('../client/photoledger.js').Item} Item */

/** How many pictures that are not made yet are waited for at once; the others come by the feed. */
const waitLimit = 2;
let waiting = 0;
/** For how long a picture that could not be had is left alone, milliseconds; less if the feed says that it is there. */
const refusedFor = 10_000;
/** The pictures that could not be had, with the time of that, oldest first. @type {Map<string, number>} */
const refused = new Map();

/**
 * Whether a picture could not be had a moment ago. Each answer draws anew, so without this a server that refuses at once
 * would be asked at each frame.
 * @param {string} url
 */
function isRefused(url) {
  const now = performance.now();
  for (const [one, since] of refused) {
    if (now - since < refusedFor) break;
    refused.delete(one);
  }
  return refused.has(url);
}

/** Has every picture asked for again with the next drawing: the server was away, and is there again. */
export function forgetRefused() {
  refused.clear();
}

/** PhotoKit's bit of Live Photos. */
export const livePhoto = 8;

/**
 * What a screen reader says of an item.
 * @param {Item} item
 */
export function spoken(item) {
  // A clock without an offset is kept as if it were UTC; what is only an instant is shown by the reader's clock.
  const offset = item.offset ?? (item.hasClock ? 0 : null);
  const date = Number.isNaN(item.date) ? t('tile.undated') : wallTime(item.date, offset);
  const kind = item.mediaType === 2 ? 'tile.video' : item.mediaSubtypes & livePhoto ? 'tile.live' : 'tile.image';
  return t(kind, { date }) + (item.isStackTop ? `, ${t('tile.stack')}` : '')
    + (item.isFavorite ? `, ${t('tile.favorite')}` : '');
}

/**
 * A length of time as players show it.
 * @param {number} seconds
 */
export function clock(seconds) {
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] > 0 ? parts : parts.slice(1);
  return shown.map((part, index) => index === 0 ? String(part) : String(part).padStart(2, '0')).join(':');
}

export class Tile {
  /**
   * @param {import('./app.js').App} app
   * @param {string} group
   * @param {() => void} again called when more can be asked for: a picture that was waited for is there or failed, or
   *   one that could not be had may be had now
   */
  constructor(app, group, again) {
    this.app = app;
    this.again = again;
    /** @type {Item | null} */
    this.item = null;
    this.index = -1;
    /** What is written of the place and of the state. @type {import('../layout/place.js').Rect | null} */
    this.rect = null;
    /** @type {{ count: number, isSelected: boolean, isCursor: boolean, isSelecting: boolean } | null} */
    this.state = null;
    this.element = h('div', { class: 'tile', role: 'option', id: uniqueName(group), 'aria-selected': 'false' });
    /** @type {HTMLImageElement | null} */
    this.image = null;
    /** @type {HTMLElement | null} */
    this.badges = null;
    this.url = '';
    this.isWaiting = false;
    /** Until a picture that could not be had is asked for again. @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /**
   * @param {Item | null} item
   * @param {number} index
   * @param {import('../layout/place.js').Rect} rect
   * @param {{ count: number, isSelected: boolean, isCursor: boolean, isSelecting: boolean }} state
   */
  show(item, index, rect, state) {
    const { element } = this;
    // Only what differs is written: most tiles of a frame are where they were.
    const { rect: former } = this;
    if (this.index < 0) element.hidden = false;
    if (!former || former.x !== rect.x || former.y !== rect.y) {
      element.style.transform = `translate(${rect.x}px, ${rect.y}px)`;
    }
    if (!former || former.width !== rect.width) element.style.width = `${rect.width}px`;
    if (!former || former.height !== rect.height) element.style.height = `${rect.height}px`;
    this.rect = rect;
    if (index !== this.index) {
      this.index = index;
      element.dataset.index = String(index);
      element.setAttribute('aria-posinset', String(index + 1));
    }
    const { state: shown } = this;
    if (shown?.count !== state.count) element.setAttribute('aria-setsize', String(state.count));
    if (shown?.isSelected !== state.isSelected) element.setAttribute('aria-selected', String(state.isSelected));
    if (shown?.isCursor !== state.isCursor) element.classList.toggle('cursor', state.isCursor);
    if (shown?.isSelecting !== state.isSelecting) element.classList.toggle('selecting', state.isSelecting);
    this.state = state;
    if (item !== this.item || !element.hasAttribute('aria-label')) this.setItem(item);
    else if (item && !this.isWaiting && !this.url) this.picture(item);
  }

  /** @param {Item | null} item */
  setItem(item) {
    const { element } = this;
    const former = this.item;
    const isSame = item !== null && former !== null && item.id === former.id && item.sha256 === former.sha256;
    // The feed says that it is there now.
    if (isSame && item.rendition === 'ready' && former.rendition !== 'ready') {
      refused.delete(this.app.client.renditionURL(item, 'small') ?? '');
    }
    this.item = item;
    element.setAttribute('aria-label', item ? spoken(item) : t('state.loading'));
    if (item) element.dataset.id = item.id;
    else delete element.dataset.id;
    if (!isSame) this.clear();
    if (!item) return;
    const background = item.placeholder ? placeholderURL(item.placeholder) : null;
    element.style.backgroundImage = background ? `url(${background})` : '';
    element.classList.toggle('failed', item.rendition === 'failed');
    this.picture(item);
    this.showBadges(item);
  }

  /** @param {Item} item */
  picture(item) {
    const url = this.app.client.renditionURL(item, 'small');
    if (!url || this.url === url || item.rendition === 'failed' || isRefused(url)) return;
    if (item.rendition !== 'ready') {
      if (waiting >= waitLimit || this.isWaiting) return;
      waiting += 1;
      this.isWaiting = true;
    }
    this.url = url;
    this.image ??= h('img', { alt: '', draggable: 'false', decoding: 'async' });
    const { image } = this;
    const wasWaiting = this.isWaiting;
    const done = () => {
      if (!wasWaiting) return;
      waiting -= 1;
      this.isWaiting = false;
      this.again();
    };
    image.onload = () => {
      done();
      image.classList.add('there');
    };
    image.onerror = () => {
      refused.delete(url);
      refused.set(url, performance.now());
      done();
      if (this.url === url) this.url = '';
      this.askLater();
      image.remove();
      this.image = null;
    };
    setSource(this.app.client, image, url);
    if (!image.isConnected) this.element.prepend(image);
  }

  /** Has a picture that could not be had asked for again: when some time has passed, or the server is there again. */
  askLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { if (this.app.feed.isOpen) this.again(); }, refusedFor + 100);
  }

  /** @param {Item} item */
  showBadges(item) {
    const isLive = item.mediaType === 1 && (item.mediaSubtypes & livePhoto) !== 0;
    const isVideo = item.mediaType === 2;
    if (!isLive && !isVideo && !item.isFavorite && !item.isStackTop && item.rendition !== 'failed') {
      this.badges?.remove();
      this.badges = null;
      return;
    }
    this.badges?.remove();
    this.badges = h('span', { class: 'badges' }, isVideo && clock(item.duration), isVideo && icon('play'),
      item.isStackTop && icon('stack'), isLive && icon('live'), item.isFavorite && icon('heart'), item.rendition === 'failed' && icon('info'));
    this.element.append(this.badges);
  }

  clear() {
    if (this.image) {
      this.image.onload = null;
      this.image.onerror = null;
      // Ends a request that is on its way.
      clearSource(this.image);
      this.image.remove();
      this.image = null;
    }
    if (this.isWaiting) waiting -= 1;
    this.isWaiting = false;
    clearTimeout(this.timer);
    this.url = '';
    this.badges?.remove();
    this.badges = null;
    this.element.style.backgroundImage = '';
  }

  hide() {
    this.clear();
    this.item = null;
    this.index = -1;
    this.element.hidden = true;
    this.element.removeAttribute('aria-label');
    delete this.element.dataset.id;
  }
}
