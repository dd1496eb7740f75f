// Search: one field, what was understood of it, and the photos that were found, which follow commits like any list.
//
//   field ─ 250 ms ─▶ parts ─▶ chips
//                     ├─ kinds, dates ─▶ `where`, a predicate, ANDed ─┐
//                     ├─ text ─▶ `search`, the server's index of words ┴▶ one fetch
//                     └─ a month of many years ─▶ that fetch, narrowed in the page (`model/found.js`)
//
// The switch sends the text as it is, as a predicate. The query is in the address, so that it can be kept and sent; the
// address is replaced and not pushed, or "back" would go through every letter.

import { Collections } from '../model/collections.js';
import { messageOf } from '../model/failures.js';
import { Found } from '../model/found.js';
import { folded, understood, whereMonth, without, wordsOf } from '../model/words.js';
import { Problem } from '../client/photoledger.js';
import { timeZone } from '../client/stream.js';
import { locale, t } from '../text/text.js';
import { titleOf } from './album-cards.js';
import { makeSmartAlbum, mayChange } from './album-edits.js';
import { App } from './app.js';
import { fill, h, uniqueName } from './dom.js';
import { icon } from './icons.js';
import { gridView } from './photos.js';

/** @typedef {import('../model/words.js').Part} Part */
/** @typedef {import('../client/photoledger.js').Question} Question */

/** How long the field is quiet before something is asked, milliseconds. */
const quiet = 250;
/** How many albums are named. */
const albumLimit = 12;
/** How long the list of albums and the years of a month are good, milliseconds. */
const lifetime = 10_000;
const newestFirst = ['creationDate:desc'];

