// A link to the camera page for another device: its key can add photos and do nothing else.

import { randomName } from '../client/photoledger.js';
import { t } from '../text/text.js';
import { showDialog } from './dialog.js';
import { h } from './dom.js';
import { icon } from './icons.js';

/** How long a link is good, days. */
const days = 365;

/**
 * Makes a client of its own for the device, so that its permission can be withdrawn alone, and shows the link.
 * @param {import('./app.js').App} app
 */
export async function showCameraLink(app) {
  const name = `camera#${randomName().slice(0, 12)}`;
  try {
    await app.client.commit([
      { op: 'client.register', client: name, addOnlyUsageDescription: t('camera.usage') },
      { op: 'client.authorize', client: name, level: 'addOnly' },
    ], { cause: 'camera link' });
    const { secret } = await app.client.ask('POST', '/v1/keys', {
      json: { client: name, label: t('camera.title'), days, scopes: ['add'] },
    });
    const link = `${location.origin}/camera#${secret}`;
    const field = h('input', { type: 'text', readonly: true, '.value': link, onfocus: () => field.select() });
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(link);
        app.notices.show(t('camera.copied'));
      } catch {
        // Browsers copy in secure contexts only; the text is selected for the person to copy.
        field.select();
        app.notices.show(t('camera.copyYourself'));
      }
    };
    await showDialog(t('camera.link'), () => [
      h('p', null, t('camera.link.sentence', { count: days })),
      h('label', { class: 'field' }, t('camera.link.field'), field),
      h('div', { class: 'dialog-actions' },
        h('button', { class: 'button main', onclick: copy }, icon('link'), t('camera.copy')))]);
  } catch (error) {
    app.notices.fail(error);
  }
}
