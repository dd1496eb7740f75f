// Notices: what was done, with Undo; what did not work, with the server's sentence. Read aloud, and gone by themselves.

import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { h } from './dom.js';
import { icon } from './icons.js';

/** The notices of a page, at its lower edge. */
export class Notices {
  constructor() {
    this.element = h('div', { class: 'notices', role: 'log', 'aria-label': t('notices'), 'aria-live': 'polite' });
  }

  /**
   * Shows a notice.
   * @param {string} sentence
   * @param {{ isError?: boolean, action?: string, onAction?: () => void, seconds?: number }} options
   */
  show(sentence, { isError = false, action, onAction, seconds = isError ? 15 : 8 } = {}) {
    const remove = () => {
      clearTimeout(timer);
      notice.remove();
    };
    const notice = h('div', { class: isError ? 'notice error' : 'notice', role: isError ? 'alert' : null },
      h('span', null, sentence),
      action && h('button', { class: 'notice-action', onclick: () => { remove(); onAction?.(); } }, action),
      h('button', { class: 'icon-button', 'aria-label': t('action.close'), onclick: remove }, icon('close')));
    let timer = setTimeout(remove, seconds * 1000);
    // A notice that somebody points at or reads with the keyboard stays.
    const hold = () => clearTimeout(timer);
    const release = () => {
      clearTimeout(timer);
      timer = setTimeout(remove, seconds * 1000);
    };
    notice.addEventListener('pointerenter', hold);
    notice.addEventListener('focusin', hold);
    notice.addEventListener('pointerleave', release);
    notice.addEventListener('focusout', release);
    while (this.element.childElementCount > 2) this.element.firstElementChild?.remove();
    this.element.append(notice);
    return remove;
  }

  /**
   * Shows why something failed.
   * @param {unknown} error
   */
  fail(error) {
    this.show(messageOf(error), { isError: true });
  }
}
