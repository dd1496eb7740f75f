// Who is signed in, and the way out, at the end of the navigation.

import { t } from '../text/text.js';
import { h } from './dom.js';

/**
 * @param {import('./app.js').App} app
 * @returns {HTMLElement}
 */
export function account(app) {
  const { client, person } = app.session;
  const button = h('button', { class: 'button sign-out', onclick: async () => {
    button.disabled = true;
    try {
      await app.client.ask('DELETE', '/v1/session');
      location.assign('/sign-in');
    } catch (error) {
      button.disabled = false;
      app.notices.fail(error);
    }
  } }, t('account.signOut'));
  return h('div', { class: 'account' },
    h('p', null, h('span', { class: 'visually-hidden' }, t('account.who')), ' ', h('bdi', null, person ?? client)),
      button);
}
