// Dialogs: the browser's own `dialog`, which keeps the focus inside, closes on Escape, and gives it back.

import { Problem } from '../client/photoledger.js';
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

/**
 * Has an archive of originals prepared. Where files are missing, asks whether to leave out their photos, once more
 * if the server then names further ones.
 * @param {Pick<import('../client/photoledger.js').PhotoLedger, 'ask'>} client
 * @param {string[]} ids
 * @returns {Promise<{ url: string } | null>} null if the rest is not wanted
 * @throws {Problem}
 */
export async function preparedDownload(client, ids) {
  let left = ids;
  for (;;) {
    try {
      return await client.ask('POST', '/v1/downloads', { json: { assets: left } });
    } catch (error) {
      if (!(error instanceof Problem) || error.type !== 'missing-resource') throw error;
      const missing = new Set(error.assets);
      const rest = left.filter((id) => !missing.has(id));
      if (rest.length === left.length) throw error;
      if (rest.length === 0) throw new Problem(404, 'missing-files', t('download.allMissing', { count: ids.length }));
      const sentence = t('download.leaveOut', { count: ids.length - rest.length, total: ids.length });
      if (!await confirmed(t('download.missing'), sentence, t('action.download'))) return null;
      left = rest;
    }
  }
}