/**
 * @param {App} app
 * @param {import('./app.js').Address} address
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app, address) {
  const search = new Search(app);
  search.take(address);
  return search;
}

/** The view of a search. */
class Search {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.title = t('nav.search');
    this.text = '';
    this.isPredicate = false;
    this.round = 0;
    /** What the photos that are shown were asked by; empty without any. */
    this.shownBy = '';
    /** @type {import('./photos.js').GridView | null} */
    this.inner = null;
    /** @type {Found | null} */
    this.found = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Map<string, { until: number, value: Promise<any> }>} */
    this.held = new Map();
    const [problem, hint] = [uniqueName('problem'), uniqueName('hint')];
    this.field = h('input', {
      type: 'search', enterkeyhint: 'search', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
      maxlength: 1500, dir: 'auto', 'aria-describedby': `${problem} ${hint}`, oninput: () => this.typed(),
    });
    this.word = h('span', null, t('search.field'));
    this.choice = h('input', { type: 'checkbox', role: 'switch', onchange: () => this.switched() });
    this.chips = h('ul', { class: 'chips', 'aria-label': t('search.understood'), hidden: true });
    this.problem = h('div', { class: 'problem', id: problem, role: 'alert' });
    this.hint = h('p', { class: 'soft', id: hint });
    this.albums = h('p', { class: 'search-albums', hidden: true });
    this.progress = h('p', { class: 'soft search-progress', role: 'status', hidden: true });
    this.results = h('div', { class: 'search-results' });
    /** Whether the text could not be asked for, so that Enter asks again. */
    this.hasFailed = false;
    this.save = h('button', { class: 'button', 'data-tool': 'save', hidden: true, onclick: () => this.keep() },
      icon('stack'), h('span', null, t('search.save')));
    this.element = h('section', { class: 'view search', 'aria-label': this.title },
      h('header', { class: 'view-head' }, h('h1', null, this.title)),
      h('form', { class: 'search-form', role: 'search', onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (this.hasFailed) this.text = '';
        this.settle();
      } }, h('label', { class: 'field' }, this.word, this.field),
      h('label', { class: 'check' }, this.choice, h('span', null, t('search.predicate'))), this.save),
      this.problem, this.chips, this.hint, this.albums, this.progress, this.results);
    requestAnimationFrame(() => { if (this.text === '' && this.field.isConnected) this.field.focus(); });
  }

  /**
   * Takes an address over.
   * @param {import('./app.js').Address} address
   */
  update(address) {
    const predicate = address.query.get('p');
    const text = predicate ?? address.query.get('q') ?? '';
    if (text === this.text && (predicate !== null) === this.isPredicate) return this.inner?.update?.(address) ?? true;
    this.take(address);
    return true;
  }

  /** @param {import('./app.js').Address} address */
  take(address) {
    const predicate = address.query.get('p');
    this.isPredicate = predicate !== null;
    this.choice.checked = this.isPredicate;
    this.field.value = predicate ?? address.query.get('q') ?? '';
    this.text = this.field.value;
    this.run();
  }

  /** The field has another text. */
  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), quiet);
  }

  switched() {
    this.isPredicate = this.choice.checked;
    // What was understood is where a predicate begins.
    const where = this.isPredicate ? this.lastWhere : '';
    if (where && this.text.trim() !== '') this.field.value = where;
    this.text = '';
    this.settle();
  }

  /** The predicate of the words that were understood last. */
  lastWhere = '';

  /** The text stands: into the address, and asked. */
  settle() {
    clearTimeout(this.timer);
    if (this.field.value === this.text && this.text !== '') return;
    this.text = this.field.value;
    /** @type {Record<string, string>} */
    const query = this.isPredicate ? { p: this.text } : this.text === '' ? {} : { q: this.text };
    history.replaceState(history.state, '', App.href('search', '', query));
    this.run();
  }

  /** Shows what was understood, and asks. */
  async run() {
    const round = this.round += 1;
    this.hasFailed = false;
    const { text } = this;
    const parts = this.isPredicate ? [] : understood(text, locale);
    fill(this.problem);
    this.field.removeAttribute('aria-invalid');
    this.field.classList.toggle('code', this.isPredicate);
    this.field.dir = this.isPredicate ? 'ltr' : 'auto';
    fill(this.word, t(this.isPredicate ? 'search.predicateField' : 'search.field'));
    fill(this.hint, this.isPredicate ? t('search.predicateHint') : text.trim() === '' && t('search.hint'));
    this.showChips(parts);
    this.showAlbums(round, text);
    this.save.hidden = true;
    try {
      const asked = text.trim() === '' ? null
        : this.isPredicate ? { where: text.trim(), search: '', months: [] } : await this.ask(parts);
      if (round !== this.round) return;
      if (asked === null) {
        this.clear();
        return;
      }
      this.lastWhere = asked.where;
      const { where, search, months } = asked;
      /** @type {Question} */
      const question = { ...where && { where }, ...search && { search }, sort: newestFirst };
      /** @type {import('../model/found.js').Test} */
      const test = ({ month }) => months.every((one) => one === month);
      await this.show(round, question, months.length > 0 ? test : null);
      // A smart album has a predicate and no words.
      const isPredicate = where !== '' && search === '' && months.length === 0;
      if (round === this.round) this.save.hidden = !isPredicate || !mayChange(this.app);
    } catch (error) {
      if (round !== this.round) return;
      this.clear();
      this.hasFailed = true;
      this.refuse(error);
    }
  }

  /**
   * What is asked for some parts: a predicate, words, and the months that are looked for in records.
   * @param {Part[]} parts
   */
  async ask(parts) {
    const conditions = [];
    /** @type {number[]} */
    const months = [];
    for (const part of parts) {
      if (part.month !== undefined) {
        const where = whereMonth(part.month, await this.yearsOf(part.month));
        if (where === null) months.push(part.month);
        else conditions.push(where);
      } else if (part.where) conditions.push(part.where.includes(' OR ') ? part.where : `(${part.where})`);
    }
    const search = parts.filter((part) => part.kind === 'text').map((part) => part.shown).join(' ');
    return { where: conditions.join(' AND '), search, months };
  }

  /**
   * Something that is good for a while.
   * @template Value
   * @param {string} name
   * @param {() => Promise<Value>} read
   * @returns {Promise<Value>}
   */
  hold(name, read) {
    const known = this.held.get(name);
    if (known && known.until > Date.now()) return known.value;
    const value = read();
    this.held.set(name, { until: Date.now() + lifetime, value });
    value.catch(() => this.held.delete(name));
    return value;
  }

  /**
   * The years in which a month has photos, the newest first.
   * @param {number} month
   */
  async yearsOf(month) {
    const { client } = this.app;
    // By the camera's clock, and by the reader's for photos without one.
    const sections = await this.hold('months', async () => (await Promise.all([
      client.openFetch({ sort: ['localCreationDate:desc'] })
        .then((state) => client.sections(state.fetch, state.token, 'month')),
      client.openFetch({ where: 'localCreationDate == NULL', sort: newestFirst })
        .then((state) => client.sections(state.fetch, state.token, 'month', timeZone)),
    ])).flat());
    const years = sections.flatMap(({ key }) => {
      const found = /^(\d{4})-(\d{2})$/.exec(key);
      return found && Number(found[2]) === month ? [Number(found[1])] : [];
    });
    return [...new Set(years)].sort((one, other) => other - one);
  }

  /** @param {Part[]} parts */
  showChips(parts) {
    this.chips.hidden = parts.length === 0;
    fill(this.chips, ...parts.map((part) => {
      const shown = part.kind === 'kind' ? t(`search.kind.${part.shown}`) : part.shown;
      return h('li', { class: 'chip', 'data-kind': part.kind },
        h('span', { class: 'soft' }, t(`search.part.${part.kind}`)), h('strong', { dir: 'auto' }, shown), h('button', {
          class: 'icon-button', 'aria-label': t('search.remove', { part: shown }), onclick: () => {
            this.field.value = without(this.field.value, part);
            this.settle();
            if (this.text === '') this.run();
            this.field.focus();
          },
        }, icon('close')));
    }));
  }

  /**
   * Names the albums whose titles have the words.
   * @param {number} round
   * @param {string} text
   */
  async showAlbums(round, text) {
    const words = this.isPredicate ? [] : wordsOf(text).map((word) => folded(word.text));
    if (words.length === 0) {
      this.albums.hidden = true;
      return;
    }
    try {
      const tree = await this.hold('albums', () => Collections.read(this.app.client));
      if (round !== this.round) return;
      const found = [...tree.walk()].filter((one) => words.every((word) => folded(one.title).includes(word)));
      this.albums.hidden = found.length === 0;
      const links = found.slice(0, albumLimit).map((one) =>
        h('a', { class: 'button', dir: 'auto', href: App.href('albums', one.id) },
          icon(one.kind === 'folder' ? 'folder' : 'album'), h('span', null, titleOf(one))));
      fill(this.albums, h('span', { class: 'soft' }, t('search.albums')), ' ', ...links,
        found.length > albumLimit && t('search.moreAlbums', { count: found.length - albumLimit }));
    } catch (error) {
      if (round !== this.round) return;
      this.albums.hidden = false;
      fill(this.albums, messageOf(error));
    }
  }

  /**
   * Shows the photos of a question, or those of them that pass a test.
   * @param {number} round
   * @param {Question} question
   * @param {import('../model/found.js').Test | null} test
   */
  async show(round, question, test) {
    const by = JSON.stringify([question, test !== null]);
    if (by === this.shownBy) {
      this.inner?.stay(this.app.read());
      if (test) this.found?.look(test);
      this.showProgress();
      return;
    }
    const found = test ? await Found.open(this.app, question, test) : null;
    const inner = await gridView(found?.app ?? this.app, {
      title: t('search.results'), question: found?.question ?? question,
      empty: () => h('p', null, t('search.none')),
    }).catch((error) => {
      found?.close();
      throw error;
    });
    if (round !== this.round) {
      inner.close?.();
      found?.close();
      return;
    }
    this.clear();
    Object.assign(this, { inner, found, shownBy: by });
    // The view has its heading already.
    const heading = inner.element.querySelector('h1');
    heading?.replaceWith(h('h2', null, heading.textContent));
    found?.addEventListener('progress', () => {
      fill(this.problem);
      this.showProgress();
    });
    found?.addEventListener('failed', (event) => this.refuse(/** @type {CustomEvent} */ (event).detail));
    fill(this.results, inner.element);
    this.showProgress();
  }

  /** Says how many photos were looked through. */
  showProgress() {
    const { found } = this;
    this.progress.hidden = found === null;
    if (!found) return;
    const isWaiting = !found.isWhole && found.readCount >= found.limit;
    fill(this.progress, t('search.progress', { read: found.readCount, count: found.total }), ' ',
      isWaiting && h('button', { class: 'button', onclick: () => {
        found.readMore();
        this.showProgress();
      } }, t('search.more')));
  }

  /** Takes the photos away. */
  clear() {
    this.inner?.close?.();
    this.found?.close();
    this.inner = null;
    this.found = null;
    this.shownBy = '';
    this.progress.hidden = true;
    fill(this.results);
  }

  /**
   * Says by the field why nothing was found.
   * @param {unknown} error
   */
  refuse(error) {
    const column = Number(/\bcolumn (\d+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? NaN);
    const isPointed = this.isPredicate && error instanceof Problem && error.status === 400 && column >= 1;
    if (error instanceof Problem && error.status === 400) this.field.setAttribute('aria-invalid', 'true');
    // The field's text is trimmed before it is sent.
    const caret = { class: 'caret', dir: 'ltr', 'aria-hidden': 'true' };
    fill(this.problem, h('p', null, messageOf(error)),
      isPointed && h('pre', caret, `${this.text.trim()}\n${' '.repeat(column - 1)}^`));
  }

  /** Keeps the search as a smart album. */
  async keep() {
    const id = await makeSmartAlbum(this.app, null, this.lastWhere);
    if (id) this.app.open('albums', id);
  }

  close() {
    clearTimeout(this.timer);
    this.round += 1;
    this.clear();
  }
}
