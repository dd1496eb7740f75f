// Dialogs: the browser's own `dialog`, which keeps the focus inside, closes on Escape, and gives it back.

import { t } from '../text/text.js';
import { fill, h, uniqueName } from './dom.js';
import { icon } from './icons.js';

/** What dismisses each dialog that is open. @type {Set<() => void>} */
const dismissals = new Set();

/** Dismisses all dialogs, since what they are about is left: going back would change the page beneath them. */
export function dismissDialogs() {
  for (const dismiss of [...dismissals]) dismiss();
}

/**
 * Shows a dialog.
 * @param {string} title
 * @param {(close: (value?: any) => void) => (Node | string)[]} content
 * @param {{ class?: string }} [options]
 * @returns {Promise<any>} what it was closed with; undefined if it was dismissed
 */
export function showDialog(title, content, options = {}) {
  return new Promise((resolve) => {
    const name = uniqueName('dialog');
    /** @type {any} */
    let value;
    const dialog = h('dialog', { class: options.class ?? 'dialog', 'aria-labelledby': name, onclose: () => {
      dismissals.delete(dismiss);
      dialog.remove();
      resolve(value);
    } });
    const close = (/** @type {any} */ result) => {
      value = result;
      dialog.close();
    };
    const dismiss = () => close();
    dismissals.add(dismiss);
    fill(dialog,
      h('header', { class: 'dialog-head' }, h('h2', { id: name }, title),
        h('button', { class: 'icon-button', 'aria-label': t('action.close'), onclick: () => close() }, icon('close'))),
      h('div', { class: 'dialog-body' }, ...content(close)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Asks before something is done.
 * @param {string} title
 * @param {string} sentence
 * @param {string} action the word on the button that does it
 * @param {{ isGrave?: boolean }} options
 * @returns {Promise<boolean>}
 */
export async function confirmed(title, sentence, action, { isGrave = false } = {}) {
  return await showDialog(title, (close) => [
    h('p', null, sentence),
    h('div', { class: 'dialog-actions' },
      h('button', { class: 'button', onclick: () => close(false) }, t('action.cancel')),
      h('button', { class: isGrave ? 'button grave' : 'button main', onclick: () => close(true) }, action)),
  ]) === true;
}
