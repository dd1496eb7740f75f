// Albums, smart albums and folders as cards: cover, title, count. Cards can be put into another order.
//
//   drag with the mouse     between two cards: there; onto a folder: into it
//   Alt and arrow keys      one place on, on the card that has the focus
//   the card's menu         one place, to the beginning, to the end, into a folder
//
// A card stays the same element while the list around it changes, so the focus and the loaded cover stay too.

import { items } from '../client/photoledger.js';
import { fetchName } from '../model/collections.js';
import { messageOf } from '../model/failures.js';
import { isolated, t } from '../text/text.js';
import { App } from './app.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { placeholderURL } from './placeholder.js';

/** @typedef {import('../model/collections.js').Collection} Collection */

/**
 * @typedef {object} CardEvents
 * @property {(one: Collection) => void} onMenu
 * @property {(one: Collection, before: number) => void} onMove it is to stand before the card of that place
 * @property {(one: Collection, folder: Collection) => void} onInto
 */

/** How many covers are asked for at once. */
const coversAtOnce = 4;
/**
 * Where arrow keys lead.
 * @type {Record<string, number>}
 */
const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
/** How far the pointer goes before a press becomes a drag, CSS pixels. */
const slack = 8;
/** @type {Record<Collection['kind'], string>} */
export const kindIcons = { album: 'album', smartAlbum: 'stack', folder: 'folder' };

/**
 * What people see in place of a title that is empty.
 * @param {{ title: string }} one
 */
export const titleOf = (one) => one.title.trim() === '' ? t('albums.untitled') : one.title;

/**
 * The titles of the folders around a collection and its own, the outermost first.
 * @param {import('../model/collections.js').Collections} tree
 * @param {Collection} one
 */
export const pathOf = (tree, one) => [...tree.path(one), one].map((part) => isolated(titleOf(part))).join(' › ');

/** Reads covers and counts, a few at a time, of what is on the screen. */
export class Covers {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /**
     * What is to be read, by the cover that it is for, so that an import of many commits adds nothing to it.
     * @type {Map<HTMLElement, () => Promise<void>>}
     */
    this.waiting = new Map();
    this.running = 0;
    this.isClosed = false;
  }

  /** Whether something is being read or is to be. */
  get isBusy() {
    return this.running > 0;
  }

  /**
   * Reads the first photo and the count of a fetch, in place of a reading for the same cover that has not begun.
   * @param {HTMLElement} cover
   * @param {object} question with one word, see `fetchName`
   * @param {(first: import('../client/photoledger.js').Item | null, count: number) => void} show
   * @param {(error: unknown) => void} fail
   * @param {string | null} [photo] the photo in place of the first, if the fetch holds it
   * @param {boolean} [mayCountDays] whether it may count back from a day, which the server adds to its name
   */
  read(cover, question, show, fail, photo = null, mayCountDays = false) {
    this.waiting.set(cover, async () => {
      try {
        const name = mayCountDays ? (await this.app.client.openFetch(question)).fetch : fetchName(question);
        const path = `/v1/fetches/${name}`;
        const place = photo && await this.app.client.ask('GET', `${path}/index`, { query: { asset: photo } });
        const query = { count: 1, form: 'columns', ...place ? { start: place.index ?? 0, token: place.token } : {} };
        const window = await this.app.client.ask('GET', `${path}/items`, { query });
        if (!this.isClosed) show(items(window.columns)[0] ?? null, window.total);
      } catch (error) {
        if (!this.isClosed) fail(error);
      }
    });
    this.run();
  }

  async run() {
    if (this.running >= coversAtOnce) return;
    this.running += 1;
    while (this.waiting.size > 0 && !this.isClosed) {
      const [[cover, read]] = this.waiting;
      this.waiting.delete(cover);
      await read();
    }
    this.running -= 1;
  }

  close() {
    this.isClosed = true;
    this.waiting.clear();
  }
}

/**
 * Puts a photo's picture into a cover, or an icon where there is none.
 * @param {App} app
 * @param {HTMLElement} cover
 * @param {import('../client/photoledger.js').Item | null} item
 * @param {string} kind the icon
 */
