// Forms in dialogs, whose request can fail: the sentence of the failure stands in the dialog, which stays.

import { Problem } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { showDialog } from './dialog.js';
import { h } from './dom.js';

/**
 * A dialog with a form whose request can fail. To dismiss it while the request is on its way takes nothing back: what
 * was done is given all the same, when the answer is there.
 * @param {string} title
 * @param {string} action
 * @param {(Node | null)[]} fields
 * @param {() => Promise<any>} send gives what the dialog is closed with
 * @returns {Promise<any>} undefined if it was dismissed and nothing was done
 */
export async function formDialog(title, action, fields, send) {
  /** @type {Promise<any>} */
  let sent = Promise.resolve();
  const value = await showDialog(title, (close) => {
    const problem = h('p', { role: 'alert', class: 'problem' });
    const submit = h('button', { class: 'button main', type: 'submit' }, action);
    return [h('form', { onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      submit.disabled = true;
      problem.textContent = '';
      try {
        sent = send();
        close(await sent);
      } catch (error) {
        problem.textContent = messageOf(error);
        submit.disabled = false;
      }
    } }, ...fields, problem, h('div', { class: 'dialog-actions' },
      h('button', { class: 'button', type: 'button', onclick: () => close() }, t('action.cancel')), submit))];
  });
  return value ?? await sent.catch(() => undefined);
}

/**
 * Asks for something new that a second request makes twice, such as a key. An answer that does not arrive leaves open
 * whether it was made, which the failure says.
 * @param {import('./app.js').App} app
 * @param {string} path
 * @param {unknown} json
 * @param {string} view the name of the view that lists what there is
 */
export async function make(app, path, json, view) {
  try {
    return await app.client.ask('POST', path, { json });
  } catch (error) {
    // A refusal of the server itself made nothing, and one that does not know says so.
    const isOpen = error instanceof Problem && ([0, 502, 504].includes(error.status)
      || error.status === 503 && ['unknown', 'interrupted'].includes(error.type));
    if (!isOpen) throw error;
    throw new Error(t('form.mayBeMade', { reason: messageOf(error), view: t(view) }), { cause: error });
  }
}

/**
 * A labelled field of a form.
 * @param {string} label
 * @param {HTMLElement} input
 * @param {string} [hint]
 */
export const field = (label, input, hint) =>
  h('label', { class: 'field' }, label, input, hint === undefined ? null : h('span', { class: 'soft' }, hint));
