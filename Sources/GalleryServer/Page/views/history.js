// The history: commits by day, the newest first, with who, when, why and what, and a way back from each.
//
//   filters   in the address, so that a narrowed history has a link
//   commits   read page by page as they come into view; new ones arrive at the top
//
// New commits arrive by the page's one feed, which follows the log as it follows fetches: a step of the log has its
// events, and where it has not all of them, or the history is narrowed, they are asked for.
//
// A client with limited access sees its own history: what came to it, changed and left, without whose doing it was.

import { messageOf } from '../model/failures.js';
import { sightings, LogReader } from '../model/log.js';
import { instant, isolated, t } from '../text/text.js';
import { App } from './app.js';
import { clientName, clientsIn, learnNames, readClients } from './client-names.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { eventSentence } from './log-sentences.js';
import { causeWords, commitWords, kinds } from './log-words.js';
import { undoDialog } from './undo.js';

/** @typedef {import('../model/log.js').Commit} Commit */

/** How long after a failure new commits are asked for again, milliseconds. */
const retryPause = 4000;
/** How many commits stay where twice as many are shown: a tab may be open for weeks, and an import makes thousands. */
const keptCount = 200;
/** How many sentences of a commit are shown at once. */
const sentenceLimit = 3;
const day = 86_400_000;

/**
 * The history.
 * @param {App} app
 * @param {import('./app.js').Address} address
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app, address) {
  if (app.session.authorizationStatus.readWrite !== 'authorized') return openOwn(app);
  const view = new HistoryView(app, address.query);
  await view.more();
  view.follow();
  return { title: t('nav.history'), element: view.element, close: () => view.close() };
}

/**
 * The filter of an address.
 * @param {URLSearchParams} query
 * @returns {import('../model/log.js').LogFilter}
 */
function filterOf(query) {
  /** @type {Record<string, string>} */
  const filter = {};
  for (const name of ['client', 'cause', 'kind', 'object']) {
    const value = query.get(name);
    if (value) filter[name] = value;
  }
  const from = Date.parse(`${query.get('from') ?? ''}T00:00:00`);
  const to = Date.parse(`${query.get('to') ?? ''}T00:00:00`);
  if (!Number.isNaN(from)) filter.from = new Date(from).toISOString();
  // Days are the reader's own, and the last one is meant whole.
  if (!Number.isNaN(to)) filter.to = new Date(new Date(to + day * 1.5).setHours(0, 0, 0, 0)).toISOString();
  return filter;
}

class HistoryView {
  /**
   * @param {App} app
   * @param {URLSearchParams} query
   */
  constructor(app, query) {
    this.app = app;
    this.wanted = query;
    this.filter = filterOf(query);
    this.reader = new LogReader(app.client, this.filter);
    this.abort = new AbortController();
    this.isReading = false;
    this.isAsking = false;
    /** Whether a step came while something was read. */
    this.isBehind = false;
    /** @type {() => void} */
    this.end = () => {};
    /**
     * The elements of commits, by token.
     * @type {Map<string, HTMLElement>}
     */
    this.cards = new Map();
    this.list = h('div', { class: 'history' });
    this.button = h('button', { class: 'button', onclick: () => this.more() }, t('history.more'));
    this.foot = h('p', { class: 'history-foot', role: 'status' }, this.button);
    this.news = h('p', { class: 'visually-hidden', role: 'status' });
    this.trouble = h('p', { class: 'problem', role: 'status', hidden: true });
    const isNarrowed = Object.keys(this.filter).length > 0;
    this.element = h('section', { class: 'view history-view' },
      h('header', { class: 'view-head' }, h('h1', null, t('nav.history')),
        h('div', { class: 'view-actions' }, this.undoButton())),
      this.form(isNarrowed), this.news, this.trouble, this.list, this.foot);
    this.observer = new IntersectionObserver((entries) => {
      if (entries.some((one) => one.isIntersecting)) this.more();
    }, { rootMargin: '600px' });
  }

