// What pages without the gallery's frame share: a page of their own around one sentence or one grid.

import { Feed } from '../client/feed.js';
import { Problem } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { isolated, t } from '../text/text.js';
import { fill, h } from './dom.js';
import { Notices } from './notice.js';

/** What a grid needs of a page, without navigation. */
export class Guest {
  /**
   * @param {import('../client/photoledger.js').PhotoLedger} client
   * @param {HTMLElement} place
   */
  constructor(client, place) {
    this.client = client;
    this.place = place;
    this.feed = new Feed(client);
    this.notices = new Notices();
    this.banner = h('div', { class: 'banner', role: 'status', hidden: true }, t('state.offline'));
    this.feed.addEventListener('connection', () => { this.banner.hidden = this.feed.isOpen; });
  }

  /** The same, as a grid names it. It uses client, feed and notices only. */
  get app() {
    return /** @type {import('./app.js').App} */ (/** @type {unknown} */ (this));
  }

  /**
   * Shows a view.
   * @param {HTMLElement} element
   */
  show(element) {
    fill(this.place, this.banner, h('main', { class: 'main', id: 'main' }, element), this.notices.element);
  }
}

/**
 * Shows a page that says one thing.
 * @param {HTMLElement} place
 * @param {string} title
 * @param {string} sentence
 * @param {...(Node | null | false)} rest
 */
export function sayOnly(place, title, sentence, ...rest) {
  document.title = `${isolated(title)} – ${t('app.name')}`;
  fill(place, h('main', { class: 'saying' }, h('div', { role: 'alert' }, h('h1', null, title), h('p', null, sentence)),
    ...rest));
}

/**
 * Why something failed, for a person.
 * @param {unknown} error
 */
export function reason(error) {
  if (error instanceof Problem && error.status === 0) return t('guest.unreached');
  return messageOf(error);
}
