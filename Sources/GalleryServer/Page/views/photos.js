// All photos, newest first.

import { Grid } from './grid.js';
import { h } from './dom.js';
import { t } from '../text/text.js';

/**
 * @param {import('./app.js').App} app
 * @param {import('./app.js').Address} address
 */
export async function open(app, address) {
  const grid = await Grid.open(app, { question: { sort: ['creationDate:desc'] } });
  const count = h('p', { class: 'count', 'aria-live': 'polite' });
  const show = () => {
    count.textContent = grid.list.count === 0 ? t('photos.empty') : t('photos.count', { count: grid.list.count });
  };
  grid.list.addEventListener('change', show);
  show();
  const element = h('section', { class: 'view with-grid' },
    h('header', { class: 'view-head' }, h('h1', null, t('nav.photos')), count), grid.element);
  return { title: t('nav.photos'), element, close: () => grid.close() };
}
