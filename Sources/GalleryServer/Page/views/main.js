// The gallery: signs on, and starts the frame with its routes.

import { PhotoLedger, Problem } from '../client/photoledger.js';
import { t } from '../text/text.js';
import { App } from './app.js';
import { fill, h } from './dom.js';

const isOwner = (/** @type {import('./app.js').Session} */ session) => session.scopes.includes('owner');
const adds = (/** @type {import('./app.js').Session} */ session) =>
  session.scopes.includes('owner') || session.scopes.includes('add') || session.scopes.includes('change');

/** The views by the first word of their address, in the order of the navigation. */
const routes = /** @type {Record<string, import('./app.js').RouteEntry>} */ ({
  photos: { label: 'nav.photos', icon: 'photos', open: async (app, to) => (await import('./photos.js')).open(app, to) },
  search: { label: 'nav.search', icon: 'search', open: async (app, to) => (await import('./search.js')).open(app, to) },
  albums: { label: 'nav.albums', icon: 'album', open: async (app, to) => (await import('./albums.js')).open(app, to) },
  upload: {
    label: 'nav.upload', icon: 'upload', isFor: adds, open: async (app) => (await import('./upload.js')).open(app),
  },
  trash: { label: 'nav.trash', icon: 'trash', open: async (app) => (await import('./trash.js')).open(app) },
  duplicates: {
    label: 'nav.duplicates', icon: 'stack', isFor: isOwner,
    open: async (app) => (await import('./duplicates.js')).open(app),
  },
  hidden: {
    label: 'nav.hidden', icon: 'hidden', isFor: isOwner, open: async (app) => (await import('./hidden.js')).open(app),
  },
  history: {
    label: 'nav.history', icon: 'history', open: async (app, to) => (await import('./history.js')).open(app, to),
  },
  moment: { label: 'nav.moment', icon: 'clock', open: async (app, to) => (await import('./moment.js')).open(app, to) },
  privacy: {
    label: 'nav.privacy', icon: 'privacy', isFor: isOwner,
    open: async (app) => (await import('./privacy.js')).open(app),
  },
  people: {
    label: 'nav.people', icon: 'people', isFor: isOwner, open: async (app) => (await import('./people.js')).open(app),
  },
  health: {
    label: 'nav.health', icon: 'health', isFor: isOwner, open: async (app) => (await import('./health.js')).open(app),
  },
});

const place = /** @type {HTMLElement} */ (document.getElementById('app'));
const client = new PhotoLedger();
/**
 * The gallery of this page, once it has signed on.
 * @type {App | undefined}
 */
export let app;
try {
  const session = await client.ask('GET', '/v1/session');
  app = new App(client, session, routes);
  await app.start(place);
  const { notices } = app;
  // A server that goes away meanwhile takes nothing from what is on the screen.
  if (adds(session)) import('./upload.js').then((module) => app && module.takeDropsOf(app), (error) => notices.fail(error));
} catch (error) {
  if (error instanceof Problem && error.status === 401) location.assign('/sign-in');
  else fill(place, h('div', { class: 'failure', role: 'alert' }, h('h1', null, t('error.title')),
    h('p', null, error instanceof Error ? error.message : String(error))));
}
