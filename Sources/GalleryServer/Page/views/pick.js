// The picker: the owner of the library chooses photos for an app, which sees what was chosen and nothing else.
//
//   app ── POST /v1/picking ─▶ /?pick=SESSION#style=…&without=… ─▶ this page, in a window or a frame
//   person ─ taps ─▶ server ─▶ app: state and items of its session
//
// The page is out of the app's process: it has the cookie of the person and asks the server itself. The app names in
// the fragment how much of the page it wants to have shown; this narrows what is drawn and gives the app nothing.

import { PhotoLedger, Problem } from '../client/photoledger.js';
import { openEvents } from '../client/events.js';
import { setSource } from '../client/pictures.js';
import { List } from '../model/list.js';
import { filterCondition, kindCondition, searchCondition } from '../model/picking.js';
import { isolated, locale, t } from '../text/text.js';
import { fill, h } from './dom.js';
import { frameQuestion } from './framing.js';
import { Guest, reason, sayOnly } from './guest.js';
import { icon } from './icons.js';
import { PickGrid, Picked } from './picked.js';

/** @typedef {import('./picked.js').Presentation} Presentation */

const place = /** @type {HTMLElement} */ (document.getElementById('app'));
const session = new URLSearchParams(location.search).get('pick') ?? '';
const wishes = new URLSearchParams(location.hash.slice(1));
const asked = wishes.get('style');
const style = asked === 'inline' || asked === 'compact' ? asked : 'presentation';
const without = new Set((wishes.get('without') ?? '').split(','));
const isFramed = window.top !== window;
const path = `/v1/picking/${encodeURIComponent(session)}`;

/** The kinds that the search knows by words. */
const searchedKinds = ['images', 'videos', 'livePhotos', 'screenshots', 'panoramas', 'favorites', 'slomoVideos',
  'timelapseVideos', 'bursts'];
/** In how many years a month is looked for that comes without one; the name of a fetch holds no more. */
const yearLimit = 10;

/**
 * What the app is called, without the letters that tell it from others of the name.
 * @param {string} client
 */
