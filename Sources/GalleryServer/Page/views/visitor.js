// What a visitor without full access sees: that they see a selection, that they see nothing yet, or may not.
//
//   GET /v1/session/events ─▶ limited         banner; with "select more" for those who may request it, and what became
//                          │                  of the request
//                          ├▶ notDetermined   the view is an explanation, with the request for access
//                          └▶ denied          the view is an explanation
//
// Nothing here asks about anything but the session itself: a visitor's page learns of no photo, count or date outside
// of what the library shows it.

import { Problem } from '../client/photoledger.js';
import { Watched } from '../client/watched.js';
import { t } from '../text/text.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { field, formDialog } from './forms.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./app.js').Session} Session */

/** Views that work with add-only access. */
const addingViews = new Set(['upload']);
/** Views that differ for a client with full access. */
const accessViews = new Set(['history', 'moment']);

/** @param {Session} session */
const mayRead = ({ authorizationStatus: { readWrite } }) => readWrite === 'authorized' || readWrite === 'limited';

/**
 * Tells a visitor what they may see, from now on.
 * @param {App} app
 * @param {HTMLElement} place above the views
 */
export function start(app, place) {
  const banner = h('div', { class: 'visitor', role: 'region', 'aria-label': t('visitor.region'),
    'aria-live': 'polite' });
  place.append(banner);
  const show = () => fill(banner, ...bannerOf(app, show));
  app.barred = (address) => {
    if (mayRead(app.session)) return null;
    if (app.session.authorizationStatus.addOnly === 'authorized' && addingViews.has(address.name)) return null;
    return explanation(app);
  };
  app.emptyWords = () => app.session.authorizationStatus.readWrite !== 'limited' ? null
    : h('div', { class: 'visitor-empty' }, h('h2', null, t('visitor.empty.title')),
      h('p', null, t('visitor.empty.sentence')));
  /** @type {Watched<Session>} */
  const watched = new Watched(app.client, '/v1/session/events');
  watched.addEventListener('state', () => {
    const state = watched.state;
    if (!state) return;
    // Nothing of another's session becomes one of this page.
    if (app.isOther(state)) {
      app.comeBack();
      return;
    }
    const [former, couldRead] = [app.session, mayRead(app.session)];
    app.session = { ...former, ...state };
    show();
    const isOther = ['readWrite', 'addOnly'].some((level) => {
      const name = /** @type {'readWrite' | 'addOnly'} */ (level);
      return former.authorizationStatus[name] !== state.authorizationStatus[name];
    });
    const isExplained = !couldRead || !mayRead(app.session);
    // A selection becomes everything by an exact change of each list; an explanation is another view.
    const isAnew = isOther ? isExplained || accessViews.has(app.address?.name ?? '')
      : isExplained && former.waiting.join() !== state.waiting.join();
    if (isAnew) app.renew();
    const came = former.more?.state === 'waiting' && state.more?.state === 'answered' ? state.more.added.length : null;
    if (came !== null) app.notices.show(came === 0 ? t('visitor.more.nothing') : t('visitor.more.added',
      { count: came }));
  });
  app.watch(watched);
  show();
}

/**
 * What stands above a visitor's views.
 * @param {App} app
 * @param {() => void} show draws it anew
 * @returns {HTMLElement[]}
 */
function bannerOf(app, show) {
  const { authorizationStatus: { readWrite }, mayRequestMore, more } = app.session;
  if (readWrite !== 'limited') return [];
  const button = h('button', { class: 'button', onclick: async () => {
    button.disabled = true;
    const { session } = app;
    try {
      const state = await app.client.ask('POST', '/v1/session/more', { json: {} });
      // The stream may report the request before the answer arrives, and perhaps more than that.
      if (app.session !== session) return;
      app.session = { ...session, ...state };
      show();
    } catch (error) {
      button.disabled = false;
      app.notices.fail(error);
    }
  } }, t('visitor.more'));
  return [h('div', { class: 'visitor-banner' }, icon('privacy'), h('p', null, t('visitor.limited')),
    more?.state === 'waiting' ? h('p', { class: 'visitor-state' }, t('visitor.more.waiting'))
      : mayRequestMore ? button : null)];
}

/**
 * Replaces a view in a session that may see nothing.
 * @param {App} app
 */
function explanation(app) {
  const { authorizationStatus: { readWrite, addOnly }, waiting } = app.session;
  const isWaiting = waiting.includes('readWrite');
  const kind = readWrite === 'denied' || readWrite === 'restricted' ? readWrite : isWaiting ? 'waiting'
    : 'notDetermined';
  return h('section', { class: 'view visitor-barred', 'aria-labelledby': 'visitor-title' },
    h('h1', { id: 'visitor-title' }, t(`visitor.${kind}.title`)), h('p', null, t(`visitor.${kind}.sentence`)),
    addOnly === 'authorized' && app.routes.upload ? h('p', null, h('a', { class: 'button', href: '#/upload' },
      t('visitor.add'))) : null,
    kind === 'notDetermined' ? askButton(app) : null);
}

/** @param {App} app */
function askButton(app) {
  return h('button', { class: 'button main', onclick: async () => {
    const state = await askWhy(app);
    if (!state) return;
    app.session = { ...app.session, ...state };
    app.renew();
  } }, t('visitor.ask'));
}

/**
 * Asks the owner for access, with the reason that the owner will read. A client that gave one before may leave it out.
 * @param {App} app
 * @returns {Promise<Session | undefined>}
 */
function askWhy(app) {
  const reason = h('textarea', { maxlength: 1000, rows: 3, autofocus: true });
  return formDialog(t('visitor.why'), t('visitor.ask'), [field(t('visitor.why.label'), reason)], async () => {
    const why = reason.value.trim();
    if (why !== '') {
      await app.client.commit([{ op: 'client.register', client: app.session.client, readWriteUsageDescription: why }]);
    }
    try {
      return await app.client.ask('POST', '/v1/session/requests', { json: { level: 'readWrite' } });
    } catch (error) {
      const isMissing = error instanceof Problem && error.type === 'missing-usage-description';
      throw isMissing ? new Error(t('visitor.why.missing')) : error;
    }
  });
}
