// Asks for an album: one that is there, or the title of a new one. A field narrows the list; the arrow keys choose.

import { Collections } from '../model/collections.js';
import { folded } from '../model/words.js';
import { t } from '../text/text.js';
import { pathOf, titleOf } from './album-cards.js';
import { showDialog } from './dialog.js';
import { fill, h, uniqueName } from './dom.js';
import { icon } from './icons.js';

/**
 * How far keys go in the list.
 * @type {Record<string, number>}
 */
const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
/** How many albums the list shows; the field finds the others. */
const limit = 200;

/**
 * Asks for an album.
 * @param {import('./app.js').App} app
 * @returns {Promise<{ id?: string, title: string } | undefined>} without an identifier it is to be made
 */
export async function chooseAlbum(app) {
  const tree = await Collections.read(app.client);
  const albums = [...tree.walk()].filter((one) => one.kind === 'album').map((one) => ({
    one, title: pathOf(tree, one), words: folded(one.title),
  }));
  return showDialog(t('choice.title'), (close) => {
    const list = h('ul', {
      class: 'options', role: 'listbox', id: uniqueName('albums'), 'aria-label': t('nav.albums'),
    });
    const field = h('input', {
      type: 'text', role: 'combobox', autocomplete: 'off', maxlength: 1000, autofocus: true, 'aria-expanded': 'true',
      'aria-controls': list.id, 'aria-autocomplete': 'list', placeholder: t('choice.placeholder'),
    });
    const state = h('p', { class: 'soft', role: 'status' });
    /** @type {{ element: HTMLElement, value: { id?: string, title: string } }[]} */
    let options = [];
    let active = 0;
    const setActive = (/** @type {number} */ index) => {
      options[active]?.element.setAttribute('aria-selected', 'false');
      active = Math.min(Math.max(index, 0), Math.max(0, options.length - 1));
      const option = options[active];
      option?.element.setAttribute('aria-selected', 'true');
      option?.element.scrollIntoView({ block: 'nearest' });
      if (option) field.setAttribute('aria-activedescendant', option.element.id);
      else field.removeAttribute('aria-activedescendant');
    };
    /** @type {(value: { id?: string, title: string }, text: string, sign: string) => typeof options[0]} */
    const option = (value, text, sign) => ({
      value,
      element: h('li', {
        role: 'option', id: uniqueName('album'), 'aria-selected': 'false', 'data-album': value.id,
        onclick: () => close(value),
      }, icon(sign), h('span', { dir: 'auto' }, text)),
    });
    const show = () => {
      const title = field.value.trim();
      const wanted = folded(title);
      const found = albums.filter((album) => album.words.includes(wanted));
      options = found.slice(0, limit)
        .map(({ one, title: text }) => option({ id: one.id, title: titleOf(one) }, text, 'album'));
      // What was typed whole is chosen with Enter; a new one of the same title is still offered.
      if (title !== '') options.push(option({ title }, t('choice.new', { title }), 'plus'));
      fill(list, ...options.map(({ element }) => element));
      fill(state, albums.length === 0 && title === '' ? t('choice.none')
        : found.length > limit ? t('choice.more', { count: found.length - limit }) : '');
      setActive(0);
    };
    field.addEventListener('input', show);
    field.addEventListener('keydown', (event) => {
      // Enter ends what an input method composes.
      if (event.isComposing) return;
      const step = steps[event.key];
      if (step) {
        event.preventDefault();
        setActive(active + step);
      } else if (event.key === 'Enter') {
        event.preventDefault();
        if (options[active]) close(options[active].value);
      }
    });
    show();
    return [h('label', { class: 'field' }, t('choice.field'), field), list, state];
  });
}
