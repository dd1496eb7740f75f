// Choosing photos in a dialog: the library as a grid in which a tap selects.

import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { showDialog } from './dialog.js';
import { h } from './dom.js';
import { Grid } from './grid.js';

/** How many photos an answer takes. */
const limit = 10_000;

/**
 * Has photos chosen.
 * @param {import('./app.js').App} app
 * @param {string} title
 * @param {string} sentence what they are chosen for
 * @param {string} action the word on the button that ends it
 * @returns {Promise<string[] | null>} identifiers; null if it was dismissed
 */
export async function choosePhotos(app, title, sentence, action) {
  const grid = await Grid.open(app, { question: { sort: ['creationDate:desc'] }, label: title });
  grid.addEventListener('open', (event) => {
    grid.selection.toggle(/** @type {import('./grid.js').OpenEvent} */ (event).index);
  });
  try {
    return await showDialog(title, (close) => {
      const count = h('p', { class: 'count', role: 'status' }, t('choose.none'));
      const done = h('button', { class: 'button main', disabled: true, onclick: async () => {
        done.disabled = true;
        try {
          close((await grid.selectedIdentifiers()).map((id) => id.split('/')[0]));
        } catch (error) {
          // A notice would lie below the dialog.
          count.textContent = messageOf(error);
          done.disabled = false;
        }
      } }, action);
      grid.selection.addEventListener('change', () => {
        const chosen = grid.selection.count;
        done.disabled = chosen === 0 || chosen > limit;
        count.textContent = chosen === 0 ? t('choose.none')
          : chosen > limit ? t('action.tooMany', { count: limit }) : t('selection.count', { count: chosen });
      });
      const empty = grid.list.count === 0 ? h('p', { class: 'empty' }, t('photos.none')) : null;
      return [h('p', { class: 'chooser-sentence' }, sentence), empty ?? grid.element,
        h('div', { class: 'dialog-actions' }, count, h('button', { class: 'button', onclick: () => close() },
          t('action.cancel')), done)];
    }, { class: 'dialog chooser' }) ?? null;
  } finally {
    grid.close();
  }
}
