// Opens the viewer over a grid: by a tile, or by an address that names a photo.
//
//   #/photos?kind=videos&photo=1B4E28BA-…      the view `#/photos?kind=videos` with a viewer
//
// The photo is looked for in windows of the list, as the server does not know the list of a search by month. Where the
// list is sorted by a date, those that stand before are counted by a fetch of their own; shorter lists are searched.
// Elsewhere the photo is shown alone.

import { Problem } from '../client/photoledger.js';
import { List } from '../model/list.js';
import { mapped } from '../model/mapped.js';
import { t } from '../text/text.js';
import { App } from './app.js';
import { later } from './later.js';

/** @typedef {import('../client/photoledger.js').Question} Question */

/** How many items are looked through for a photo. */
const searchLimit = 10_000;
const windowSize = 1000;
/** How often items are asked for, and how long somebody else's answer is waited for, milliseconds. */
const attempts = 5;
const pause = 1000;

/**
 * Loads items of a list and waits until they are there, also if somebody else asked for them already or passed them by.
 * @param {List} list
 * @param {number} start
 * @param {number} count
 * @returns {Promise<boolean>} whether they are there
 */
export async function loaded(list, start, count) {
  const isThere = () => {
    const { count: all } = list;
    for (let index = Math.max(0, start); index < Math.min(start + count, all); index += 1) if (
      !list.item(index)) return false;
    return true;
  };
  for (let attempt = 0; attempt < attempts && list.isOpen; attempt += 1) {
    await list.load(start, count);
    if (isThere()) return true;
    await new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        list.removeEventListener('loaded', end);
        resolve(null);
      };
      const timer = setTimeout(end, pause);
      list.addEventListener('loaded', end);
    });
    if (isThere()) return true;
  }
  return false;
}

/**
 * A text in a predicate.
 * @param {string} text
 */
export const quoted = (text) => `'${text.replace(/[\\']/g, (letter) => `\\${letter}`)}'`;

/**
 * The address of a view without its photo.
 * @param {import('./app.js').Address} address
 */
function home(address) {
  const query = new URLSearchParams(address.query);
  query.delete('photo');
  return App.href(address.name, address.argument, Object.fromEntries(query));
}

export class Viewing {
  /**
   * @param {App} app
   * @param {import('./grid.js').Grid} grid
   * @param {{ question: Question, at?: string, address: import('./app.js').Address }} options
   */
  constructor(app, grid, { question, at, address }) {
    this.app = app;
    this.grid = grid;
    this.question = question;
    this.at = at;
    this.home = home(address);
    this.isClosed = false;
    /** The photo of the address that could not be asked for, as the server was away. @type {string | null} */
    this.wanted = null;
    this.connected = () => { if (app.feed.isOpen && this.wanted) this.find(this.wanted); };
    app.feed.addEventListener('connection', this.connected);
    /** @type {import('./viewer.js').Viewer | null} */
    this.viewer = null;
    /** How often a viewer was to be opened. */
    this.turns = 0;
    grid.addEventListener('open', (event) => {
      this.open(grid, /** @type {import('./grid.js').OpenEvent} */ (event).index);
    });
    const photo = address.query.get('photo');
    if (photo) this.find(photo);
  }

  /**
   * Takes a new address of the view.
   * @param {import('./app.js').Address} address
   * @returns {boolean} false if it asks for something else than another photo
   */
  update(address) {
    if (home(address) !== this.home) return false;
    const photo = address.query.get('photo');
    this.wanted = null;
    if (!photo) this.viewer?.close();
    else if (!this.viewer?.item?.id.startsWith(photo)) this.find(photo);
    return true;
  }

  /**
   * Takes over that the view has another address now and shows what it showed.
   * @param {import('./app.js').Address} address
   */
  stay(address) {
    this.home = home(address);
  }

  close() {
    this.isClosed = true;
    this.app.feed.removeEventListener('connection', this.connected);
    this.viewer?.close({ keepsAddress: true });
  }

  /**
   * Opens a viewer in place of the one that is open; of calls that wait for its module only the last one does.
   * @param {import('./viewer.js').Place} place
   * @param {number} index where the photo stands now; it is led along with the list until the module is there
   * @param {string} [photo] the one that the address names, if that is why the viewer opens
   */
  async open(place, index, photo) {
    const turn = this.turns += 1;
    let now = index;
    const lead = (/** @type {any} */ { change }) => { now = change && now >= 0 ? mapped(change, now) : -1; };
    place.list.addEventListener('change', lead);
    try {
      const { openViewer } = await later(this.app, () => import('./viewer.js'));
      if (turn !== this.turns || this.isClosed || (photo !== undefined && !this.isWanted(photo))) return null;
      if (now < 0) {
        this.app.notices.show(t('viewer.notThere'), { isError: true });
        if (photo !== undefined) this.resetAddress();
        return null;
      }
      this.viewer?.close({ keepsAddress: true });
      const viewer = openViewer(this.app, place, now, { at: this.at });
      this.viewer = viewer;
      viewer.onClosed = () => { if (this.viewer === viewer) this.viewer = null; };
      return viewer;
    } catch (error) {
      this.app.notices.fail(error);
      return null;
    } finally {
      place.list.removeEventListener('change', lead);
    }
  }

