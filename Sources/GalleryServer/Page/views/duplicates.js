// Duplicates: photos that show one picture, side by side, to be merged into one of them.
//
//   GET /v1/duplicates/events ─▶ how far the search is ─▶ groups, page by page ─▶ merge: a commit, with Undo
//                                                           ▲                  └▶ not duplicates: a decision, with Undo
//           change of any photo, by the feed; a decision ───┘
//
// The server searches, and nothing is changed by that. The groups are read anew after changes of the library, so
// what was merged is gone and what was undone is there again; a group that is the same keeps its element, and with
// it what was chosen in it.

import { Problem } from '../client/photoledger.js';
import { Watched } from '../client/watched.js';
import { Collections } from '../model/collections.js';
import { messageOf } from '../model/failures.js';
import { number, size, t } from '../text/text.js';
import { short } from './actions.js';
import { titleOf } from './album-cards.js';
import { App } from './app.js';
import { arrange, fill, h, uniqueName } from './dom.js';
import { icon } from './icons.js';
import { itemsOf, thumb } from './thumbs.js';
import { dateInWords } from './viewer-forms.js';

/** How many groups are read at once. */
const pageSize = 20;
/** How long the next reading after a commit waits after one, milliseconds: an import makes many commits. */
const commitPause = 2000;
/** How long what failed waits before it is tried again, milliseconds. */
const retryPause = 4000;

/**
 * @typedef {object} Search See Duplicates in the API's description.
 * @property {'idle' | 'searching' | 'ready' | 'failed'} state
 * @property {string | null} search
 * @property {number} done
 * @property {number} total
 * @property {number} groups
 * @property {number} compared
 * @property {string | null} problem
 *
 * @typedef {object} Group
 * @property {any} keeper
 * @property {{ asset: any, distance: number }[]} others
 * @property {number} furtherCount
 */