export function showCover(app, cover, item, kind) {
  const url = item && item.rendition !== 'failed' ? app.client.renditionURL(item, 'small') : null;
  if (cover.dataset.url === (url ?? kind)) return;
  cover.dataset.url = url ?? kind;
  cover.dataset.photo = item?.id ?? '';
  const background = item?.placeholder ? placeholderURL(item.placeholder) : null;
  cover.style.backgroundImage = background ? `url(${background})` : '';
  if (!url) {
    fill(cover, icon(kind));
    return;
  }
  const image = h('img', { alt: '', draggable: 'false', decoding: 'async', loading: 'lazy', onerror: () => {
    // The picture is not made yet or cannot be made; the placeholder stays, and the next look asks again.
    delete cover.dataset.url;
    image.remove();
    if (!background) fill(cover, icon(kind));
  } });
  image.src = url;
  fill(cover, image);
}

/**
 * Whether a cover lacks the picture of one of some photos.
 * @param {HTMLElement} cover
 * @param {Set<string>} ids
 */
export const isWaitingFor = (cover, ids) =>
  ids.has(cover.dataset.photo ?? '') && !cover.querySelector('img')?.naturalWidth;

class Card {
  /**
   * @param {Cards} cards
   * @param {Collection} one
   */
  constructor(cards, one) {
    this.cards = cards;
    this.one = one;
    this.isSeen = false;
    this.cover = h('span', { class: 'cover' }, icon(kindIcons[one.kind]));
    this.title = h('span', { class: 'card-title', dir: 'auto' });
    this.count = h('span', { class: 'card-count' });
    this.link = h('a', {
      class: 'card-link', href: App.href('albums', one.id), draggable: 'false',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    }, this.cover, h('span', { class: 'card-words' }, this.title,
      h('span', { class: 'card-line' }, one.kind === 'album' ? null : icon(kindIcons[one.kind]), this.count)));
    this.menu = cards.events && h('button', {
      class: 'icon-button card-menu', onclick: () => cards.events?.onMenu(this.one),
    }, icon('more'));
    this.element = h('li', { class: 'card', 'data-id': one.id, 'data-kind': one.kind }, this.link, this.menu);
    this.element.addEventListener('dragstart', (event) => event.preventDefault());
    if (cards.events) this.element.addEventListener('pointerdown', (event) => cards.press(event, this));
    this.show(one);
  }

  /** @param {Collection} one */
  show(one) {
    const isOther = one !== this.one;
    this.one = one;
    const title = titleOf(one);
    if (this.title.textContent !== title) this.title.textContent = title;
    this.menu?.setAttribute('aria-label', t('albums.menu', { title }));
    if (one.kind === 'folder') this.count.textContent = t('albums.members', { count: one.count ?? 0 });
    else if (one.count !== null) this.count.textContent = t('photos.count', { count: one.count });
    else if (this.count.textContent === '') this.count.textContent = t('albums.smart');
    if (this.isSeen && isOther) this.look();
  }

  /** Reads the cover, once the card is on the screen and after each change of the collection. */
  look() {
    this.isSeen = true;
    const { one } = this;
    if (one.kind === 'folder') return;
    this.cards.covers.read(this.cover, { album: one.id }, (first, count) => {
      this.count.textContent = t('photos.count', { count });
      showCover(this.cards.app, this.cover, first, kindIcons[one.kind]);
    }, (error) => {
      // An album that was deleted a moment ago leaves with the next reading of the list.
      this.count.textContent = messageOf(error);
    }, one.cover, one.kind === 'smartAlbum');
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = steps[event.key];
    if (!event.altKey || !step || !this.cards.events) return;
    event.preventDefault();
    const place = this.cards.placeOf(this);
    const before = step < 0 ? place - 1 : place + 2;
    if (before >= 0 && before <= this.cards.order.length) this.cards.events.onMove(this.one, before);
  }
}

