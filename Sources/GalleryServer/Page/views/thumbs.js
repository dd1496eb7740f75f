// Pictures outside of a grid: a few, in lists and dialogs, each with its name, some to be chosen.

import { t } from '../text/text.js';
import { h } from './dom.js';
import { placeholderURL } from './placeholder.js';
import { spoken } from './tile.js';

/** @typedef {import('../client/photoledger.js').Item} Item */

/** How many identifiers a predicate names: the name of a fetch holds the whole question, in 2,048 characters. */
const namesAtOnce = 32;

/**
 * A picture, or what stands for it until it is there.
 * @param {import('./app.js').App} app
 * @param {Item} item
 * @returns {HTMLElement}
 */
export function thumb(app, item) {
  const url = item.rendition === 'failed' ? null : app.client.renditionURL(item, 'small');
  const image = url && h('img', {
    src: url, alt: spoken(item), loading: 'lazy', decoding: 'async', draggable: 'false',
    onerror: (/** @type {Event} */ event) => {
      const gone = /** @type {HTMLElement} */ (event.currentTarget);
      gone.replaceWith(missing(item));
    },
  });
  const frame = h('span', { class: 'thumb', 'data-id': item.id }, image || missing(item));
  const background = item.placeholder ? placeholderURL(item.placeholder) : null;
  if (background) frame.style.backgroundImage = `url(${background})`;
  return frame;
}

/** @param {Item} item */
const missing = (item) => h('span', { class: 'thumb-missing' }, spoken(item), ' ', t('thumb.missing'));

/**
 * The items of identifiers, as far as the client sees them.
 * @param {import('../client/photoledger.js').PhotoLedger} client
 * @param {string[]} ids
 * @param {{ question?: import('../client/photoledger.js').Question, at?: string, signal?: AbortSignal }} options
 * @returns {Promise<Map<string, Item>>}
 */
export async function itemsOf(client, ids, { question = { hidden: true, allBursts: true }, at, signal } = {}) {
  /** @type {Map<string, Item>} */
  const found = new Map();
  for (let first = 0; first < ids.length; first += namesAtOnce) {
    const names = ids.slice(first, first + namesAtOnce).map((id) => `'${id.split('/')[0]}'`);
    const state = await client.openFetch({ ...question, where: `localIdentifier IN {${names.join(',')}}` }, at);
    if (state.count === 0) continue;
    const window = await client.window(state.fetch, state.token, 0, namesAtOnce, signal);
    for (const item of window.items) found.set(item.id, item);
  }
  return found;
}

/**
 * A list of pictures to choose from.
 * @param {import('./app.js').App} app
 * @param {string} label
 * @param {(chosen: Set<string>) => void} changed
 */
export function thumbChoice(app, label, changed) {
  /** @type {Set<string>} */
  const chosen = new Set();
  const list = h('ul', { class: 'thumbs', 'aria-label': label });
  return {
    element: list,
    chosen,
    /**
     * Adds a picture.
     * @param {Item} item
     * @param {{ note?: Node | string, isFixed?: boolean }} options a fixed one cannot be chosen
     */
    add(item, { note, isFixed = false } = {}) {
      const box = isFixed ? null : h('input', {
        type: 'checkbox', value: item.id, onchange: () => {
          if (box?.checked) chosen.add(item.id);
          else chosen.delete(item.id);
          changed(chosen);
        },
      });
      list.append(h('li', null, h(isFixed ? 'div' : 'label', { class: 'thumb-choice' }, box, thumb(app, item)),
        note && h('span', { class: 'thumb-note soft' }, note)));
    },
    /** Chooses everything that is listed. */
    all() {
      for (const box of list.querySelectorAll('input')) {
        box.checked = true;
        chosen.add(box.value);
      }
      changed(chosen);
    },
    clear() {
      list.replaceChildren();
      chosen.clear();
      changed(chosen);
    },
  };
}
