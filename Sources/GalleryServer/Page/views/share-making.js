// Making a share link of a selection or of an album. The link is shown once; the server keeps only its hash.
//
//   selection   shows these photos, whatever becomes of the album they were chosen in
//   album       follows the album: what comes into it is shown, what leaves it is not

import { t } from '../text/text.js';
import { h } from './dom.js';
import { field, formDialog, make } from './forms.js';
import { secretDialog } from './secret.js';

/** @typedef {import('./app.js').App} App */

/**
 * Makes a share link of photos.
 * @param {App} app
 * @param {string[]} ids what it shows
 * @param {{ id: string, title: string } | null} [album] the album in which they were chosen, which can be followed instead
 * @returns {Promise<boolean>} whether it was made
 */
export function makeShare(app, ids, album = null) {
  const follow = album && h('input', { type: 'checkbox' });
  const choice = follow && h('label', { class: 'choice' }, follow, h('span', null, t('sharing.follow')));
  const assets = ids.map((id) => id.split('/')[0]);
  return shareBy(app, t('sharing.title', { count: ids.length }), '', choice, () =>
    follow?.checked ? { shown: { album: album?.id }, done: t('sharing.done.album') }
      : { shown: { assets }, done: t('sharing.done', { count: ids.length }) });
}

/**
 * Makes a share link that follows an album.
 * @param {App} app
 * @param {{ id: string, title: string }} album
 */
export function shareAlbum(app, { id, title }) {
  return shareBy(app, t('sharing.title.album', { title }), title, h('p', { class: 'soft' }, t('sharing.follows')),
    () => ({ shown: { album: id }, done: t('sharing.done.album') }));
}

/**
 * Asks for what a link needs, makes it and shows it.
 * @param {App} app
 * @param {string} heading
 * @param {string} name the title to begin with
 * @param {HTMLElement | null} above what stands above the fields
 * @param {() => { shown: object, done: string }} what what the link shows, and what is said when it is made
 * @returns {Promise<boolean>}
 */
async function shareBy(app, heading, name, above, what) {
  const title = h('input', { required: true, maxlength: 200, autofocus: true, '.value': name });
  const password = h('input', { type: 'password', autocomplete: 'new-password', minlength: 8, maxlength: 256 });
  const days = h('input', { type: 'number', min: 1, max: 3650, '.value': '30' });
  const upload = h('input', { type: 'checkbox' });
  const originals = h('input', { type: 'checkbox' });
  const share = await formDialog(heading, t('sharing.act'), [
    above, field(t('sharing.name'), title), field(t('sharing.password'), password, t('sharing.password.hint')),
    field(t('sharing.days'), days, t('sharing.days.hint')),
    h('label', { class: 'choice' }, originals, h('span', null, t('sharing.originals'))),
    h('label', { class: 'choice' }, upload, h('span', null, t('sharing.upload'))),
  ], () => make(app, '/v1/shares', {
    title: title.value.trim(), ...what().shown, upload: upload.checked, originals: originals.checked,
    ...(password.value === '' ? {} : { password: password.value }), ...(days.value === '' ? {}
      : { days: Number(days.value) }),
  }, 'nav.people'));
  if (!share) return false;
  await secretDialog(t('sharing.made', { title: share.title }), t('sharing.once'),
    new URL(share.link, location.href).href);
  app.notices.show(what().done, { action: t('sharing.end'), onAction: async () => {
    try {
      await app.client.ask('DELETE', `/v1/shares/${encodeURIComponent(share.name)}`);
      app.notices.show(t('people.share.ended'));
    } catch (error) {
      app.notices.fail(error);
    }
  } });
  return true;
}