  /** What undoes everything that the filter chooses, where an undo can be asked for that. */
  undoButton() {
    const { kind, ...chosen } = this.filter;
    if (kind || Object.keys(chosen).length === 0) return null;
    return h('button', { class: 'button', 'data-undo': 'all', onclick: () => this.undoAll() }, icon('undo'),
      t('history.undoAll'));
  }

  async undoAll() {
    const { client, cause, object, from, to } = this.filter;
    try {
      // An undo takes states and no dates: those before the first and after the last of the days.
      const request = {
        client, cause, objects: object ? [object] : undefined,
        from: from ? await this.stateBefore(from) : undefined, to: to ? await this.stateBefore(to) : undefined,
      };
      if (await undoDialog(this.app, t('undo.title'), [{ label: t('history.undoAll.scope'), request }])) this.ask();
    } catch (error) {
      if (!this.abort.signal.aborted) this.app.notices.fail(error);
    }
  }

  /**
   * The state at an instant: that of the last commit before it, or of no commit at all.
   * @param {string} at
   * @returns {Promise<string>}
   */
  async stateBefore(at) {
    return (await this.app.client.openFetch({ limit: 0 }, new Date(Date.parse(at) - 1).toISOString())).token;
  }

  /** @param {boolean} isNarrowed */
  form(isNarrowed) {
    const value = (/** @type {string} */ name) => this.wanted.get(name) ?? '';
    const field = (/** @type {string} */ name, /** @type {HTMLElement} */ input) =>
      h('label', { class: 'field' }, t(`history.filter.${name}`), input);
    const clients = h('datalist', { id: 'history-clients' }, h('option', { value: 'owner' }));
    const kind = h('select', { name: 'kind' }, h('option', { value: '' }, t('history.kind.all')),
      ...kinds.map((name) => h('option', { value: name, '.selected': name === value('kind') },
        t(`history.kind.${name}`))));
    const form = h('form', { class: 'filters', onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      /** @type {Record<string, string>} */
      const query = {};
      for (const [name, entry] of new FormData(form)) {
        if (typeof entry === 'string' && entry.trim() !== '') query[name] = entry.trim();
      }
      this.app.open('history', '', query);
    } },
    field('client', h('input', { name: 'client', list: 'history-clients', maxlength: 256,
      '.value': value('client') })), clients,
    field('cause', h('input', { name: 'cause', maxlength: 256, '.value': value('cause') })), field('kind', kind),
    field('from', h('input', { name: 'from', type: 'date', '.value': value('from') })),
    field('to', h('input', { name: 'to', type: 'date', '.value': value('to') })),
    value('object') === '' ? null : field('object', h('input', { name: 'object', '.value': value('object') })),
    h('div', { class: 'filter-actions' }, h('button', { class: 'button', type: 'submit' }, t('history.filter.act')),
      isNarrowed ? h('a', { class: 'button', href: App.href('history') }, t('history.filter.clear')) : null));
    const box = h('details', { class: 'filter-box', '.open': isNarrowed,
      ontoggle: () => { if (box.open) this.suggest(clients); } },
      h('summary', null, t('history.filter')), form);
    return box;
  }

  /**
   * Proposes the clients that there are.
   * @param {HTMLDataListElement} place
   */
  async suggest(place) {
    if (!this.app.isOwner || place.childElementCount > 1) return;
    try {
      const clients = await readClients(this.app, this.abort.signal);
      place.append(...clients.map((/** @type {{ name: string }} */ { name }) =>
        h('option', { value: name, label: clientName(name) === name ? null : clientName(name) })));
    } catch (error) {
      if (!this.abort.signal.aborted) this.app.notices.fail(error);
    }
  }

  /** Reads older commits. */
  async more() {
    if (this.isReading || this.reader.isComplete || this.abort.signal.aborted) return;
    this.isReading = true;
    this.button.disabled = true;
    const known = this.reader.commits.length;
    let goesOn = false;
    try {
      await this.reader.more(this.abort.signal);
      await this.learn(this.reader.commits.slice(Math.max(0, known - 1)));
      // The last commit of the page before may have got more events.
      for (const commit of this.reader.commits.slice(Math.max(0, known - 1))) this.show(commit, false);
      goesOn = true;
    } catch (error) {
      if (this.abort.signal.aborted) return;
      if (known === 0) throw error;
      this.app.notices.fail(error);
    } finally {
      this.isReading = false;
      this.button.disabled = false;
      this.showEnd(goesOn);
      this.catchUp();
    }
  }

  /**
   * Learns what the clients are called that commits name.
   * @param {Commit[]} commits
   */
  learn(commits) {
    return learnNames(this.app, commits.flatMap((commit) => clientsIn(commit.events)), this.abort.signal);
  }

  /**
   * Shows that there is no more, or has more read when the end comes into view.
   * @param {boolean} goesOn false after a failure: an observer says at once what is in view, which would ask again at
   *   once; the person presses the button
   */
  showEnd(goesOn = true) {
    const { isComplete, commits } = this.reader;
    if (isComplete) fill(this.foot, commits.length === 0 ? t('history.none') : t('history.end'));
    // Observed anew, it is looked at again: what was read may not fill the view.
    this.observer.unobserve(this.button);
    if (!isComplete && goesOn) this.observer.observe(this.button);
  }

  /** Follows what is committed. */
  follow() {
    this.app.client.openFetch({ log: true }).then((state) => {
      if (this.abort.signal.aborted) return;
      this.end = this.app.feed.follow(state.fetch, state.token, {
        onChange: (step) => { this.ask(step); },
        onState: () => {
          this.isFollowing = true;
          this.ask();
        },
        // The feed follows again by itself.
        onProblem: (error) => {
          this.isFollowing = false;
          this.showTrouble(error);
        },
      });
      this.isFollowing = true;
      // What was committed since the first page was read.
      this.ask();
    }, (error) => {
      if (!this.abort.signal.aborted) this.followLater(error);
    });
  }

  /**
   * Begins to follow after a while. Until then the last failure is shown, though older commits are read meanwhile.
   * @param {unknown} error
   */
  followLater(error) {
    this.showTrouble(error);
    clearTimeout(this.followTimer);
    this.followTimer = setTimeout(() => this.follow(), retryPause);
  }

  /**
   * Shows new commits.
   * @param {import('../client/photoledger.js').Change} [step] of the log; without one, or where it is not enough, the
   *   server is asked
   */
  async ask(step) {
    if (this.abort.signal.aborted) return;
    if (this.isAsking || this.isReading) {
      this.isBehind = true;
      return;
    }
    this.isAsking = true;
    clearTimeout(this.timer);
    try {
      const found = (step && this.reader.take(step)) ?? await this.reader.newer(this.abort.signal);
      await this.learn(found);
      for (const commit of [...found].reverse()) this.show(commit, true);
      if (found.length > 0) {
        this.keepNewest();
        this.news.textContent = t('history.news', { count: found.length });
        this.showEnd();
      }
      if (this.isFollowing) this.trouble.hidden = true;
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.showTrouble(error);
      // The next step may be long in coming.
      this.timer = setTimeout(() => this.ask(), retryPause);
    } finally {
      this.isAsking = false;
      this.catchUp();
    }
  }

  /** Lets the oldest commits go where many came and the newest are looked at. */
  keepNewest() {
    const { main } = this.app;
    // A page that is being read goes on behind the last commit that there is.
    if (this.isReading || this.reader.commits.length <= 2 * keptCount || main.scrollTop > main.clientHeight) return;
    for (const { token } of this.reader.keep(keptCount)) {
      const card = this.cards.get(token);
      const section = card?.closest('.history-day');
      card?.remove();
      if (!section?.querySelector('.commit')) section?.remove();
      this.cards.delete(token);
    }
    if (!this.foot.contains(this.button)) fill(this.foot, this.button);
  }

  /** Asks for what came while something was read. */
  catchUp() {
    if (!this.isBehind) return;
    this.isBehind = false;
    this.ask();
  }

  /** @param {unknown} error */
  showTrouble(error) {
    this.trouble.textContent = t('history.trouble', { problem: messageOf(error) });
    this.trouble.hidden = false;
  }

  /**
   * Puts a commit where it belongs.
   * @param {Commit} commit
   * @param {boolean} isNew at the top
   */
  show(commit, isNew) {
    const card = this.card(commit);
    const former = this.cards.get(commit.token);
    this.cards.set(commit.token, card);
    if (former) {
      former.replaceWith(card);
      return;
    }
    const name = instant(commit.date, { dateStyle: 'full' });
    const last = /** @type {HTMLElement | null} */ (isNew ? this.list.firstElementChild : this.list.lastElementChild);
    let section = last?.dataset.day === name ? last : null;
    if (!section) {
      section = h('section', { class: 'history-day', 'data-day': name }, h('h2', null, name),
        h('ol', { class: 'commits' }));
      if (isNew) this.list.prepend(section);
      else this.list.append(section);
    }
    const place = /** @type {HTMLElement} */ (section.lastElementChild);
    if (isNew) place.prepend(card);
    else place.append(card);
  }

  /** @param {Commit} commit */
  card(commit) {
    const words = commitWords(commit);
    const sentences = [...commit.events].reverse().map((event) => h('li', { dir: 'auto' }, eventSentence(event)));
    const [first, rest] = [sentences.slice(0, sentenceLimit), sentences.slice(sentenceLimit)];
    const isOwn = this.app.isOwner || commit.client === this.app.session.client;
    const further = commit.furtherCount === 0 ? null
      : h('p', { class: 'soft' }, Number.isNaN(commit.furtherCount) ? t('history.furtherUnknown')
        : t('history.further', { count: commit.furtherCount }));
    return h('li', { class: 'commit', 'data-token': commit.token },
      h('p', { class: 'commit-what', dir: 'auto' },
        commit.isUndo ? h('span', { class: 'badge' }, t('history.isUndo')) : null, words.join(', ')),
      h('p', { class: 'commit-who soft' }, h('time', { datetime: commit.date,
        title: instant(commit.date, { dateStyle: 'full', timeStyle: 'medium' }) },
        instant(commit.date, { timeStyle: 'short' })), ' · ', t('history.by'), ' ',
      h('a', { href: App.href('history', '', { client: commit.client }), dir: 'auto',
        title: `${isolated(commit.client)} · ${commit.process}` },
        clientName(commit.client)),
      commit.cause ? [' · ', t('history.because'), ' '].join('') : null,
      commit.cause ? h('a', { href: App.href('history', '', { cause: commit.cause }), dir: 'auto' },
        causeWords(commit.cause)) : null),
      h('ul', { class: 'sentences soft' }, ...first), further,
      rest.length === 0 ? null : h('details', null, h('summary', null, t('history.rest', { count: rest.length })),
        h('ul', { class: 'sentences soft' }, ...rest)),
      h('div', { class: 'commit-actions' },
        isOwn ? h('button', {
          class: 'button', 'data-undo': 'commit', 'aria-label': t('history.undo.of', { what: words[0] ?? '' }),
          onclick: () => this.undo(commit, words) }, icon('undo'), t('history.undo')) : null,
        h('a', { class: 'button', href: App.href('moment', '', { at: commit.token }) }, icon('clock'),
          t('history.then'))));
  }

  /**
   * @param {Commit} commit
   * @param {string[]} words
   */
  async undo(commit, words) {
    const { token, cause, client } = commit;
    const choices = [{ label: t('undo.scope.commit', { what: words.join(', ') }), request: { commit: token } }];
    if (cause) choices.push({ label: t('undo.scope.cause', { cause: causeWords(cause) }),
      request: /** @type {any} */ ({ cause }) });
    choices.push({ label: t('undo.scope.client', { client: clientName(client) }), request: /** @type {any} */ ({ client }) });
    if (this.reader.headToken !== token) {
      choices.push({ label: t('undo.scope.since'), request: /** @type {any} */ ({ from: token }) });
    }
    if (await undoDialog(this.app, t('undo.title'), choices)) this.ask();
  }

  close() {
    this.abort.abort();
    this.observer.disconnect();
    clearTimeout(this.timer);
    clearTimeout(this.followTimer);
    this.end();
  }

  /**
   * Until new commits are asked for again.
   * @type {ReturnType<typeof setTimeout> | undefined}
   */
  timer = undefined;
  /**
   * Until the log is followed again.
   * @type {ReturnType<typeof setTimeout> | undefined}
   */
  followTimer = undefined;
  isFollowing = false;
}

