// The prompt: an app asks for access, and the owner answers, wherever in the gallery they are.
//
//   GET /v1/requests/events ─▶ banner above the view ─▶ dialog ─▶ allow, selected photos, deny ─▶ a commit
//
// A banner and not a dialog of its own accord: an app's request must not interrupt typing or dragging. An answer
// is a change block with the cause of the server's own prompt, so that its notice undoes it; a request for more is kept
// by the server and not in the log, and only its own route answers it.

import { Watched } from '../client/watched.js';
import { instant, t } from '../text/text.js';
import { choosePhotos } from './chooser.js';
import { askerName, learnNames } from './client-names.js';
import { showDialog } from './dialog.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';

/** @typedef {import('./app.js').App} App */

/**
 * @typedef {object} AccessRequest
 * @property {string} client
 * @property {'readWrite' | 'addOnly' | 'more'} level
 * @property {string | null} usage
 * @property {string} date
 */

/** How many banners are shown; the privacy page has all. */
const bannerLimit = 2;
/** How many photos an answer to a request for more takes. */
const moreLimit = 10_000;

/** The requests that wait. Event: `change`. */
export class Requests extends EventTarget {
  /** @param {App} app */
  constructor(app) {
    super();
    this.app = app;
    /** @type {AccessRequest[]} */
    this.waiting = [];
    this.element = h('div', { class: 'requests', role: 'region', 'aria-label': t('request.region'),
      'aria-live': 'polite' });
    /** @type {Watched<{ requests: AccessRequest[] }>} */
    this.watched = new Watched(app.client, '/v1/requests/events');
    this.watched.addEventListener('state', () => {
      this.waiting = this.watched.state?.requests ?? [];
      this.show();
      this.dispatchEvent(new Event('change'));
      void this.learn();
    });
    app.watch(this.watched);
  }

  /** Learns the titles of the share links that ask, and draws them. */
  async learn() {
    try {
      await learnNames(this.app, this.waiting.map(({ client }) => client));
      this.show();
    } catch (error) {
      this.app.notices.fail(error);
    }
  }

  show() {
    const rest = this.waiting.length - bannerLimit;
    drawRequests(this.element, this.waiting, () => [
      ...this.waiting.slice(0, bannerLimit).map((request) => requestLine(this.app, request)),
      rest > 0 && h('p', { class: 'request' }, h('a', { href: '#/privacy' }, t('request.rest', { count: rest })))]);
  }
}

/**
 * Draws requests where others are drawn. The server says them anew whenever a tab is shown: the same ones stay, so that
 * they are not read aloud again, and the button that has the focus keeps it as long as its request is there. A client
 * whose name was learned meanwhile is drawn with it.
 * @param {HTMLElement} place
 * @param {AccessRequest[]} requests
 * @param {() => (Node | false)[]} draw
 */
export function drawRequests(place, requests, draw) {
  const drawn = JSON.stringify([requests, requests.map(({ client }) => askerName(client))]);
  if (place.dataset.drawn === drawn) return;
  place.dataset.drawn = drawn;
  const { activeElement } = document;
  const focused = place.contains(activeElement) ? activeElement?.closest('[data-client]')?.getAttribute('data-client')
    : undefined;
  fill(place, ...draw());
  if (!focused) return;
  const same = [...place.querySelectorAll('[data-client]')].find((one) => one.getAttribute('data-client') === focused);
  same?.querySelector('button')?.focus();
}

/**
 * A request in a line, with the button that answers it.
 * @param {App} app
 * @param {AccessRequest} request
 */
export function requestLine(app, request) {
  const name = askerName(request.client);
  return h('div', { class: 'request', 'data-client': request.client }, icon('privacy'),
    h('p', { dir: 'auto' }, t(`request.asks.${request.level}`, { name })),
    h('button', { class: 'button main', 'aria-label': t('request.answerTo', { name }),
      onclick: () => answer(app, request) },
      t('request.answer')));
}

/**
 * Has the owner answer a request.
 * @param {App} app
 * @param {AccessRequest} request
 */
async function answer(app, request) {
  const { client, level, usage, date } = request;
  const name = askerName(client);
  const choices = { readWrite: ['allow', 'limit', 'deny'], addOnly: ['allow', 'deny'],
    more: ['more', 'nothing'] }[level];
  const decision = await showDialog(t(`request.title.${level}`, { name }), (close) => [
    h('h3', null, t('request.usage')), h('blockquote', { class: 'usage', dir: 'auto' }, usage || t('request.noUsage')),
    h('p', { class: 'soft' }, t('request.name', { client, date: instant(date) })),
    h('div', { class: 'request-choices' }, ...choices.map((choice) =>
      h('button', { class: 'button', 'data-choice': choice, onclick: () => close(choice) },
        h('strong', null, t(`request.${choice}.${level}`)), h('span', { class: 'soft' },
          t(`request.${choice}.${level}.sentence`))))),
  ], { class: 'dialog' });
  if (decision === undefined) return;
  try {
    if (decision === 'limit' || decision === 'more') await choose(app, request, decision);
    else if (decision === 'nothing') await giveMore(app, client, []);
    else {
      const status = decision === 'allow' ? 'authorized' : 'denied';
      await app.commit([{ op: 'client.authorize', client, status, level }],
        t(decision === 'allow' ? 'request.done.allow' : 'request.done.deny', { name }), { cause: 'permission prompt' });
    }
  } catch (error) {
    app.notices.fail(error);
  }
}

/**
 * @param {App} app
 * @param {AccessRequest} request
 * @param {'limit' | 'more'} decision
 */
async function choose(app, { client, level }, decision) {
  const name = askerName(client);
  const ids = await choosePhotos(app, t('request.choose', { name }), t('request.choose.sentence', { name }),
    t('request.choose.act'));
  if (!ids) return;
  if (decision === 'more') {
    await giveMore(app, client, ids);
    return;
  }
  // A selection that follows an album takes no photos by hand; the owner has chosen these.
  await app.commit([{ op: 'client.authorize', client, status: 'limited', level },
    { op: 'client.follow', client, album: null }, { op: 'client.grant', client, assets: ids }],
    t('request.done.limit', { name, count: ids.length }), { cause: 'permission prompt' });
}

/**
 * Answers a request for more.
 * @param {App} app
 * @param {string} client
 * @param {string[]} ids
 */
export async function giveMore(app, client, ids) {
  const assets = ids.slice(0, moreLimit);
  await app.client.ask('POST', `/v1/clients/${encodeURIComponent(client)}/answer`, { json: { level: 'more', assets } });
  const name = askerName(client);
  if (assets.length === 0) {
    app.notices.show(t('request.done.nothing', { name }));
    return;
  }
  // The route names no state; what the owner granted last is this, unless nothing of it was new.
  const query = { client: 'owner', cause: 'limited library picker', kind: 'selection.granted', reverse: true,
    limit: 1 };
  // It is done by now: without an answer the notice only lacks Undo, which History has.
  const { records: [event] } = await app.client.ask('GET', '/v1/log', { query }).catch(() => ({ records: [] }));
  const isThis = event?.objects[0] === client && assets.some((id) => event.objects.some((/** @type {string} */ one) =>
    one.startsWith(id)));
  app.notices.show(t('request.done.more', { name, count: assets.length }),
    isThis ? { action: t('action.undo'), onAction: () => app.undo(event.token) } : {});
}

/**
 * Shows the owner what asks, from now on.
 * @param {App} app
 * @param {HTMLElement} place
 */
export function start(app, place) {
  const requests = new Requests(app);
  app.requests = requests;
  place.append(requests.element);
}
