// Making a share link of a selection. The link is shown once; the server keeps only its hash.

import { t } from '../text/text.js';
import { h } from './dom.js';
import { field, formDialog } from './forms.js';
import { secretDialog } from './secret.js';

/**
 * Makes a share link.
 * @param {import('./app.js').App} app
 * @param {string[]} ids what it shows
 * @returns {Promise<boolean>} whether it was made
 */
export async function makeShare(app, ids) {
  const title = h('input', { required: true, maxlength: 200, autofocus: true });
  const password = h('input', { type: 'password', autocomplete: 'new-password', minlength: 8, maxlength: 256 });
  const days = h('input', { type: 'number', min: 1, max: 3650, '.value': '30' });
  const upload = h('input', { type: 'checkbox' });
  const originals = h('input', { type: 'checkbox' });
  const assets = ids.map((id) => id.split('/')[0]);
  const share = await formDialog(t('sharing.title', { count: ids.length }), t('sharing.act'), [
    field(t('sharing.name'), title), field(t('sharing.password'), password, t('sharing.password.hint')),
    field(t('sharing.days'), days, t('sharing.days.hint')),
    h('label', { class: 'choice' }, originals, h('span', null, t('sharing.originals'))),
    h('label', { class: 'choice' }, upload, h('span', null, t('sharing.upload'))),
  ], () => app.client.ask('POST', '/v1/shares', { json: {
    title: title.value.trim(), assets, upload: upload.checked, originals: originals.checked,
    ...(password.value === '' ? {} : { password: password.value }), ...(days.value === '' ? {} : { days: Number(days.value) }),
  } }));
  if (!share) return false;
  await secretDialog(t('sharing.made', { title: share.title }), t('sharing.once'), new URL(share.link, location.href).href);
  app.notices.show(t('sharing.done', { count: ids.length }), { action: t('sharing.end'), onAction: async () => {
    try {
      await app.client.ask('DELETE', `/v1/shares/${encodeURIComponent(share.name)}`);
      app.notices.show(t('people.share.ended'));
    } catch (error) {
      app.notices.fail(error);
    }
  } });
  return true;
}