  /**
   * Opens the viewer at a photo.
   * @param {string} photo an identifier
   */
  async find(photo) {
    this.wanted = null;
    try {
      const { client } = this.app;
      const asset = await client.asset(photo, this.at);
      const index = await this.indexOf(asset);
      if (!this.isWanted(photo)) return;
      if (index >= 0) await this.open(this.grid, index, photo);
      else await this.openAlone(asset, photo);
    } catch (error) {
      if (!this.isWanted(photo)) return;
      if (error instanceof Problem && error.isPassing) {
        // The address stays, and is followed when the server is there again.
        this.wanted = photo;
        this.app.notices.fail(error);
        return;
      }
      const isGone = error instanceof Problem && (error.status === 404 || error.status === 400);
      if (isGone) this.app.notices.show(t('viewer.notThere'), { isError: true });
      else this.app.notices.fail(error);
      this.resetAddress();
    }
  }

  /** Has the address name what is shown: a viewer that is open goes on with its own photo. */
  resetAddress() {
    if (this.viewer?.item) this.viewer.setAddress();
    else history.replaceState({ ...history.state, photo: null }, '', this.home);
  }

  /**
   * Whether the address still names a photo after a wait: Back or another photo may have come meanwhile.
   * @param {string} photo
   */
  isWanted(photo) {
    return !this.isClosed && this.app.read().query.get('photo') === photo;
  }

  /**
   * Shows an asset without neighbours.
   * @param {any} asset
   * @param {string} photo as the address names it
   */
  async openAlone(asset, photo) {
    const { client, feed } = this.app;
    const question = {
      where: `localIdentifier == ${quoted(asset.localIdentifier)}`, hidden: true, allBursts: true,
        trash: asset.trashedDate !== null,
    };
    const list = await List.open(client, question, { feed, at: this.at });
    if (!this.isWanted(photo) || list.count === 0) {
      list.close();
      if (this.isWanted(photo)) throw new Problem(404, 'not-found', t('viewer.notThere'));
      return;
    }
    list.addEventListener('failed', (event) => this.app.notices.fail(/** @type {CustomEvent} */ (event).detail));
    const viewer = await this.open({ list, setCursor: () => {}, scroll: this.grid.scroll }, 0, photo);
    if (!viewer) {
      list.close();
      return;
    }
    const { onClosed } = viewer;
    viewer.onClosed = () => {
      onClosed();
      list.close();
    };
  }

  /**
   * The index of an asset in the grid's list; -1 if it is not found.
   * @param {any} asset
   */
  async indexOf(asset) {
    const { list } = this.grid;
    const id = asset.localIdentifier;
    for (const start of await this.starts(asset)) {
      // What is committed while the answer is on its way moves the photo.
      let index = -1;
      /** @type {(import('../client/photoledger.js').Change | null)[]} */
      const changes = [];
      const note = (/** @type {any} */ event) => changes.push(event.change);
      list.addEventListener('change', note);
      try {
        const window = await this.app.client.window(list.fetch, list.token, start, windowSize);
        const found = window.items.findIndex((item) => item.id === id);
        if (found < 0) continue;
        index = start + found;
      } finally {
        list.removeEventListener('change', note);
      }
      for (const change of changes) index = change && index >= 0 ? mapped(change, index) : -1;
      if (index >= 0) return index;
    }
    return -1;
  }

  /**
   * Where windows begin in which an asset may be, the likeliest first.
   * @param {any} asset
   * @returns {Promise<number[]>}
   */
  async starts(asset) {
    const { count } = this.grid.list;
    const all = [];
    for (let start = 0; start < Math.min(count, searchLimit); start += windowSize) all.push(start);
    const [key, order = 'asc'] = (this.question.sort?.[0] ?? '').split(':');
    if (!['creationDate', 'addedDate'].includes(key) || this.question.limit) return all;
    // What has no date stands at the end of a list that descends.
    if (!asset[key]) return order === 'desc' ? [Math.max(0, count - windowSize), ...all] : all;
    const sign = order === 'desc' ? '>' : '<';
    const date = `${key} ${sign} ${quoted(new Date(asset[key]).toISOString())}`;
    // In an ascending list what has no date stands before everything else.
    const before = order === 'desc' || key === 'addedDate' ? date : `(${date} OR ${key} == NULL)`;
    const where = this.question.where ? `(${this.question.where}) AND ${before}` : before;
    const { count: index } = await this.app.client.openFetch({ ...this.question, where }, this.at);
    const guess = Math.max(0, Math.min(index - 50, count - 1));
    return [guess, ...all.filter((start) => start !== guess)];
  }
}