/** The cards of a folder or of the top level. */
export class Cards {
  /**
   * @param {App} app
   * @param {Covers} covers
   * @param {CardEvents | null} events null if nothing can be changed
   */
  constructor(app, covers, events) {
    this.app = app;
    this.covers = covers;
    this.events = events;
    /** @type {Map<string, Card>} */
    this.known = new Map();
    /** @type {Card[]} */
    this.order = [];
    this.element = h('ul', { class: 'cards', role: 'list' });
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const card = this.known.get(/** @type {HTMLElement} */ (entry.target).dataset.id ?? '');
        if (entry.isIntersecting && card && !card.isSeen) card.look();
      }
    }, { rootMargin: '200px' });
  }

  /**
   * Shows covers whose pictures are made by now.
   * @param {Set<string>} ids
   */
  freshen(ids) {
    for (const card of this.order) if (card.isSeen && isWaitingFor(card.cover, ids)) card.look();
  }

  /** Shows the covers and counts of now, of cards that were seen: photos changed. */
  look() {
    for (const card of this.order) if (card.isSeen) card.look();
  }

  /** @param {Card} card */
  placeOf(card) {
    return this.order.indexOf(card);
  }

  /** @param {Collection[]} collections */
  show(collections) {
    const focused = document.activeElement;
    const place = this.order.findIndex((card) => card.element.contains(focused));
    const ids = new Set(collections.map((one) => one.id));
    for (const [id, card] of this.known) {
      if (ids.has(id)) continue;
      this.observer.unobserve(card.element);
      card.element.remove();
      this.known.delete(id);
    }
    this.order = collections.map((one) => {
      const known = this.known.get(one.id);
      if (known) known.show(one);
      const card = known ?? new Card(this, one);
      if (!known) {
        this.known.set(one.id, card);
        this.observer.observe(card.element);
      }
      return card;
    });
    this.order.forEach((card, place) => {
      if (this.element.children[place] !== card.element) {
        this.element.insertBefore(card.element, this.element.children[place] ?? null);
      }
    });
    // An element that is put elsewhere loses the focus; that of one which goes is for the card in its place.
    if (place < 0 || focused === document.activeElement) return;
    if (focused instanceof HTMLElement && this.element.contains(focused)) focused.focus();
    else this.order[Math.min(place, this.order.length - 1)]?.link.focus();
  }

  /**
   * Begins what may become a drag.
   * @param {PointerEvent} down
   * @param {Card} card
   */
  press(down, card) {
    if (down.button !== 0 || down.pointerType !== 'mouse') return;
    if (down.target instanceof Element && down.target.closest('.card-menu')) return;
    let isDragging = false;
    /** @type {{ card: Card, place: 'before' | 'after' | 'into' } | null} */
    let target = null;
    const mark = (/** @type {typeof target} */ next) => {
      target?.card.element.classList.remove('drop-before', 'drop-after', 'drop-into');
      target = next;
      target?.card.element.classList.add(`drop-${target.place}`);
    };
    const move = (/** @type {PointerEvent} */ event) => {
      if (!isDragging && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) <= slack) return;
      isDragging = true;
      this.element.classList.add('dragging');
      card.element.classList.add('dragged');
      mark(this.targetAt(event, card));
    };
    const end = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', up);
      removeEventListener('pointercancel', end);
      removeEventListener('keydown', cancel, true);
      this.element.classList.remove('dragging');
      card.element.classList.remove('dragged');
      mark(null);
    };
    const cancel = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      end();
    };
    const up = () => {
      const found = target;
      const wasDragging = isDragging;
      end();
      if (!wasDragging) return;
      // The click that follows would open the album.
      const swallow = (/** @type {Event} */ click) => { click.preventDefault(); };
      card.link.addEventListener('click', swallow, { capture: true, once: true });
      setTimeout(() => card.link.removeEventListener('click', swallow, true), 0);
      if (!found) return;
      if (found.place === 'into') this.events?.onInto(card.one, found.card.one);
      else this.events?.onMove(card.one, this.placeOf(found.card) + (found.place === 'after' ? 1 : 0));
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
    addEventListener('pointercancel', end);
    addEventListener('keydown', cancel, true);
  }

  /**
   * Where a card would go.
   * @param {PointerEvent} event
   * @param {Card} card
   * @returns {{ card: Card, place: 'before' | 'after' | 'into' } | null}
   */
  targetAt(event, card) {
    const element = document.elementFromPoint(event.clientX, event.clientY)?.closest('.card');
    const found = element instanceof HTMLElement ? this.known.get(element.dataset.id ?? '') : undefined;
    if (!found || found === card || !this.element.contains(found.element)) return null;
    const box = found.element.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    if (found.one.kind === 'folder' && share > 0.25 && share < 0.75) return { card: found, place: 'into' };
    const isAfter = getComputedStyle(this.element).direction === 'rtl' ? share < 0.5 : share > 0.5;
    return { card: found, place: isAfter ? 'after' : 'before' };
  }

  close() {
    this.observer.disconnect();
  }
}
