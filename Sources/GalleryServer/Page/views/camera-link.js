// A link to the camera page for another device: its key can add photos and do nothing else.

import { randomName } from '../client/photoledger.js';
import { t } from '../text/text.js';
import { make } from './forms.js';
import { secretDialog } from './secret.js';

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
    const key = { client: name, label: t('camera.title'), days, scopes: ['add'] };
    const { secret } = await make(app, '/v1/keys', key, 'nav.people');
    await secretDialog(t('camera.link'), t('camera.link.sentence', { count: days }),
      `${location.origin}/camera#${secret}`);
  } catch (error) {
    app.notices.fail(error);
  }
}