/**
 * @param {App} app
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app) {
  const view = new DuplicatesView(app);
  view.follow();
  return { title: t('nav.duplicates'), element: view.element, close: () => view.close() };
}

class DuplicatesView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.abort = new AbortController();
    /** @type {Search | null} */
    this.search = null;
    /** How many groups of the search were asked for. */
    this.wanted = pageSize;
    /** Whether the groups were read, and nothing of them is left to merge. */
    this.isDone = false;
    this.isReading = false;
    this.isBehind = false;
    /** Whether something was committed since a reading after a commit began, and whether such a reading goes on. */
    this.hasNews = false;
    this.isLedOn = false;
    /**
     * What failed with the problem that is shown: it is over when that succeeds, and what a person asked for when they
     * ask again.
     * @type {'following' | 'reading' | 'command'}
     */
    this.failed = 'command';
    /** @type {() => void} */
    this.end = () => {};
    /**
     * The elements of groups, by what they show.
     * @type {Map<string, HTMLElement>}
     */
    this.drawn = new Map();
    this.heading = h('h1', { tabindex: '-1' }, t('nav.duplicates'));
    this.status = h('p', { class: 'duplicates-status', role: 'status' });
    this.problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    this.button = h('button', { class: 'button', 'data-tool': 'search', onclick: () => this.toggle() });
    this.list = h('div', { class: 'duplicates' });
    this.more = h('button', { class: 'button', hidden: true, onclick: () => {
      this.wanted += pageSize;
      this.read();
    } }, t('duplicates.more'));
    this.element = h('section', { class: 'view duplicates-view' },
      h('header', { class: 'view-head' }, this.heading, h('div', { class: 'view-actions' }, this.button)),
      h('p', { class: 'soft' }, t('duplicates.sentence')), this.status, this.problem, this.list, this.more);
    /** @type {Watched<Search>} */
    this.watched = new Watched(app.client, '/v1/duplicates/events');
    this.watched.addEventListener('state', () => this.take(this.watched.state));
    app.watch(this.watched, this.abort.signal);
  }

  /**
   * Follows what is committed; where that fails, after a while.
   * @param {boolean} [isAgain] whether it failed before, which was said
   */
  async follow(isAgain = false) {
    try {
      const { fetch, token } = await this.app.client.openFetch({ hidden: true, allBursts: true });
      if (this.abort.signal.aborted) return;
      const changed = () => { this.readOn(); };
      this.end = this.app.feed.follow(fetch, token, { onChange: changed, onState: changed });
      this.succeeded('following');
      // What was committed since the groups were read.
      changed();
    } catch (error) {
      if (this.abort.signal.aborted) return;
      if (!isAgain) this.fail(error, 'following');
      this.following = setTimeout(() => this.follow(true), retryPause);
    }
  }

  close() {
    this.abort.abort();
    for (const timer of [this.following, this.pausing, this.retrying]) clearTimeout(timer);
    this.watched.leave();
    this.end();
  }

  /**
   * Shows why something failed. What is shown already is not said again.
   * @param {unknown} error
   * @param {DuplicatesView['failed']} failed
   */
  fail(error, failed = 'command') {
    if (this.abort.signal.aborted) return;
    this.failed = failed;
    const words = messageOf(error);
    if (!this.problem.hidden && this.problem.textContent === words) return;
    this.problem.hidden = false;
    this.problem.textContent = words;
  }

  /** @param {DuplicatesView['failed']} what */
  succeeded(what) {
    if (this.failed === what) this.problem.hidden = true;
  }

  /** Begins a search, or stops the one that is going on. */
  async toggle() {
    this.problem.hidden = true;
    this.button.disabled = true;
    try {
      if (this.search?.state === 'searching') await this.app.client.ask('DELETE', '/v1/duplicates');
      else await this.app.client.ask('POST', '/v1/duplicates', { json: {} });
    } catch (error) {
      this.fail(error);
    } finally {
      this.button.disabled = false;
    }
  }

  /**
   * Takes a state of the search.
   * @param {Search | null} search
   */
  take(search) {
    if (!search || this.abort.signal.aborted) return;
    if (search.search !== this.search?.search) {
      this.wanted = pageSize;
      this.isDone = false;
    }
    this.search = search;
    const isSearching = search.state === 'searching';
    fill(this.button, icon(isSearching ? 'close' : 'search'),
      h('span', null, t(isSearching ? 'duplicates.stop' : 'duplicates.search')));
    this.say();
    this.read();
  }

  /** Says how far the search is. */
  say() {
    const { search } = this;
    if (!search) return;
    const words = {
      idle: () => t('duplicates.idle'),
      searching: () => search.total === 0 ? t('duplicates.begun')
        : t('duplicates.reading', { done: number(search.done), total: number(search.total) }),
      ready: () => search.groups === 0 ? t('duplicates.none', { count: search.compared })
        : this.isDone ? t('duplicates.allDone') : t('duplicates.found', { count: search.groups }),
      failed: () => t('duplicates.failed', { reason: search.problem ?? '' }),
    }[search.state]();
    if (this.status.textContent !== words) this.status.textContent = words;
  }

  /** Reads the groups after a commit, and after those that came until a while later once more. */
  async readOn() {
    this.hasNews = true;
    if (this.isLedOn) return;
    this.isLedOn = true;
    while (this.hasNews && !this.abort.signal.aborted) {
      this.hasNews = false;
      await this.read();
      await new Promise((done) => { this.pausing = setTimeout(done, commitPause); });
    }
    this.isLedOn = false;
  }

  /** Reads the groups as they are now; of what comes meanwhile, after that. */
  async read() {
    this.isBehind = true;
    if (this.isReading) return;
    this.isReading = true;
    clearTimeout(this.retrying);
    try {
      while (this.isBehind && !this.abort.signal.aborted) {
        this.isBehind = false;
        await this.readOnce();
        this.succeeded('reading');
      }
    } catch (error) {
      this.fail(error, 'reading');
      const isPassing = error instanceof Problem && error.isPassing && !this.abort.signal.aborted;
      if (isPassing) this.retrying = setTimeout(() => this.read(), retryPause);
    } finally {
      this.isReading = false;
    }
  }

  async readOnce() {
    const { search, wanted } = this;
    if (!search || search.state !== 'ready' || search.groups === 0) {
      this.show([], new Map(), null, false);
      return;
    }
    const { client } = this.app;
    const { signal } = this.abort;
    /** @type {Group[]} */
    const groups = [];
    /** @type {number | null} */
    let start = 0;
    while (start !== null && start < wanted) {
      /** @type {{ groups: Group[], next: number | null }} */
      const page = await client.ask('GET', '/v1/duplicates/groups',
        { query: { search: search.search, start, limit: pageSize }, signal });
      groups.push(...page.groups);
      start = page.next;
    }
    const ids = groups.flatMap(({ keeper, others }) => [keeper, ...others.map(({ asset }) => asset)])
      .map(({ localIdentifier }) => localIdentifier);
    const [pictures, tree] = await Promise.all([itemsOf(client, ids, { signal }), Collections.read(client)]);
    if (signal.aborted) return;
    this.show(groups, pictures, tree, start !== null);
    this.isDone = groups.length === 0 && start === null;
    this.say();
  }

  /**
   * @param {Group[]} groups
   * @param {Map<string, import('../client/photoledger.js').Item>} pictures
   * @param {Collections | null} tree
   * @param {boolean} hasMore
   */
  show(groups, pictures, tree, hasMore) {
    /** @type {Map<string, HTMLElement>} */
    const drawn = new Map();
    for (const group of groups) {
      const assets = [group.keeper, ...group.others.map(({ asset }) => asset)];
      const albums = assets.map((asset) => this.albumsOf(asset, tree));
      const key = JSON.stringify([group, albums, assets.map(({ localIdentifier: id }) => pictures.get(id)?.sha256)]);
      drawn.set(key, this.drawn.get(key) ?? this.groupOf(group, assets, albums, pictures));
    }
    const lost = [...this.drawn.values()].findIndex((one) => one.contains(document.activeElement));
    const elements = [...drawn.values()];
    this.drawn = drawn;
    arrange(this.list, ...elements);
    if (lost >= 0 && !this.list.contains(document.activeElement)) {
      // The next group has the place of one that was merged.
      (elements[Math.min(lost, elements.length - 1)]?.querySelector('button') ?? this.heading).focus();
    }
    this.more.hidden = !hasMore;
  }

  /**
   * The titles of the albums that hold a photo.
   * @param {any} asset
   * @param {Collections | null} tree
   * @returns {string[]}
   */
  albumsOf(asset, tree) {
    return asset.albums.flatMap((/** @type {string} */ id) => {
      const album = tree?.get(short(id));
      return album ? [titleOf(album)] : [];
    });
  }

  /**
   * A group with its button.
   * @param {Group} group
   * @param {any[]} assets the proposed one first
   * @param {string[][]} albums
   * @param {Map<string, import('../client/photoledger.js').Item>} pictures
   */
  groupOf({ furtherCount }, assets, albums, pictures) {
    const name = uniqueName('keeper');
    const radios = assets.map(({ localIdentifier }, index) =>
      h('input', { type: 'radio', name, value: short(localIdentifier), '.checked': index === 0 }));
    const members = assets.map((asset, index) => this.memberOf(asset, albums[index], radios[index],
      pictures.get(asset.localIdentifier)));
    let isMerging = false;
    const button = h('button', { class: 'button main', type: 'button', 'data-act': 'merge', onclick: async () => {
      // A button out of use would lose the focus, which goes on to the next group.
      if (isMerging) return;
      isMerging = true;
      const kept = radios.find((one) => one.checked)?.value ?? '';
      const others = assets.map(({ localIdentifier }) => short(localIdentifier)).filter((id) => id !== kept);
      await this.app.commit([{ op: 'asset.merge', asset: kept, others }], t('done.merged', { count: assets.length }));
      // The feed says so too; this does not wait for it.
      await this.read();
      isMerging = false;
    } }, t('duplicates.merge'));
    const reject = h('button', { class: 'button', type: 'button', 'data-act': 'reject', onclick: async () => {
      if (isMerging) return;
      isMerging = true;
      await this.decide(assets.map(({ localIdentifier }) => short(localIdentifier)), true);
      isMerging = false;
    } }, t('duplicates.reject'));
    return h('fieldset', { class: 'duplicate-group' },
      h('legend', null, t('photos.count', { count: assets.length })), h('ul', { class: 'duplicate-members' }, ...members),
      h('div', { class: 'entry-actions' }, button, reject,
        furtherCount > 0 && h('p', { class: 'soft' }, t('duplicates.further', { count: furtherCount }))));
  }

  /**
   * Decides that photos are not duplicates of each other, or takes that back.
   * @param {string[]} assets
   * @param {boolean} isRejected
   */
  async decide(assets, isRejected) {
    const { client, notices } = this.app;
    try {
      await client.ask('POST', '/v1/duplicates/decisions', { json: { assets, isRejected } });
      if (isRejected) {
        notices.show(t('done.notDuplicates'), {
          action: t('action.undo'), onAction: () => { this.decide(assets, false); } });
      } else notices.show(t('notice.undone'));
      // The state of the search says so too; this does not wait for it.
      this.read();
    } catch (error) {
      notices.fail(error);
    }
  }

  /**
   * @param {any} asset
   * @param {string[]} albums
   * @param {HTMLElement} radio
   * @param {import('../client/photoledger.js').Item | undefined} item
   */
  memberOf(asset, albums, radio, item) {
    const [file] = asset.resources;
    const line = (/** @type {string | false | undefined} */ words) => words && h('p', { dir: 'auto' }, words);
    return h('li', { 'data-id': asset.localIdentifier },
      h('a', { href: App.href('photos', '', { photo: short(asset.localIdentifier) }) }, item && thumb(this.app, item)),
      h('label', { class: 'choice' }, radio, h('span', null, t('duplicates.keep'),
        h('span', { class: 'visually-hidden' }, ` ${file?.originalFilename ?? ''}`))),
      line(file?.originalFilename || t('file.unnamed')),
      line(`${number(asset.pixelWidth)} × ${number(asset.pixelHeight)} · ${size(file?.dataSize ?? 0)}`),
      line(dateInWords(asset)?.date ?? t('tile.undated')),
      line(albums.length > 0 ? t('duplicates.albums', { titles: albums.join(', ') }) : t('viewer.noAlbums')));
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  following = undefined;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  pausing = undefined;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  retrying = undefined;
}
