// The frame of the gallery: navigation, one view at a time, notices, and what all views share.
//
//   #/NAME/ARGUMENT?QUERY ─▶ routes[NAME] ─▶ a view ─▶ `main`
//
// A view is made when its address is visited and closed when it is left. A link opens it at its top, Back and Forward
// where it was left: the entries of the browser's history have names, and `places` knows where the view of each stood.
//
// What changes the library goes through `App.commit`, which shows a notice with Undo.
//
// When the session ends, the page is left for the sign-in. While files are sent or text is written it stays: they wait,
// and everything goes on after a sign-in in another tab. If somebody else signs in there, the page is loaded again, or
// changes nothing any more: the cookie is theirs now, and what this page asked would be done in their name.

import { PhotoLedger, Problem, sessionChannel, signInAddress } from '../client/photoledger.js';
import { Feed } from '../client/feed.js';
import { Outdated, messageOf } from '../model/failures.js';
import { isolated, t } from '../text/text.js';
import { account } from './account.js';
import { dismissDialogs } from './dialog.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { later } from './later.js';
import { Notices } from './notice.js';

/**
 * @typedef {object} View
 * @property {string} title
 * @property {HTMLElement} element
 * @property {(address: Address) => boolean} [update] takes a new address of the same name; false: it is made anew
 * @property {() => any} [place] where it stands, besides how far the page is scrolled; null if that says it all
 * @property {(place: any) => void | Promise<void>} [returnTo] stands where a view of the same address did, from its
 *   first drawing on
 * @property {() => void} [close]
 *
 * @typedef {object} Address
 * @property {string} name
 * @property {string} argument what follows the name, decoded; empty without one
 * @property {URLSearchParams} query
 *
 * @typedef {object} RouteEntry
 * @property {(app: App, address: Address) => Promise<View>} open
 * @property {string} [label] the phrase in the navigation; without one the route is not there
 * @property {string} [icon]
 * @property {(session: Session) => boolean} [isFor] whose navigation has it; everybody's if left out
 * @property {boolean} [isOwners] whether it is the owner's alone
 *
 * @typedef {object} Session
 * @property {string} client
 * @property {string | null} person
 * @property {string[]} scopes
 * @property {{ readWrite: string, addOnly: string }} authorizationStatus
 * @property {string[]} waiting
 * @property {boolean} mayRequestMore
 * @property {{ state: 'waiting' | 'answered', added: string[] } | null} more
 *
 * @typedef {object} CommitOptions
 * @property {string} [cause]
 * @property {() => Promise<object[]>} [renew] gives changes in place of those that the library refused because what they
 *   expect is not so any more; throws if there are none
 * @property {boolean} [throws] whether a failure before anything is committed is thrown, for a dialog to say; notices
 *   are behind it
 */

/** How many views the bar of a phone shows at once. */
const barLimit = 4;
/** Of how many entries of the history it is known where their views stood. */
const placeLimit = 100;
/** Where the tab keeps which page it left by itself, as parts of it could not be imported. */
const outdated = 'photoledger.outdated';

const reloadButton = () => h('button', { class: 'button', onclick: () => location.reload() }, t('update.reload'));

/**
 * Replaces a view of the owner where a link to it is opened with another session.
 * @param {RouteEntry} route
 */
const ownersOnly = ({ label = 'app.name' }) => h('section', { class: 'view owners-only' }, h('h1', null, t(label)),
  h('p', null, t('view.notOwner')), h('p', null, h('a', { class: 'button', href: App.href('photos') },
    t('view.toPhotos'))));

