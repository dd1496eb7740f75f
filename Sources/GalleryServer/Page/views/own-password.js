// Changing one's own password, which ends all sessions of the person.

import { Problem } from '../client/photoledger.js';
import { t } from '../text/text.js';
import { h } from './dom.js';
import { field, formDialog } from './forms.js';

/**
 * Asks for the password of now and the new one, and leads to the sign-in.
 * @param {import('./app.js').App} app
 * @param {string} person
 */
export async function changePassword(app, person) {
  const old = h('input', { type: 'password', autocomplete: 'current-password', maxlength: 256, required: true,
    autofocus: true });
  const password = h('input', { type: 'password', autocomplete: 'new-password', minlength: 8, maxlength: 256,
    required: true });
  const isDone = await formDialog(t('account.password'), t('people.setPassword'), [
    h('p', null, t('account.password.sentence')), field(t('account.password.old'), old),
    field(t('account.password.new'), password)], async () => {
    try {
      await app.client.ask('PUT', `/v1/people/${encodeURIComponent(person)}/password`,
        { json: { old: old.value, password: password.value } });
    } catch (error) {
      const isWrong = error instanceof Problem && error.status === 403 && error.type !== 'other-session';
      throw isWrong ? new Error(t('account.password.wrong')) : error;
    }
    return true;
  });
  if (isDone) app.signedOut();
}
