// Hidden photos, behind a second sign-in.
//
//   locked ──proof──▶ open ──5 minutes without input, tab away for 1 minute, "lock now"──▶ locked
//
// The lock protects a screen that was left open. It is not a permission of the server: the session may read hidden
// photos without it, and the page says so. The proof is a sign-in like the one at the start, whose key is given back at
// once: the password of the session's person, or, for an owner's session from a link, the password of any person that
// acts as the same client, or a new link.

import { PhotoLedger } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { App } from './app.js';
import { fill, h, uniqueName } from './dom.js';
import { icon } from './icons.js';
import { gridView } from './photos.js';

/** How long the view stays open without input, and how long while the tab is not shown, milliseconds. */
const idleLimit = 5 * 60_000;
const awayLimit = 60_000;

/** Whether the hidden photos may be shown. It outlives the view, so that returning at once needs no second proof. */
const guard = new (class extends EventTarget {
  isOpen = false;
  lastInput = 0;
  /** Since when the tab is away; 0 while it is shown. */
  away = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  timer = undefined;
  noted = () => {
    // What wakes a machine that slept is not the input of before.
    this.look();
    this.lastInput = Date.now();
  };
  turned = () => {
    if (!document.hidden) this.look();
    this.away = document.hidden ? Date.now() : 0;
  };

  unlock() {
    this.isOpen = true;
    this.lastInput = Date.now();
    this.away = 0;
    for (const kind of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart']) {
      document.addEventListener(kind, this.noted, { capture: true, passive: true });
    }
    document.addEventListener('visibilitychange', this.turned);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.look(), 1000);
  }

  /** Locks if it is time to. */
  look() {
    const now = Date.now();
    if (this.isOpen && (now - this.lastInput > idleLimit || this.away > 0 && now - this.away > awayLimit)) this.lock();
  }

  lock() {
    this.isOpen = false;
    clearInterval(this.timer);
    for (const kind of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart']) {
      document.removeEventListener(kind, this.noted, { capture: true });
    }
    document.removeEventListener('visibilitychange', this.turned);
    this.dispatchEvent(new Event('lock'));
  }
})();

/**
 * Signs in once more, and gives the key of it back at once.
 * @param {App} app
 * @param {{ name: string, password: string } | { link: string }} proof
 */
async function prove(app, proof) {
  const key = await app.client.ask('POST', '/v1/sessions', { json: { ...proof, label: t('hidden.label') } });
  // Without the browser's cookie: the answer to signing out would take the cookie away.
  const other = new PhotoLedger({
    base: app.client.base, key: key.secret,
    fetch: (input, options) => fetch(input, { ...options, credentials: 'omit' }),
  });
  await other.ask('DELETE', '/v1/session').catch((error) => app.notices.fail(error));
  if (key.client !== app.session.client) throw new Error(t('hidden.other'));
}

/**
 * @param {App} app
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app) {
  const title = t('nav.hidden');
  const element = h('section', { class: 'hidden-view', 'aria-label': title });
  /** @type {import('./photos.js').GridView | null} */
  let inner = null;
  let isClosed = false;
  let visit = 0;
  let place = 'library';
  const shut = () => {
    visit += 1;
    inner?.close?.();
    inner = null;
  };
  /** @param {unknown} error @param {() => void} again */
  const showFailure = (error, again) => fill(element, h('div', { class: 'failure', role: 'alert' },
    h('p', null, messageOf(error)), h('button', { class: 'button', onclick: again }, t('action.retry'))));
  const showLock = async () => {
    shut();
    const own = visit;
    fill(element, h('p', { class: 'loading', role: 'status' }, t('state.loading')));
    try {
      const form = await lockForm(app, showPhotos);
      if (own === visit) fill(element, form);
    } catch (error) {
      if (own === visit) showFailure(error, showLock);
    }
  };
  const showPhotos = async () => {
    shut();
    const own = visit;
    try {
      const view = await gridView(app, optionsOf(place, (other) => {
        place = other;
        showPhotos();
      }));
      // Another place may have been chosen meanwhile, or the view locked.
      if (isClosed || !guard.isOpen || own !== visit) {
        view.close?.();
        return;
      }
      inner = view;
      // The first time it is shown as any other view.
      const isShown = element.isConnected;
      if (isShown) app.noteFocus();
      fill(element, view.element);
      if (isShown) app.giveFocus();
    } catch (error) {
      if (own === visit) showFailure(error, showPhotos);
    }
  };
  const locked = () => {
    // A viewer or a question that lies over the view would go on showing what is hidden.
    for (const dialog of document.querySelectorAll('dialog[open]')) /** @type {HTMLDialogElement} */ (dialog).close();
    showLock();
  };
  guard.addEventListener('lock', locked);
  if (guard.isOpen) await showPhotos();
  else await showLock();
  return {
    title, element,
    update: (address) => inner?.update?.(address) ?? true,
    close: () => {
      isClosed = true;
      guard.removeEventListener('lock', locked);
      shut();
    },
  };
}

