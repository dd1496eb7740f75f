// The pictures of a burst or of a stack below the one that stands for it, and the choice of another.
//
// The list shows one asset of a burst, and of a stack the one on top. When another one stands for it, the list loses
// the first and gains the second; the viewer knows which one to expect, and stays with the burst. A stack can be taken
// apart, too. An asset that represents its burst and is in a stack is offered with its burst.
//
// A picture that is looked at is what the viewer is about until another is: its facts, its file, and what is committed.

import { items } from '../client/photoledger.js';
import { t } from '../text/text.js';
import { fill, h, uniqueName } from './dom.js';
import { spoken } from './tile.js';
import { quoted } from './viewing.js';

/** @typedef {import('../client/photoledger.js').Item} Item */

/** How many pictures of a burst are shown. */
const limit = 200;

export class Burst {
  /** @param {import('./viewer.js').Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.element = h('div', { class: 'viewer-burst', role: 'group', id: uniqueName('burst'), hidden: true });
    /** Whether the pictures are those of a stack. */
    this.isStack = false;
    /** The burst's identifier, or that of the asset on top of the stack. */
    this.group = '';
    /** @type {Item[]} */
    this.items = [];
    /**
     * What was asked for: the asset, and its burst or stack.
     * @type {string | null}
     */
    this.of = null;
    /**
     * A picture that is looked at without standing for the burst.
     * @type {Item | null}
     */
    this.preview = null;
  }

  /** Another asset is shown. */
  leave() {
    this.items = [];
    this.of = null;
    this.preview = null;
    this.element.hidden = true;
    this.viewer.bar.burst.hidden = true;
    this.viewer.bar.burst.setAttribute('aria-expanded', 'false');
    fill(this.element);
  }

  /**
   * Offers the burst or the stack of an asset, if it has one.
   * @param {any} asset
   */
  async offer(asset) {
    const { preview } = this;
    if (preview) {
      // It is of what is offered already, and no list follows it.
      preview.isFavorite = asset.isFavorite;
      this.viewer.heard();
      return;
    }
    const group = asset.burstIdentifier ?? asset.stack;
    const of = group ? `${asset.localIdentifier} ${group}` : null;
    if (this.of === of) return;
    if (this.of !== null) this.leave();
    if (of === null) return;
    this.of = of;
    this.isStack = !asset.burstIdentifier;
    this.group = group;
    const { client } = this.viewer.app;
    try {
      const question = {
        where: `${this.isStack ? 'stack' : 'burstIdentifier'} == ${quoted(group)}`, allBursts: true,
          allStacks: true, hidden: asset.isHidden, sort: ['creationDate'],
      };
      const { fetch, token, count } = await client.openFetch(question, this.viewer.at);
      const path = `/v1/fetches/${encodeURIComponent(fetch)}/items`;
      const window = await client.ask('GET', path, { query: { token, start: 0, count: limit, form: 'columns' } });
      if (this.of !== of || this.viewer.asset?.localIdentifier !== asset.localIdentifier) return;
      this.items = items(window.columns);
      if (this.items.length < 2) return;
      const { burst } = this.viewer.bar;
      burst.hidden = false;
      burst.setAttribute('aria-label', this.words(count));
      burst.title = this.words(count);
      this.element.setAttribute('aria-label', t(this.isStack ? 'viewer.stack.pictures' : 'viewer.burst.pictures'));
      burst.setAttribute('aria-controls', this.element.id);
    } catch (error) {
      this.of = null;
      this.viewer.app.notices.fail(error);
    }
  }

  /** @param {number} count */
  words(count) { return t(this.isStack ? 'viewer.stack' : 'viewer.burst', { count }); }

  toggle() {
    const isOpen = this.element.hidden;
    this.element.hidden = !isOpen;
    this.viewer.bar.burst.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) {
      this.draw();
      this.element.querySelector('button')?.focus();
    } else if (this.preview) this.look(null);
  }

  draw() {
    const { viewer } = this;
    const shown = this.preview ?? viewer.item;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.burst;
    const choice = viewer.canChange && h('button', {
      class: 'button main', type: 'button', disabled: !this.preview, 'data-burst': 'choose',
        onclick: () => this.represent(),
    }, t(this.isStack ? 'viewer.stack.represent' : 'viewer.burst.represent'));
    const apart = viewer.canChange && this.isStack && h('button', {
      class: 'button', type: 'button', 'data-burst': 'apart', onclick: () => this.takeApart(),
    }, t('viewer.stack.apart'));
    fill(this.element, h('p', { class: 'viewer-burst-count' }, this.words(this.items.length)),
      h('div', { class: 'viewer-burst-strip' }, ...this.items.map((item, index) => {
        const url = item.rendition === 'failed' ? null : viewer.app.client.renditionURL(item, 'small');
        return h('button', {
          class: 'viewer-burst-picture', type: 'button', 'data-burst': item.id,
            'aria-pressed': String(item.id === shown?.id),
          'aria-label': t('viewer.burst.picture', { index: index + 1, count: this.items.length,
            picture: spoken(item) }),
          onclick: () => this.look(item.id === viewer.item?.id ? null : item),
        }, url && h('img', { alt: '', src: url, draggable: 'false' }));
      })), choice, apart);
    if (focused) {
      [...this.element.querySelectorAll('button')].find((one) => one.dataset.burst === focused)?.focus();
    }
  }

  /**
   * Looks at a picture of the burst; null for the one that stands for it.
   * @param {Item | null} item
   */
  look(item) {
    const { viewer } = this;
    if (this.preview === item) return;
    this.preview = item;
    viewer.asset = null;
    viewer.panel.clear();
    if (viewer.shown) viewer.picture.show(viewer.shown);
    viewer.ask();
    viewer.bar.show();
    if (!this.element.hidden) this.draw();
  }

  /**
   * A picture of the burst left it, or is where it is not shown.
   * @param {Item} item
   */
  lose(item) {
    this.items = this.items.filter((one) => one !== item);
    if (this.preview === item) this.look(null);
    if (this.items.length < 2) this.leave();
  }

  /** Shows each photo of the stack by itself. */
  async takeApart() {
    const { viewer } = this;
    const top = this.group.split('/')[0];
    if (this.preview) this.look(null);
    const isDone = await viewer.commit([{ op: 'asset.unstack', assets: [top] }],
      t('viewer.stack.apartDone'));
    if (isDone) this.leave();
  }

  /** Makes the picture on view the representative of the burst, or the top of the stack. */
  async represent() {
    const { preview, viewer } = this;
    if (!preview) return;
    viewer.successor = preview.id;
    const id = preview.id.split('/')[0];
    const isDone = await viewer.commit(
      [this.isStack ? { op: 'asset.stack', top: id, assets: [] } : { op: 'burst.represent', asset: id }],
      t(this.isStack ? 'viewer.stack.done' : 'viewer.burst.done'));
    if (!isDone) viewer.successor = null;
  }
}