/**
 * A part of an address without its escapes; as it stands if they are malformed, which then names nothing.
 * @param {string} text
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** The gallery's frame. Event: `signedin` when a session that had ended is there again. */
export class App extends EventTarget {
  /**
   * @param {PhotoLedger} client
   * @param {Session} session
   * @param {Record<string, RouteEntry>} routes
   */
  constructor(client, session, routes) {
    super();
    this.client = client;
    const { response } = client;
    client.response = async (method, path, options) => {
      if (this.isReplaced && method !== 'GET') throw new Problem(403, 'other-session', t('session.refused'));
      return response.call(client, method, path, options);
    };
    this.session = session;
    this.routes = routes;
    this.feed = new Feed(client);
    this.notices = new Notices();
    /** @type {View | null} */
    this.view = null;
    /** @type {Address | null} */
    this.address = null;
    this.visit = 0;
    /** What the entry of the browser's history is called whose view is shown. */
    this.entry = '';
    /**
     * Where the views of entries stood when they were left.
     * @type {Map<string, { top: number, own: any }>}
     */
    this.places = new Map();
    /**
     * What the control is called that had the focus in the view that went; null if none had it.
     * @type {string | null}
     */
    this.focused = null;
    this.main = h('main', { id: 'main', class: 'main', tabindex: '-1' });
    this.banner = h('div', { class: 'banner', role: 'status', hidden: true }, t('state.offline'));
    /** Why the page has to be left, while it stays for what is unfinished. */
    this.ending = h('div', { class: 'banner ending', role: 'alert', hidden: true });
    /**
     * The files that are sent; null before any were.
     * @type {import('../model/uploads.js').Uploads | null}
     */
    this.uploads = null;
    /**
     * Captions that were written and could not be saved, by asset; they are in the field when it is shown again.
     * @type {Map<string, string>}
     */
    this.unsavedCaptions = new Map();
    this.isSignedOut = false;
    /** Whether the person signs out. That the session has ended may be heard before the answer. */
    this.isSigningOut = false;
    /** Whether the browser's session is another's than that of this page. */
    this.isReplaced = false;
    /** What stands above every view: requests for access, what a visitor may see. */
    this.above = h('div', { class: 'above' });
    /**
     * What the owner is asked; null for others.
     * @type {import('./requests.js').Requests | null}
     */
    this.requests = null;
    /** Until what stands above the views is there. */
    this.starting = Promise.resolve();
    /**
     * What stands in place of a view that the session may not see.
     * @type {(address: Address) => HTMLElement | null}
     */
    this.barred = () => null;
    /**
     * What an empty timeline says instead of its own words.
     * @type {() => HTMLElement | null}
     */
    this.emptyWords = () => null;
    this.nav = h('nav', { class: 'nav', 'aria-label': t('nav.main') });
    /** On a phone: shows the views for which its bar has no room. */
    this.more = h('button', { class: 'nav-more', 'aria-expanded': 'false', onclick: () => this.expand() },
      icon('more'), h('span', null, t('nav.more')));
    this.feed.addEventListener('connection', () => { this.banner.hidden = this.feed.isOpen || this.isSignedOut; });
    this.feed.addEventListener('signedout', () => this.ended());
    window.addEventListener('hashchange', () => this.go());
    window.addEventListener('focus', () => this.comeBack());
  }

  /** Whether the session is the owner's. */
  get isOwner() {
    return this.session.scopes.includes('owner');
  }