/**
 * What the view shows of the library or of the trash.
 * @param {string} place
 * @param {(place: string) => void} onPlace
 * @returns {import('./photos.js').GridViewOptions}
 */
function optionsOf(place, onPlace) {
  const choice = h('select', { 'aria-label': t('hidden.place'), onchange: () => onPlace(choice.value) },
    ...['library', 'trash'].map((name) =>
      h('option', { value: name, '.selected': name === place }, t(`hidden.place.${name}`))));
  const lock = h('button', { class: 'button', 'data-tool': 'lock', onclick: () => guard.lock() }, icon('key'),
    h('span', null, t('hidden.lock')));
  const isTrash = place === 'trash';
  return {
    title: t('nav.hidden'), tools: [choice, lock], above: [h('p', { class: 'soft' }, t('hidden.explanation'))],
    question: {
      hidden: true, where: 'isHidden == YES', ...isTrash ? { trash: true } : {},
      sort: [isTrash ? 'trashedDate:desc' : 'creationDate:desc'],
    },
    actions: isTrash ? ['restore', 'purge'] : ['unhide', 'favorite', 'album', 'download', 'trash'],
    empty: () => h('p', null, t(isTrash ? 'trash.none' : 'hidden.none')),
  };
}

/**
 * The question for a proof.
 * @param {App} app
 * @param {() => void} onOpen
 */
async function lockForm(app, onOpen) {
  const { person, client } = app.session;
  const { people } = await app.client.ask('GET', '/v1/people');
  const known = /** @type {any[]} */ (people).filter((one) => one.hasPassword);
  /** @type {string[]} */
  const names = known.filter((one) => person === null ? one.client === client : one.name === person)
    .map((one) => one.name);
  const problem = h('p', { class: 'problem', role: 'alert', id: uniqueName('problem') });
  const hasPassword = names.length > 0;
  const name = h('select', { autocomplete: 'username' }, ...names.map((one) => h('option', { value: one }, one)));
  const proven = { required: true, 'aria-describedby': problem.id };
  const password = h('input', { type: 'password', autocomplete: 'current-password', ...proven });
  const link = h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', ...proven });
  const attempt = async (/** @type {Event} */ event, /** @type {() => Parameters<typeof prove>[1]} */ proof) => {
    event.preventDefault();
    const button = /** @type {HTMLFormElement} */ (event.currentTarget).querySelector('button');
    if (button) button.disabled = true;
    fill(problem);
    try {
      await prove(app, proof());
      guard.unlock();
      onOpen();
    } catch (error) {
      fill(problem, messageOf(error));
      password.value = '';
      if (button) button.disabled = false;
      (hasPassword ? password : link).focus();
    }
  };
  const byPassword = h('form', { class: 'lock-form', onsubmit: (/** @type {Event} */ event) =>
    attempt(event, () => ({ name: name.value, password: password.value })) },
  names.length > 1 && h('label', { class: 'field' }, t('hidden.name'), name),
  h('label', { class: 'field' },
    names.length === 1 ? t('hidden.password', { name: names[0] }) : t('hidden.passwordOf'), password),
  h('button', { class: 'button main', type: 'submit' }, t('hidden.show')));
  // A pasted link is the whole address or its last part.
  const secret = () => link.value.trim().replace(/^.*[?&]link=/, '');
  const byLink = h('form', { class: 'lock-form', onsubmit: (/** @type {Event} */ event) =>
    attempt(event, () => ({ link: secret() })) },
  h('label', { class: 'field' }, t('hidden.link'), link),
  h('p', { class: 'soft' }, t('hidden.linkHint')),
  h('button', { class: hasPassword ? 'button' : 'button main', type: 'submit' }, t('hidden.show')));
  return h('div', { class: 'view lock' }, h('h1', null, t('nav.hidden')), h('p', null, t('hidden.locked')),
    h('p', { class: 'soft' }, t('hidden.purpose')), problem,
    hasPassword ? byPassword : h('p', null, t(person === null ? 'hidden.noPassword' : 'hidden.noOwnPassword'), ' ',
      'people' in app.routes && h('a', { href: App.href('people') }, t('nav.people'))),
    person === null && (hasPassword ? h('details', null, h('summary', null, t('hidden.byLink')), byLink) : byLink));
}
