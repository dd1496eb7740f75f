// Photos in a grid, with what can be done with them: the timeline, and what albums, search, trash and looking back share.
//
//   header   title, count, sizes, a view's own buttons
//   grid     follows its fetch
//   bar      in place of the header's buttons while something is selected

import { t } from '../text/text.js';
import { barOf } from './actions.js';
import { h } from './dom.js';
import { Grid } from './grid.js';
import { icon } from './icons.js';
import { Viewing } from './viewing.js';

/**
 * @typedef {object} GridViewOptions
 * @property {string} title
 * @property {import('../client/photoledger.js').Question} question
 * @property {string} [at] a state or date to look back at; nothing can be changed then
 * @property {string[]} [actions] names of `actions.js` for a selection; those of the timeline if left out
 * @property {{ id: string, title: string }} [album] the album whose members are shown, if it has members of its own
 * @property {boolean} [isReorderable]
 * @property {Node[]} [tools] what the header has besides
 * @property {Node[]} [above] what stands between header and grid
 * @property {(grid: Grid) => Node} [empty] what is shown in place of an empty grid
 *
 * @typedef {import('./app.js').View & { grid: Grid, stay: (address: import('./app.js').Address) => void }} GridView
 *   `stay`: the view has another address now and shows what it showed
 */

/**
 * Makes a view of photos.
 * @param {import('./app.js').App} app
 * @param {GridViewOptions} options
 * @returns {Promise<GridView>}
 */
export async function gridView(app, options) {
  const { title, question, at, tools = [], above = [] } = options;
  const isPlain = at !== undefined;
  const address = app.read();
  const grid = await Grid.open(app, { question, at, isReorderable: options.isReorderable, isPlain, label: title });
  const count = h('p', { class: 'count', 'aria-live': 'polite' });
  const larger = h('button', { class: 'icon-button', 'aria-label': t('grid.larger'), onclick: () => grid.zoom(-1) }, icon('plus'));
  const smaller = h('button', { class: 'icon-button', 'aria-label': t('grid.smaller'), onclick: () => grid.zoom(1) }, icon('minus'));
  const sizes = () => {
    larger.disabled = !grid.canZoom(-1);
    smaller.disabled = !grid.canZoom(1);
  };
  const head = h('header', { class: 'view-head' }, h('h1', null, title), count,
    h('div', { class: 'view-actions' }, ...tools, smaller, larger));
  const empty = h('div', { class: 'empty', tabindex: '-1' });
  const element = h('section', { class: 'view with-grid', 'aria-label': title }, head, ...above, empty, grid.element);
  const show = () => {
    count.textContent = t('photos.count', { count: grid.list.count });
    const isEmpty = grid.list.count === 0;
    const hadFocus = grid.element.contains(document.activeElement);
    grid.element.classList.toggle('is-empty', isEmpty);
    empty.hidden = !isEmpty;
    if (isEmpty && empty.childElementCount === 0) {
      empty.append(options.empty?.(grid) ?? h('p', null, t('photos.none')));
    }
    // A list without photos is not visible, and has the focus no longer.
    if (isEmpty && hadFocus) empty.focus({ preventScroll: true });
  };
  const bar = isPlain ? null : barOf(app, grid, options.actions ?? timelineActions, { album: options.album ?? null });
  if (bar) {
    element.prepend(bar);
    grid.selection.addEventListener('change', () => { head.hidden = grid.selection.count > 0; });
  }
  grid.addEventListener('count', show);
  grid.addEventListener('zoom', sizes);
  show();
  sizes();
  const viewing = new Viewing(app, grid, { question, at, address });
  const close = () => {
    viewing.close();
    grid.close();
  };
  return {
    title, element, grid, update: (to) => viewing.update(to), stay: (to) => viewing.stay(to), close,
    place: () => grid.place, returnTo: (place) => grid.returnTo(place),
  };
}

/** What can be done with photos of the timeline. */
export const timelineActions = ['favorite', 'hide', 'album', 'share', 'download', 'dates', 'trash'];

/** The kinds that the timeline can be narrowed to. */
const kinds = {
  all: {},
  favorites: { where: 'isFavorite == YES' },
  images: { mediaTypes: ['image'] },
  videos: { mediaTypes: ['video'] },
};

/**
 * All photos, newest first.
 * @param {import('./app.js').App} app
 * @param {import('./app.js').Address} address
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app, address) {
  const wanted = /** @type {keyof typeof kinds} */ (address.query.get('kind') ?? 'all');
  const kind = Object.hasOwn(kinds, wanted) ? wanted : 'all';
  const choice = h('select', {
    'aria-label': t('photos.kind'), onchange: () => app.open('photos', '', choice.value === 'all' ? {} : { kind: choice.value }),
  }, ...Object.keys(kinds).map((name) => h('option', { value: name, '.selected': name === kind }, t(`photos.kind.${name}`))));
  return gridView(app, {
    title: t('nav.photos'), question: { ...kinds[kind], sort: ['creationDate:desc'] }, tools: [choice],
    empty: () => app.emptyWords() ?? h('p', null, t(kind === 'all' ? 'photos.empty' : 'photos.none')),
  });
}