const appName = (client) => client.replace(/#[^#]*$/, '').slice(0, 120) || client.slice(0, 120);

/** Whether the person has read what an app gets, for each app. */
const notes = {
  key: 'photoledger.pick.read',
  /** @returns {string[]} */
  all() {
    try {
      const read = JSON.parse(localStorage.getItem(this.key) ?? '[]');
      return Array.isArray(read) ? read : [];
    } catch {
      // Where nothing is kept, the note is shown each time.
      return [];
    }
  },
  /** @param {string} name */
  add(name) {
    try {
      localStorage.setItem(this.key, JSON.stringify([...this.all().filter((one) => one !== name), name].slice(-50)));
    } catch {
      // As above.
    }
  },
};

class Picker {
  /**
   * @param {Guest} guest
   * @param {Presentation} presentation
   */
  constructor(guest, presentation) {
    this.guest = guest;
    this.name = appName(presentation.client);
    this.picked = new Picked(guest.client, presentation,
      (error) => guest.notices.show(reason(error), { isError: true }));
    this.filter = presentation.filter ? filterCondition(presentation.filter) : undefined;
    /** @type {PickGrid | null} */
    this.grid = null;
    this.visit = 0;
    /** How many presses of the box are on their way; what it shows is the last one. */
    this.placings = 0;
    /** Whether the end of the session waits for what was pressed before. */
    this.isFinishing = false;
    this.isOver = false;
    this.search = '';
    this.collection = 'all';
    /** @type {{ id: string, title: string }[]} */
    this.albums = [];
    /** @type {number[]} the years of the library, the newest first */
    this.years = [];
    this.place = h('div', { class: 'pick-grid' });
    this.status = h('p', { class: 'pick-count', 'aria-live': 'polite' });
    this.tray = h('ul', { class: 'pick-tray', 'aria-label': t('pick.tray'), hidden: true });
    this.add = h('button', { class: 'button main', onclick: () => this.finish() });
    this.leaveOut = h('input', { type: 'checkbox', onchange: () => this.setPlace() });
    this.picked.addEventListener('change', () => this.draw());
    // Browsers keep connections of pages that were left, and have six for a server.
    addEventListener('pagehide', () => this.events?.close());
    addEventListener('pageshow', (event) => { if (event.persisted) this.look(); });
  }

  /** @param {string} capability */
  has(capability) {
    return style !== 'compact' && !without.has(capability);
  }

  async open() {
    const { presentation } = this.picked;
    const hasActions = !without.has('selectionActions');
    const cancel = style === 'presentation' && hasActions
      && h('button', { class: 'button', onclick: () => this.cancel() }, t('action.cancel'));
    const clear = hasActions && style !== 'compact' && presentation.limit !== 1
      && h('button', { class: 'button pick-clear', onclick: () => this.picked.clear() }, t('pick.clear'));
    this.clear = clear;
    this.add.hidden = !hasActions || presentation.continuous;
    const title = t('pick.title', { app: this.name });
    document.title = title;
    if (this.has('search')) await this.readYears();
    const tools = [this.has('search') && this.searchField(),
      this.has('collectionNavigation') && await this.collectionChoice()];
    this.guest.show(h('section', { class: `pick pick-${style}`, 'aria-label': title },
      style === 'presentation' && h('header', { class: 'pick-head' }, cancel, h('h1', null, h('bdi', null, title)),
        this.add),
      style !== 'compact' && this.note(), !isFramed && await frameQuestion(this.guest, this.name, presentation),
      tools.some(Boolean) && h('div', { class: 'pick-tools' }, ...tools),
      this.place,
      h('footer', { class: 'pick-foot' }, this.has('stagingArea') && this.tray,
        h('div', { class: 'pick-line' }, this.status, clear,
          style !== 'compact' && h('label', { class: 'pick-option' }, this.leaveOut, t('pick.leaveOut')),
          style !== 'presentation' && this.add))));
    this.listen();
    await this.showGrid();
    this.draw();
  }

  /** What the app gets, said at its first use. */
  note() {
    if (notes.all().includes(this.name)) return null;
    const note = h('div', { class: 'pick-note', role: 'note' }, icon('privacy'),
      h('p', null, t('pick.note', { app: this.name })),
      h('button', { class: 'button', onclick: () => {
        notes.add(this.name);
        note.remove();
        this.grid?.scroll.focus();
      } }, t('pick.understood')));
    return note;
  }

  searchField() {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const input = h('input', {
      type: 'search', 'aria-label': t('nav.search'), placeholder: t('pick.searchHint'), maxlength: 200, oninput: () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          this.search = input.value;
          this.showGrid();
        }, 300);
      },
    });
    return input;
  }

  async readYears() {
    try {
      const { client } = this.guest;
      const { fetch, token, count } = await client.openFetch({ sort: ['creationDate:desc'] });
      if (count === 0) return;
      const sections = await client.sections(fetch, token, 'year');
      this.years = sections.map(({ key }) => Number.parseInt(key, 10)).filter((year) => year > 0);
    } catch (error) {
      this.guest.notices.fail(error);
    }
  }

  async collectionChoice() {
    try {
      this.albums = await this.readAlbums();
    } catch (error) {
      this.guest.notices.fail(error);
    }
    const option = (/** @type {string} */ value, /** @type {string} */ text) => h('option', { value }, text);
    const select = h('select', { 'aria-label': t('pick.collection'), onchange: () => {
      this.collection = select.value;
      this.showGrid();
    } }, option('all', t('pick.all')), option('recent', t('pick.recent')),
      option('favorites', t('photos.kind.favorites')),
    this.albums.length > 0 && h('optgroup', { label: t('nav.albums') },
      ...this.albums.map(({ id, title }) => option(id, title))));
    return select;
  }

  /**
   * @param {string} [folder]
   * @param {string} [prefix]
   * @returns {Promise<{ id: string, title: string }[]>}
   */
  async readAlbums(folder, prefix = '') {
    const { collections } = await this.guest.client.ask('GET', '/v1/collections', { query: { folder } });
    const found = [];
    for (const { localIdentifier: id, kind, localizedTitle } of collections) {
      const title = prefix + (localizedTitle || t('upload.untitled'));
      if (kind === 'album') found.push({ id, title });
      else if (kind === 'folder') found.push(...await this.readAlbums(id, `${isolated(title)} / `));
    }
    return found;
  }

  /**
   * What is to be seen. Words that are neither a date nor a kind are the title of an album, or else those of photos.
   * @returns {import('../client/photoledger.js').Question}
   */
  question() {
    const kinds = Object.fromEntries(searchedKinds.map((name) => [name, t(`pick.words.${name}`)]));
    const { where, rest } = searchCondition(this.search, { kinds, locale, years: this.years.slice(0, yearLimit) });
    let album = ['all', 'recent', 'favorites'].includes(this.collection) ? undefined : this.collection;
    const found = rest === '' ? undefined
      : this.albums.find(({ title }) => title.toLocaleLowerCase(locale).includes(rest));
    if (found) album = found.id;
    const conditions = [this.filter, where, this.collection === 'favorites' ? kindCondition('favorites') : undefined]
      .filter(Boolean).map((one) => `(${one})`);
    return {
      ...conditions.length > 0 && { where: conditions.join(' AND ') }, ...album && { album }, ...rest !== '' && !found && { search: rest },
      sort: [this.collection === 'recent' ? 'addedDate:desc' : 'creationDate:desc'],
    };
  }

  async showGrid() {
    const visit = this.visit += 1;
    const question = this.question();
    this.grid?.close();
    this.grid = null;
    try {
      const { client, feed, app } = this.guest;
      const hasHeadings = style === 'presentation' && question.sort?.[0] === 'creationDate:desc';
      const list = await List.open(client, question, { feed, hasHeadings, isLaidOut: true });
      if (visit !== this.visit || this.isOver) {
        list.close();
        return;
      }
      const grid = new PickGrid(app, list, { question, label: t('pick.title', { app: this.name }) }, this.picked);
      if (style === 'compact') grid.level = 5;
      this.grid = grid;
      const empty = h('p', { class: 'empty', role: 'status' }, t('photos.none'));
      const show = () => {
        empty.hidden = list.count > 0;
        grid.element.classList.toggle('is-empty', list.count === 0);
      };
      grid.addEventListener('count', show);
      show();
      fill(this.place, empty, grid.element);
    } catch (error) {
      if (visit !== this.visit) return;
      fill(this.place, h('div', { class: 'failure', role: 'alert' }, h('p', null, reason(error)),
        h('button', { class: 'button', onclick: () => this.showGrid() }, t('action.retry'))));
    }
  }

  draw() {
    const { count, presentation: { limit, ordered, withheld } } = this.picked;
    const text = limit === 0 ? t('selection.count', { count }) : t('pick.of', { count, limit });
    if (this.status.textContent !== text) this.status.textContent = text;
    fill(this.add, ordered || limit !== 1 ? t('pick.addCount', { count }) : t('pick.add'));
    this.add.disabled = count === 0 || this.isFinishing;
    if (this.clear) this.clear.hidden = count === 0;
    if (this.placings === 0) this.leaveOut.checked = withheld.includes('location');
    this.tray.hidden = count === 0;
    this.drawTray();
  }

  drawTray() {
    const { ids, presentation: { ordered } } = this.picked;
    if (!this.has('stagingArea') || this.tray.dataset.ids === ids.join()) return;
    this.tray.dataset.ids = ids.join();
    const held = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.id : undefined;
    /** @type {Map<string | undefined, Element>} */
    const known = new Map([...this.tray.children].map((one) => [/** @type {HTMLElement} */ (one).dataset.item, one]));
    fill(this.tray, ...ids.map((id, index) => {
      const row = known.get(id) ?? this.trayItem(id);
      const number = row.querySelector('.pick-number');
      if (number) number.textContent = ordered ? String(index + 1) : '';
      row.querySelector('button')?.setAttribute('aria-label', t('pick.remove', { number: index + 1 }));
      return row;
    }));
    if (held) {
      const next = this.tray.querySelector(`[data-id="${CSS.escape(held)}"]`) ?? this.tray.querySelector('button')
        ?? this.grid?.scroll;
      if (next instanceof HTMLElement) next.focus();
    }
  }

  /** @param {string} id */
  trayItem(id) {
    const image = h('img', { alt: '', draggable: 'false' });
    const row = h('li', { 'data-item': id }, h('button', { 'data-id': id, onclick: () => {
      this.picked.tap(id, false);
      this.picked.dispatchEvent(new Event('change'));
    } }, image, h('span', { class: 'pick-number' }), icon('close')));
    this.itemOf(id).then((item) => {
      const url = item && this.guest.client.renditionURL(item, 'small');
      if (url) setSource(this.guest.client, image, url);
    }, (error) => this.guest.notices.fail(error));
    return row;
  }

  /**
   * An item that was selected; the app may have selected it before any window showed it.
   * @param {string} id
   */
  async itemOf(id) {
    const known = this.picked.items.get(id);
    if (known) return known;
    const uuid = id.split('/')[0].replace(/[^\w-]/g, '');
    const { client } = this.guest;
    const { fetch, token } = await client.openFetch({ where: `localIdentifier == "${uuid}"` });
    const [item] = (await client.window(fetch, token, 0, 1)).items;
    if (item) this.picked.items.set(id, item);
    return item;
  }

  /** Follows what the app and other windows do to the session. */
  listen() {
    const events = openEvents(this.guest.client, `${path}/presentation/events`);
    // Two looks at once open two.
    this.events?.close();
    this.events = events;
    events.addEventListener('state', (event) => this.take(JSON.parse(/** @type {MessageEvent} */ (event).data)));
    // Not at once: a server that ends each stream is not to be asked without a pause.
    const lost = () => {
      events.close();
      setTimeout(() => { if (this.events === events) this.look(); }, 500);
    };
    events.addEventListener('problem', lost);
    events.onerror = lost;
  }

  /** @param {Presentation} presentation */
  take(presentation) {
    if (this.isOver) return;
    if (presentation.state !== 'open') this.end(presentation.state);
    else this.picked.take(presentation);
  }

  /** Looks why the stream ended, and opens it again if the session is there. */
  async look() {
    clearTimeout(this.looking);
    this.events?.close();
    if (this.isOver) return;
    try {
      this.take(await this.guest.client.ask('GET', `${path}/presentation`));
      this.guest.banner.hidden = true;
      if (!this.isOver) this.listen();
    } catch (error) {
      if (error instanceof Problem && error.isPassing) {
        this.guest.banner.hidden = false;
        clearTimeout(this.looking);
        this.looking = setTimeout(() => this.look(), Math.max(1000, error.retryAfter * 1000));
      } else if (error instanceof Problem && error.status === 401) location.reload();
      else this.end('cancelled');
    }
  }

  async finish() {
    this.isFinishing = true;
    this.draw();
    try {
      const count = await this.picked.finish();
      if (count !== null) this.end('finished', count);
    } catch (error) {
      this.guest.notices.show(reason(error), { isError: true });
    }
    this.isFinishing = false;
    if (!this.isOver) this.draw();
  }

  async cancel() {
    try {
      await this.picked.cancel();
      this.end('cancelled');
    } catch (error) {
      this.guest.notices.show(reason(error), { isError: true });
    }
  }

  /** Leaves the place out of what is given, or gives it. */
  async setPlace() {
    this.placings += 1;
    try {
      await this.picked.withhold('location', this.leaveOut.checked);
    } catch (error) {
      this.guest.notices.show(reason(error), { isError: true });
    }
    this.placings -= 1;
    this.draw();
  }

  /**
   * @param {'finished' | 'cancelled'} state
   * @param {number} [count]
   */
  end(state, count = this.picked.count) {
    if (this.isOver) return;
    this.isOver = true;
    this.events?.close();
    this.grid?.close();
    const { name: app } = this;
    if (state === 'finished') sayOnly(place, t('pick.finished'), t('pick.finished.sentence', { count, app }));
    else sayOnly(place, t('pick.ended'), t('pick.ended.sentence', { app }));
    // Works where the app's page opened the window, and does nothing elsewhere.
    if (!isFramed && style === 'presentation') window.close();
  }
}

/** Checks that the picking session exists, and reads the browser's session. */
async function begin() {
  fill(place, h('p', { class: 'loading', role: 'status' }, t('state.loading')));
  const again = h('button', { class: 'button main', onclick: begin }, t('action.retry'));
  try {
    const client = new PhotoLedger();
    const presentation = await client.ask('GET', `${path}/presentation`);
    if (presentation.state !== 'open') throw new Problem(404, 'not-found', '');
    await new Picker(new Guest(client, place), presentation).open();
  } catch (error) {
    const status = error instanceof Problem ? error.status : 0;
    if (status === 401) {
      sayOnly(place, t('pick.signIn'), t(isFramed ? 'pick.signIn.framed' : 'pick.signIn.sentence'),
        h('p', { class: 'upload-buttons' },
          h('a', { class: 'button main', href: isFramed ? location.href : '/sign-in', target: '_blank',
            rel: 'noopener' },
            t(isFramed ? 'pick.window' : 'upload.signIn')), again));
    } else if (status === 404) sayOnly(place, t('pick.ended'), t('pick.gone'));
    else if (status === 403) sayOnly(place, t('pick.denied'), t('pick.denied.sentence'));
    else sayOnly(place, t('error.title'), reason(error), again);
  }
}

await begin();
