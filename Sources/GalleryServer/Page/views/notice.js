// Notices: what was done, with Undo; what did not work, with the server's sentence. Read aloud, and gone by themselves.

import { Outdated, messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { h } from './dom.js';
import { icon } from './icons.js';

/** The notices of a page, at its lower edge. */
export class Notices {
  constructor() {
    this.element = h('div', { class: 'notices', role: 'log', 'aria-label': t('notices'), 'aria-live': 'polite' });
    /**
     * What had the focus before a notice had it.
     * @type {EventTarget | null}
     */
    this.former = null;
    this.element.addEventListener('focusin', ({ relatedTarget }) => {
      // There is none when the window comes back to a notice that had the focus.
      if (relatedTarget && !this.element.contains(/** @type {Node} */ (relatedTarget))) this.former = relatedTarget;
    });
  }

  /**
   * Removes a notice. The focus goes back to where it was before the notice had it.
   * @param {Element | null} notice
   */
  remove(notice) {
    const hasFocus = notice?.contains(document.activeElement);
    notice?.remove();
    if (!hasFocus) return;
    if (this.former instanceof HTMLElement) this.former.focus({ preventScroll: true });
    this.former = null;
  }

  /**
   * Shows a notice.
   * @param {string} sentence
   * @param {{ isError?: boolean, action?: string, onAction?: () => void, seconds?: number }} options
   */
  show(sentence, { isError = false, action, onAction, seconds = isError ? 15 : 8 } = {}) {
    const remove = () => {
      clearTimeout(timer);
      this.remove(notice);
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
      if (notice.contains(document.activeElement)) return;
      timer = setTimeout(remove, seconds * 1000);
    };
    notice.addEventListener('pointerenter', hold);
    notice.addEventListener('focusin', hold);
    notice.addEventListener('pointerleave', release);
    notice.addEventListener('focusout', release);
    while (this.element.childElementCount > 2) this.remove(this.element.firstElementChild);
    this.element.append(notice);
    return remove;
  }

  /**
   * Shows why something failed.
   * @param {unknown} error
   */
  fail(error) {
    const reload = error instanceof Outdated
      && { action: t('update.reload'), onAction: () => location.reload() };
    this.show(messageOf(error), { isError: true, ...reload });
  }
}
