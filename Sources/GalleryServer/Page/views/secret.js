// What is shown once: the secret of a key, a share link. To be copied, and gone with its dialog.

import { t } from '../text/text.js';
import { showDialog } from './dialog.js';
import { h, uniqueName } from './dom.js';

/**
 * @param {string} title
 * @param {string} sentence
 * @param {string} secret
 */
export function secretDialog(title, sentence, secret) {
  return showDialog(title, (close) => {
    const name = uniqueName('secret');
    const field = h('input', { class: 'secret', readonly: true, '.value': secret, 'aria-describedby': name,
      'aria-label': title,
      onfocus: () => field.select() });
    const state = h('p', { role: 'status', class: 'soft' });
    return [h('p', { id: name }, sentence), field, state, h('div', { class: 'dialog-actions' },
      h('button', { class: 'button', onclick: async () => { state.textContent = await copied(field); } },
        t('secret.copy')),
      h('button', { class: 'button main', onclick: () => close() }, t('secret.done')))];
  });
}

/**
 * Copies a field's text. Without a secure context browsers give pages no clipboard, only the command of old.
 * @param {HTMLInputElement} field
 * @returns {Promise<string>} what became of it
 */
async function copied(field) {
  field.focus();
  field.select();
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
    else if (!document.execCommand('copy')) return t('secret.notCopied');
    return t('secret.copied');
  } catch {
    // The browser refused, as it may; the text is selected for the keyboard.
    return t('secret.notCopied');
  }
}