/** The names of the lists of an own history, and what they are about. */
const objects = /** @type {const} */ (['asset', 'assetCollection', 'collectionList']);
const outcomes = ['inserted', 'updated', 'deleted'];
/** How many entries of an own history are shown at once. */
const ownLimit = 100;

/**
 * The history of a client with limited access.
 * @param {App} app
 * @returns {Promise<import('./app.js').View>}
 */
async function openOwn(app) {
  const records = (await sightings(app.client, null)).reverse();
  const list = h('div', { class: 'history' });
  const button = h('button', { class: 'button', onclick: () => more() }, t('history.more'));
  let shown = 0;
  const more = () => {
    for (const record of records.slice(shown, shown + ownLimit)) {
      const name = instant(record.date, { dateStyle: 'full' });
      let section = /** @type {HTMLElement | null} */ (list.lastElementChild);
      if (section?.dataset.day !== name) {
        section = h('section', { class: 'history-day', 'data-day': name }, h('h2', null, name),
          h('ol', { class: 'commits' }));
        list.append(section);
      }
      section.lastElementChild?.append(ownCard(record));
    }
    shown += ownLimit;
    button.hidden = shown >= records.length;
  };
  more();
  const element = h('section', { class: 'view history-view' },
    h('header', { class: 'view-head' }, h('h1', null, t('nav.history'))),
    h('p', { class: 'soft' }, t('history.own')), list,
    records.length === 0 ? h('p', { class: 'empty' }, t('history.none')) : null,
    h('p', { class: 'history-foot' }, button));
  return { title: t('nav.history'), element };
}

/** @param {import('../model/log.js').Sighting} record */
function ownCard({ token, date, client, cause, changeDetails }) {
  const words = changeDetails === null ? [t('history.own.view')] : objects.flatMap((about) =>
    outcomes.map((outcome) => {
    const count = changeDetails[about]?.[`${outcome}LocalIdentifiers`]?.length ?? 0;
    return count === 0 ? '' : t(`history.own.${about}.${outcome}`, { count });
  })).filter((one) => one !== '');
  return h('li', { class: 'commit', 'data-token': token },
    h('p', { class: 'commit-what' }, words.length === 0 ? t('history.own.nothing') : words.join(', ')),
    h('p', { class: 'commit-who soft' }, h('time', { datetime: date }, instant(date, { timeStyle: 'short' })), ' · ',
      client === null ? t('history.own.others') : t('history.own.self'),
      cause ? h('span', { dir: 'auto' }, ` · ${t('history.because')} ${causeWords(cause)}`) : null),
    h('div', { class: 'commit-actions' },
      h('a', { class: 'button', href: App.href('moment', '', { at: token }) }, icon('clock'), t('history.then'))));
}

