// The gallery: signs on, and starts the frame with its routes.

import { PhotoLedger, Problem, signInAddress } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { App } from './app.js';
import { fill, h } from './dom.js';
import { later } from './later.js';

/** @typedef {import('./app.js').Address} Address */

const adds = (/** @type {import('./app.js').Session} */ session) =>
  session.scopes.includes('owner') || session.scopes.includes('add') || session.scopes.includes('change');

/**
 * What opens the view of a module.
 * @param {() => Promise<{ open: (app: App, to: Address) => Promise<import('./app.js').View> }>} load
 * @returns {(app: App, to: Address) => Promise<import('./app.js').View>}
 */
const view = (load) => async (app, to) => (await later(app, load)).open(app, to);

/** The views by the first word of their address, in the order of the navigation. */
const routes = /** @type {Record<string, import('./app.js').RouteEntry>} */ ({
  photos: { label: 'nav.photos', icon: 'photos', open: view(() => import('./photos.js')) },
  search: { label: 'nav.search', icon: 'search', open: view(() => import('./search.js')) },
  albums: { label: 'nav.albums', icon: 'album', open: view(() => import('./albums.js')) },
  upload: { label: 'nav.upload', icon: 'upload', isFor: adds, open: view(() => import('./upload.js')) },
  trash: { label: 'nav.trash', icon: 'trash', open: view(() => import('./trash.js')) },
  duplicates: { label: 'nav.duplicates', icon: 'stack', isOwners: true, open: view(() => import('./duplicates.js')) },
  hidden: { label: 'nav.hidden', icon: 'hidden', isOwners: true, open: view(() => import('./hidden.js')) },
  history: { label: 'nav.history', icon: 'history', open: view(() => import('./history.js')) },
  moment: { label: 'nav.moment', icon: 'clock', open: view(() => import('./moment.js')) },
  privacy: { label: 'nav.privacy', icon: 'privacy', isOwners: true, open: view(() => import('./privacy.js')) },
  people: { label: 'nav.people', icon: 'people', isOwners: true, open: view(() => import('./people.js')) },
  health: { label: 'nav.health', icon: 'health', isOwners: true, open: view(() => import('./health.js')) },
});

/**
 * Takes files that are dropped anywhere in the page, from when the module for that is there.
 * @param {App} gallery
 */
function takeDrops(gallery) {
  const { feed, notices } = gallery;
  const again = () => {
    if (!feed.isOpen) return;
    feed.removeEventListener('connection', again);
    takeDrops(gallery);
  };
  later(gallery, () => import('./upload.js')).then((module) => module.takeDropsOf(gallery), (error) => {
    if (error instanceof Problem) feed.addEventListener('connection', again);
    throw error;
  }).catch((error) => notices.fail(error));
}

const place = /** @type {HTMLElement} */ (document.getElementById('app'));
const client = new PhotoLedger();
/**
 * The gallery of this page, once it has signed on.
 * @type {App | undefined}
 */
export let app;
try {
  const session = await client.ask('GET', '/v1/session');
  const gallery = new App(client, session, routes);
  app = gallery;
  await gallery.start(place);
  // A server that goes away meanwhile takes nothing from what is on the screen.
  if (adds(session)) {
    takeDrops(gallery);
  }
} catch (error) {
  if (error instanceof Problem && error.status === 401) location.assign(signInAddress(location));
  else fill(place, h('div', { class: 'failure', role: 'alert' }, h('h1', null, t('error.title')),
    h('p', null, messageOf(error))));
}
