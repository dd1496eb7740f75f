// The pictures of a burst below the one that stands for it, and the choice of another.
//
// The list shows one asset of a burst. When another one stands for it, the list loses the first and gains the second;
// the viewer is told which one to expect, and stays with the burst.

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
    this.element = h('div', { class: 'viewer-burst', role: 'group', 'aria-label': t('viewer.burst.pictures'),
      id: uniqueName('burst'), hidden: true });
    /** @type {Item[]} */
    this.items = [];
    /**
     * The asset that the burst was asked for.
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
   * Offers the burst of an asset, if it has one.
   * @param {any} asset
   */
  async offer(asset) {
    if (!asset.burstIdentifier || this.of === asset.localIdentifier) return;
    this.of = asset.localIdentifier;
    const { client } = this.viewer.app;
    try {
      const question = {
        where: `burstIdentifier == ${quoted(asset.burstIdentifier)}`, allBursts: true, hidden: asset.isHidden,
          sort: ['creationDate'],
      };
      const { fetch, token, count } = await client.openFetch(question, this.viewer.at);
      const path = `/v1/fetches/${encodeURIComponent(fetch)}/items`;
      const window = await client.ask('GET', path, { query: { token, start: 0, count: limit, form: 'columns' } });
      if (this.of !== asset.localIdentifier || this.viewer.asset?.localIdentifier !== asset.localIdentifier) return;
      this.items = items(window.columns);
      if (this.items.length < 2) return;
      const { burst } = this.viewer.bar;
      burst.hidden = false;
      burst.setAttribute('aria-label', t('viewer.burst', { count }));
      burst.title = t('viewer.burst', { count });
      burst.setAttribute('aria-controls', this.element.id);
    } catch (error) {
      this.of = null;
      this.viewer.app.notices.fail(error);
    }
  }

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
    }, t('viewer.burst.represent'));
    fill(this.element, h('p', { class: 'viewer-burst-count' }, t('viewer.burst', { count: this.items.length })),
      h('div', { class: 'viewer-burst-strip' }, ...this.items.map((item, index) => {
        const url = item.rendition === 'failed' ? null : viewer.app.client.renditionURL(item, 'small');
        return h('button', {
          class: 'viewer-burst-picture', type: 'button', 'data-burst': item.id,
            'aria-pressed': String(item.id === shown?.id),
          'aria-label': t('viewer.burst.picture', { index: index + 1, count: this.items.length,
            picture: spoken(item) }),
          onclick: () => this.look(item.id === viewer.item?.id ? null : item),
        }, url && h('img', { alt: '', src: url, draggable: 'false' }));
      })), choice);
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
    this.preview = item;
    const shown = item ?? viewer.item;
    if (shown) viewer.picture.show(shown);
    if (!item && viewer.asset) viewer.picture.setAsset(viewer.asset);
    viewer.bar.show();
    if (!this.element.hidden) this.draw();
  }

  /** Lets the picture that is looked at stand for the burst. */
  async represent() {
    const { preview, viewer } = this;
    if (!preview) return;
    viewer.successor = preview.id;
    this.preview = null;
    const isDone = await viewer.commit([{ op: 'burst.represent', asset: preview.id.split('/')[0] }],
      t('viewer.burst.done'));
    if (isDone) return;
    viewer.successor = null;
    this.look(preview);
  }
}
