// The gallery: signs on, and starts the frame with its routes.

import { PhotoLedger, Problem, signInAddress } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { App } from './app.js';
import { arrange, h } from './dom.js';
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
/** The longest time between attempts to begin, milliseconds. */
const longestPause = 60_000;
/** How often it was tried to begin. */
let attempts = 0;
let isBeginning = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let nextAttempt;

/** Why it could not begin. */
const sentence = h('p');
/** What is shown then: the same at each attempt, so that the button keeps the focus, and nothing is read aloud again. */
const failure = h('div', { class: 'failure', role: 'alert' }, h('h1', null, t('error.title')), sentence,
  h('button', { class: 'button main', onclick: () => begin() }, t('action.retry')));

/** Signs on and starts the frame; tries it again by itself if that may help, as a screen on a wall has no keyboard. */
async function begin() {
  if (isBeginning) return;
  isBeginning = true;
  attempts += 1;
  clearTimeout(nextAttempt);
  removeEventListener('online', begin);
  try {
    const session = await client.ask('GET', '/v1/session');
    // A frame that was not completed listens to the window already, so there is no second one.
    if (app) {
      location.reload();
      return;
    }
    const gallery = new App(client, session, routes);
    app = gallery;
    await gallery.start(place);
    // A server that goes away meanwhile takes nothing from what is on the screen.
    if (adds(session)) takeDrops(gallery);
  } catch (error) {
    isBeginning = false;
    if (error instanceof Problem && error.status === 401) {
      location.assign(signInAddress(location));
      return;
    }
    const words = messageOf(error);
    if (sentence.textContent !== words) sentence.textContent = words;
    arrange(place, failure);
    if (!(error instanceof Problem && error.isPassing)) return;
    const pause = Math.min(longestPause, 2000 * 2 ** attempts);
    nextAttempt = setTimeout(begin, Math.max(error.retryAfter * 1000, pause));
    addEventListener('online', begin);
  }
}

await begin();