  /**
   * Puts the frame into the document and shows the view of the address.
   * @param {HTMLElement} place
   */
  async start(place) {
    const links = Object.entries(this.routes).filter(([, route]) => route.label
      && (route.isFor?.(this.session) ?? true) && (!route.isOwners || this.isOwner));
    const items = links.map(([name, route], place) => h('li', { class: place < barLimit ? null : 'further' },
      h('a', { href: `#/${name}`, 'data-route': name, onclick: () => this.expand(false) },
        icon(route.icon ?? 'photos'), h('span', null, t(route.label ?? '')))));
    items.splice(barLimit, 0, h('li', { class: 'more' }, this.more));
    fill(this.nav, h('ul', null, ...items), account(this));
    this.nav.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.nav.classList.contains('is-open')) return;
      this.expand(false);
      this.more.focus();
    });
    fill(place,
      h('a', { class: 'skip', href: '#main', onclick: (/** @type {Event} */ event) => {
        event.preventDefault();
        this.main.focus();
      } }, t('main.skip')),
      this.nav, h('div', { class: 'stage' }, this.banner, this.ending, this.above, this.main),
      this.notices.element);
    const { client, person } = this.session;
    const channel = new BroadcastChannel(sessionChannel);
    channel.onmessage = ({ data }) => { if (this.isSignedOut || this.isOther(data)) this.comeBack(); };
    channel.postMessage({ client, person });
    this.starting = later(this, () => this.isOwner ? import('./requests.js') : import('./visitor.js'))
      .then(({ start }) => start(this, this.above));
    // A visitor's page must know what it may show before it shows it. The owner's photos need not wait.
    if (this.isOwner) this.starting.catch((error) => this.notices.fail(error));
    else await this.starting;
    return this.go();
  }

  /**
   * Shows or hides the views for which the bar of a phone has no room.
   * @param {boolean} [isOpen] the other way if left out
   */
  expand(isOpen) {
    this.more.setAttribute('aria-expanded', String(this.nav.classList.toggle('is-open', isOpen)));
  }

  /**
   * The address that the browser shows.
   * @returns {Address}
   */
  read() {
    const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
    const [name, ...rest] = path.split('/');
    const known = Object.hasOwn(this.routes, name) ? name : Object.keys(this.routes)[0];
    return { name: known, argument: decoded(rest.join('/')), query: new URLSearchParams(query ?? '') };
  }

  /**
   * Goes to an address.
   * @param {string} name
   * @param {string} [argument]
   * @param {Record<string, string>} [query]
   */
  open(name, argument = '', query = {}) {
    location.hash = App.href(name, argument, query);
  }

  /**
   * The link to an address.
   * @param {string} name
   * @param {string} [argument]
   * @param {Record<string, string>} [query]
   */
  static href(name, argument = '', query = {}) {
    const tail = new URLSearchParams(query).toString();
    return `#/${name}${argument === '' ? '' : `/${encodeURIComponent(argument)}`}${tail === '' ? '' : `?${tail}`}`;
  }

  /** Makes the view of the address anew. */
  renew() {
    this.address = null;
    return this.go();
  }

  /** Shows the view of the address. */
  async go() {
    const address = this.read();
    const isSame = this.address?.name === address.name && this.address.argument === address.argument;
    if (this.address && !isSame) dismissDialogs();
    this.address = address;
    if (isSame && this.view?.update?.(address)) {
      this.nameEntry();
      return;
    }
    const visit = this.visit += 1;
    this.noteFocus();
    if (this.view) this.notePlace(this.view);
    this.view?.close?.();
    this.view = null;
    // An entry that a link made has no name yet. None is given twice, also not after the page was loaded again.
    this.entry = history.state?.entry ?? `${performance.timeOrigin}-${visit}`;
    this.nameEntry();
    for (const link of this.nav.querySelectorAll('a')) {
      if (link.dataset.route === address.name) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    this.more.classList.toggle('holds-current', this.nav.querySelector('.further [aria-current]') !== null);
    const route = this.routes[address.name];
    const barred = this.barred(address) ?? (route.isOwners && !this.isOwner ? ownersOnly(route) : null);
    if (barred) {
      document.title = t('app.name');
      fill(this.main, barred);
      this.giveFocus();
      return;
    }
    fill(this.main, h('p', { class: 'loading', role: 'status' }, t('state.loading')));
    try {
      const view = await route.open(this, address);
      const place = this.places.get(this.entry);
      if (visit === this.visit && place?.own) await view.returnTo?.(place.own);
      if (visit !== this.visit) {
        view.close?.();
        return;
      }
      this.view = view;
      document.title = `${isolated(view.title)} – ${t('app.name')}`;
      fill(this.main, view.element);
      this.main.scrollTop = place?.top ?? 0;
      this.giveFocus();
    } catch (error) {
      if (visit !== this.visit) return;
      if (error instanceof Problem && error.status === 401 && this.signedOut()) return;
      fill(this.main, h('div', { class: 'failure', role: 'alert' }, h('h1', null, t('error.title')),
        h('p', null, messageOf(error)),
        error instanceof Outdated ? reloadButton()
          : h('button', { class: 'button main', onclick: () => this.go() }, t('action.retry'))));
      this.giveFocus();
    }
  }

  /**
   * Notes where a view stands that is left. The places that were noted longest ago are forgotten: entries that a link
   * cut off are never visited again.
   * @param {View} view
   */
  notePlace(view) {
    this.places.delete(this.entry);
    this.places.set(this.entry, { top: this.main.scrollTop, own: view.place?.() });
    const [oldest] = this.places.keys();
    if (this.places.size > placeLimit) this.places.delete(oldest);
  }

  /** Names the entry of the browser's history after the view that is shown: a photo over it has an entry of its own. */
  nameEntry() {
    if (history.state?.entry !== this.entry) history.replaceState({ ...history.state, entry: this.entry }, '');
  }

  /** Notes what has the focus in the view that goes, or in a dialog over it, which has no names of the next view. */
  noteFocus() {
    const { activeElement } = document;
    if (!activeElement || activeElement === this.main) return;
    if (this.main.contains(activeElement)) this.focused = activeElement.getAttribute('aria-label') ?? '';
    else if (activeElement.closest('dialog')) this.focused = '';
  }

  /**
   * Gives the focus that went with a view to the control of the same name in the next one, or to the whole of it, so
   * that the keyboard goes on there and not at the beginning of the page. What has the focus meanwhile keeps it.
   */
  giveFocus() {
    const { focused } = this;
    this.focused = null;
    if (focused === null || document.activeElement !== document.body) return;
    const same = [...this.main.querySelectorAll('[aria-label]')]
      .filter((one) => one.getAttribute('aria-label') === focused);
    for (const one of [...same, this.main]) {
      /** @type {HTMLElement} */ (one).focus({ preventScroll: true });
      // What a name was given to need not be a control.
      if (document.activeElement === one) return;
    }
  }

  /** Whether somebody wrote what is not saved yet: in a field, or a caption of a photo that is not shown any more. */
  get isWritten() {
    if (this.unsavedCaptions.size > 0) return true;
    const fields = /** @type {NodeListOf<HTMLInputElement>} */ (document.body.querySelectorAll('textarea,input'));
    return [...fields].some((one) => (one.matches('textarea') || one.type === 'text' && one.closest('dialog'))
      && one.value !== one.defaultValue);
  }

  /**
   * Leaves the page, or says that it has to be left while files are sent or text is written that would be lost.
   * @param {() => void} go
   * @param {string} sentence
   * @param {HTMLElement} control what the person leaves it with
   * @returns {boolean} whether it is left
   */
  leave(go, sentence, control) {
    if (this.uploads?.isBusy || this.isWritten) {
      this.placeEnding();
      fill(this.ending, h('p', null, sentence), control);
      this.ending.hidden = false;
      return false;
    }
    go();
    return true;
  }

  /** Puts why the page has to be left where it can be seen and pressed: into the dialog that lies above all others. */
  placeEnding() {
    const dialog = [...document.body.querySelectorAll('dialog')].filter((one) => one.open).at(-1);
    if (dialog) {
      dialog.prepend(this.ending);
      dialog.addEventListener('close', () => this.placeEnding(), { once: true });
    } else if (this.ending.closest('dialog')) this.above.before(this.ending);
  }

  /**
   * Has the page stay while files are sent.
   * @param {import('../model/uploads.js').Uploads} uploads
   */
  stayFor(uploads) {
    this.uploads = uploads;
    uploads.addEventListener('resume', () => {
      // Before anything is sent again.
      if (this.isReplaced) uploads.signOut(t('session.other'));
      this.comeBack();
    });
    // The feed of a session that another replaced may go on with the new one before anything says that the old one ended.
    uploads.addEventListener('signedout', () => this.ended());
    uploads.addEventListener('idle', () => {
      if (this.isReplaced) this.replaced();
      else if (this.isSignedOut) this.signedOut();
    });
  }

  /**
   * Follows a state of the server with the session: its end is one of the session, and it begins anew with the next.
   * @param {import('../client/watched.js').Watched<any>} watched
   * @param {AbortSignal} [signal] ends it
   */
  watch(watched, signal) {
    watched.addEventListener('signedout', () => this.ended(), { signal });
    this.addEventListener('signedin', () => watched.again(), { signal });
  }

  /**
   * The session has ended. A sign-in in another tab ends the one that it replaces: then the page goes on with the new
   * one, or is loaded again if that is another person's.
   */
  async ended() {
    this.isSignedOut = true;
    await this.comeBack();
    if (this.isSignedOut && !this.isReplaced) this.signedOut();
  }

  /**
   * Leaves the page for the sign-in after the session has ended.
   * @returns {boolean} whether the page is left for signing in
   */
  signedOut() {
    this.isSignedOut = true;
    this.banner.hidden = true;
    const address = this.isSigningOut ? '/sign-in' : signInAddress(location);
    return this.leave(() => location.assign(address), t('session.ended'),
      h('a', { class: 'button', href: '/sign-in', target: '_blank', rel: 'noopener' }, t('upload.signIn')));
  }

  /**
   * Ends the session and leaves the page for the sign-in, which does not come back to this address: the next
   * session may be another person's.
   * @throws what failed
   */
  async signOut() {
    this.isSigningOut = true;
    try {
      await this.client.ask('DELETE', '/v1/session');
    } catch (error) {
      // It has ended already: elsewhere, or by this request, whose answer was cut.
      if (!this.isSignedOut && !(error instanceof Problem && error.status === 401)) {
        this.isSigningOut = false;
        throw error;
      }
    }
    location.assign('/sign-in');
  }

  /**
   * Whether a session is another's than that of this page.
   * @param {{ client: string, person: string | null }} session
   */
  isOther({ client, person }) {
    return client !== this.session.client || (person ?? null) !== (this.session.person ?? null);
  }

  /** Somebody else has signed in in another tab: nothing more is asked in their name. */
  replaced() {
    this.isReplaced = true;
    this.isSignedOut = true;
    this.banner.hidden = true;
    this.uploads?.signOut(t('session.other'));
    this.leave(() => location.reload(), t('session.other'), reloadButton());
  }

  /** Goes on where the session had ended, if the same person has another one now. */
  async comeBack() {
    let session;
    try {
      session = await this.client.ask('GET', '/v1/session');
    } catch (error) {
      // It is looked again with the next focus.
      if (!(error instanceof Problem)) throw error;
      return;
    }
    if (this.isOther(session)) {
      if (!this.isReplaced) this.replaced();
      return;
    }
    this.isReplaced = false;
    if (!this.isSignedOut && !this.uploads?.isSignedOut) return;
    this.session = { ...this.session, ...session };
    this.isSignedOut = false;
    this.isSigningOut = false;
    this.ending.hidden = true;
    this.banner.hidden = this.feed.isOpen;
    this.feed.wake();
    this.dispatchEvent(new Event('signedin'));
    if (this.uploads?.isSignedOut) this.uploads.resume();
    if (!this.view) this.renew();
  }

  /**
   * Loads the page again, as the server has another one or the browser cannot import a part of this one.
   * @param {string} revision what names this page; it is left by itself once
   * @param {string} sentence why
   * @returns {boolean} whether it is left
   */
  reload(revision, sentence) {
    if (sessionStorage.getItem(outdated) === revision) return false;
    return this.leave(() => {
      sessionStorage.setItem(outdated, revision);
      location.reload();
    }, sentence, reloadButton());
  }

  /**
   * Commits changes and shows a notice that takes them back.
   * @param {object[]} changes operations as `photoledger apply` reads them
   * @param {string} done what to say when it is done
   * @param {CommitOptions} [options]
   * @returns the receipt; null if it failed, which a notice said
   * @throws what failed, if `options` ask for that
   */
  async commit(changes, done, options = {}) {
    return (await this.commitAll([changes], done, options))?.[0] ?? null;
  }

  /**
   * Commits blocks one after the other and shows a notice with an undo of all of them, also of those that were committed
   * before one failed.
   * @param {object[][]} blocks
   * @param {string} done what to say when it is done
   * @param {CommitOptions} [options]
   * @returns the receipts; null if one failed, which a notice said
   * @throws what failed, if `options` ask for that
   */
  async commitAll(blocks, done, options = {}) {
    /** @type {Awaited<ReturnType<PhotoLedger['commit']>>[]} */
    const receipts = [];
    const back = () => this.undo(...receipts.map((receipt) => receipt.token).reverse());
    try {
      for (const changes of blocks) receipts.push(await this.commitBlock(changes, options));
      this.notices.show(done, { action: t('action.undo'), onAction: back });
      return receipts;
    } catch (error) {
      if (options.throws && receipts.length === 0) throw error;
      this.notices.fail(error);
      if (receipts.length > 0) this.notices.show(t('notice.partly'), { action: t('action.undo'), onAction: back });
      return null;
    }
  }

  /**
   * Commits a block, and what takes its place if something that it expects has changed.
   * @param {object[]} changes
   * @param {CommitOptions} options
   */
  async commitBlock(changes, { cause, renew }) {
    for (let block = changes; ;) {
      try {
        return await this.client.commit(block, { cause });
      } catch (error) {
        if (!renew || !(error instanceof Problem) || error.type !== 'conflict') throw error;
        block = await renew();
      }
    }
  }

  /**
   * Undoes the commits that led to states.
   * @param {...string} tokens the newest first
   */
  async undo(...tokens) {
    let isUndone = false;
    const left = [...tokens];
    try {
      for (; left.length > 0; left.shift()) {
        const { summary } = await this.client.undo({ commit: left[0] });
        isUndone ||= summary.token !== null;
      }
      this.notices.show(t(isUndone ? 'notice.undone' : 'undo.nothing'));
    } catch (error) {
      if (left.length < tokens.length) this.notices.show(t('undo.partly'));
      await this.undoAgain(error, left);
    }
  }

  /**
   * Offers again what could not be undone: once more if that may help, with its plan if something is in the way.
   * @param {unknown} error
   * @param {string[]} tokens the newest first
   */
  async undoAgain(error, [token, ...rest]) {
    if (!(error instanceof Problem) || !(error.isPassing || error.status === 409)) {
      this.notices.fail(error);
      return;
    }
    const again = async () => {
      if (error.isPassing) return this.undo(token, ...rest);
      try {
        const { undoDialog } = await later(this, () => import('./undo.js'));
        const choice = { label: t('undo.scope.this'), request: { commit: token } };
        if (await undoDialog(this, t('undo.title'), [choice]) && rest.length > 0) await this.undo(...rest);
      } catch (problem) {
        this.notices.fail(problem);
      }
    };
    this.notices.show(messageOf(error), { isError: true, action: t('action.undo'), onAction: again });
  }
}
