// Who is signed in, their password, and the way out, at the end of the navigation.

import { t } from '../text/text.js';
import { h } from './dom.js';
import { later } from './later.js';

/**
 * @param {import('./app.js').App} app
 * @returns {HTMLElement}
 */
export function account(app) {
  const { client, person } = app.session;
  const button = h('button', { class: 'button sign-out', onclick: async () => {
    button.disabled = true;
    try {
      await app.signOut();
    } catch (error) {
      button.disabled = false;
      app.notices.fail(error);
    }
  } }, t('account.signOut'));
  // The page comes back if it was kept for what is unfinished and the person signs in again.
  app.addEventListener('signedin', () => { button.disabled = false; });
  const change = async (/** @type {string} */ name) => {
    try {
      await (await later(app, () => import('./own-password.js'))).changePassword(app, name);
    } catch (error) {
      app.notices.fail(error);
    }
  };
  return h('div', { class: 'account' },
    h('p', null, h('span', { class: 'visually-hidden' }, t('account.who')), ' ', h('bdi', null, person ?? client)),
    person && h('button', { class: 'button own-password', onclick: () => change(person) }, t('account.password')),
    button);
}
