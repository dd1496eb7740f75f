// The files that are being uploaded: each goes from state to state, a few at a time.
//
//   queued ─▶ hashing ─▶ ready ─▶ sending ─▶ taken          in the library
//     ▲                    │         ├─────▶ there          the library had it, perhaps in the trash
//     ├────────────────────┼─────────┤                      the upload is gone or is another's: once more, as a new one
//     │ file chosen again  └─────────┼─────▶ refused        the server's sentence says why
//   lost (tab was closed)            ├─────▶ failed         can be tried again, as what was refused can
//                                    └─────▶ ready          the server is gone: again after a while
//
// Hashes are asked in batches before anything is sent, so that a folder that is there already costs its hashes only.
// When the server is not reached, everything waits together and goes on by itself. What needs a person (a full disk, an
// ended session) pauses the queue and says why.
//
// Events: `change` when anything differs, `resume` when it goes on after a pause, `idle` when nothing is left to do,
// `signedout` when the server refuses the session.

import { Problem, randomName } from '../client/photoledger.js';
import { FileGone, Hasher, knownFiles, sendFile } from '../client/upload.js';
import { t } from '../text/text.js';
import { messageOf } from './failures.js';

/**
 * @typedef {'lost' | 'queued' | 'hashing' | 'ready' | 'sending' | 'taken' | 'there' | 'refused' | 'failed'} UploadState
 *
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} name
 * @property {string} path the folder that it was chosen with, and its name
 * @property {number} size
 * @property {number} modified
 * @property {File | null} file
 * @property {any} handle
 * @property {UploadState} state
 * @property {string | null} sha256
 * @property {string | null} place
 * @property {number} sent
 * @property {string | null} asset
 * @property {boolean} isCompletion whether it became a part of an asset that was there
 * @property {boolean} isTrashed whether the library has it in the trash only, where no album takes it from
 * @property {boolean} isAnew whether it was begun anew by itself
 * @property {string} sentence why it was not taken
 * @property {{ id: string, title: string } | null} album
 * @property {AbortController | null} abort
 *
 * @typedef {{ file: File, handle?: any, path?: string }} Chosen
 */

const sendersAtOnce = 3;
const batchSize = 64;
/** How many assets are put into an album by one commit. */
const albumBatch = 500;
const longestPause = 30_000;

const open = new Set(['queued', 'hashing', 'ready', 'sending']);

/**
 * What a file is known by when it is chosen again.
 * @param {{ name: string, size: number, modified: number }} file
 */
const likeness = ({ name, size, modified }) => `${size} ${modified} ${name}`;

/**
 * Whether an upload failed for what a new one does not have: it is gone, was finished otherwise, or has another hash.
 * @param {Problem} problem
 */
const isStale = ({ status, type }) => status === 404 || status === 409 || status === 400 && type === 'invalid-resource';

/** @typedef {(album: { id: string, title: string }, assets: string[]) => Promise<boolean>} AlbumCommit */

export class Uploads extends EventTarget {
  /**
   * @param {import('../client/photoledger.js').PhotoLedger} client
   * @param {{ owner?: string, store?: import('./upload-store.js').UploadStore | null, toAlbum?: AlbumCommit }} options
   *   `owner` names the client in the store
   */
  constructor(client, { owner = '', store = null, toAlbum } = {}) {
    super();
    this.client = client;
    this.owner = owner;
    this.store = store;
    this.toAlbum = toAlbum;
    /** @type {Entry[]} */
    this.entries = [];
    this.hasher = new Hasher();
    this.isPaused = false;
    /** Why the queue is paused or waits, in a sentence; empty without a reason. */
    this.trouble = '';
    /** Whether the session has ended. */
    this.isSignedOut = false;
    /** Whether the server has refused the session, and has taken nothing since. */
    this.isRefusedAgain = false;
    /** How often the server was not reached in a row. */
    this.misses = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.isWaiting = false;
    this.isHashing = false;
    /** @type {Entry[]} hashed, and not asked for yet */
    this.batch = [];
    this.isAsking = false;
    this.isAlbumBusy = false;
    /**
     * The titles of albums that could not be filled, by identifier; they are tried again when the queue is resumed.
     * @type {Map<string, string>}
     */
    this.heldAlbums = new Map();
    this.wasBusy = false;
    globalThis.addEventListener?.('online', () => this.reconnect());
  }

  /** Whether anything is left to do that needs no person. */
  get isBusy() {
    return this.entries.some((entry) => open.has(entry.state)) || this.isAlbumBusy;
  }

  /**
   * Takes files. One that a closed tab had begun goes on where it was, into the album that is chosen now if one is.
   * @param {Chosen[]} chosen
   * @param {{ id: string, title: string } | null} [album]
   */
  async add(chosen, album = null) {
    /** @type {Map<string, Entry[]>} */
    const lost = new Map();
    for (const entry of this.entries) {
      if (entry.state !== 'lost') continue;
      const same = lost.get(likeness(entry));
      if (same) same.push(entry);
      else lost.set(likeness(entry), [entry]);
    }
    /** @type {Entry[]} */
    const added = [];
    for (const { file, handle = null, path = '' } of chosen) {
      const known = lost.get(likeness({ name: file.name, size: file.size, modified: file.lastModified }))?.shift();
      if (known) {
        Object.assign(known, { file, handle, album: album ?? known.album, state: known.sha256 ? 'ready' : 'queued' });
        added.push(known);
        continue;
      }
      const entry = /** @type {Entry} */ ({
        id: randomName(), name: file.name, path: path || file.webkitRelativePath || file.name, size: file.size,
        modified: file.lastModified, file, handle, state: 'queued', sha256: null, place: null, sent: 0, asset: null,
        isCompletion: false, isTrashed: false, isAnew: false, sentence: '', album, abort: null,
      });
      this.entries.push(entry);
      added.push(entry);
    }
    this.changed();
    await this.keep(added);
    this.pump();
    return added.length;
  }

  /** Brings back what closed tabs left behind. */
  async restore() {
    await this.store?.leftBehind(this.owner, (records) => this.takeOver(records));
  }

  /** @param {import('./upload-store.js').UploadRecord[]} records */
  async takeOver(records) {
    for (const { tab, client, ...rest } of records) {
      this.entries.push({
        ...rest, file: null, sent: 0, isCompletion: false, isTrashed: false, isAnew: false, sentence: '', abort: null,
        state: rest.asset ? 'taken' : 'lost',
      });
    }
    this.changed();
    for (const entry of this.entries) {
      // A file whose handle still may be read needs no question.
      if (entry.state !== 'lost' || !entry.handle?.queryPermission) continue;
      if (await entry.handle.queryPermission({ mode: 'read' }) === 'granted') await this.reopen(entry);
    }
    this.changed();
    this.pump();
  }

  /** Whether some of what was left behind can go on after the person allowed it. */
  get canAsk() {
    return this.entries.some((entry) => entry.state === 'lost' && entry.handle);
  }

  /** Asks the browser for what was left behind; has to follow a press of the person. */
  async goOn() {
    for (const entry of this.entries) {
      if (entry.state !== 'lost' || !entry.handle) continue;
      try {
        // A question that is dismissed is answered 'prompt', and one without a press throws.
        if (await (entry.handle.requestPermission?.({ mode: 'read' }) ?? 'granted') !== 'granted') break;
      } catch {
        break;
      }
      await this.reopen(entry);
    }
    this.changed();
    this.pump();
  }

  /** @param {Entry} entry */
  async reopen(entry) {
    try {
      const file = /** @type {File} */ (await entry.handle.getFile());
      const isSame = file.size === entry.size && file.lastModified === entry.modified;
      Object.assign(entry, { file, size: file.size, modified: file.lastModified });
      if (!isSame) Object.assign(entry, { sha256: null, place: null });
      entry.state = entry.sha256 ? 'ready' : 'queued';
    } catch (error) {
      // What is not allowed now can be asked for again; a file that is gone cannot.
      if (!(error instanceof DOMException && error.name === 'NotAllowedError')) entry.handle = null;
      entry.sentence = messageOf(error);
    }
  }

  /**
   * Takes files out of the queue, whatever they are at; what the server has of them is dropped.
   * @param {Entry[]} entries
   */
  async cancel(entries) {
    const gone = new Set(entries);
    this.entries = this.entries.filter((entry) => !gone.has(entry));
    this.batch = this.batch.filter((entry) => !gone.has(entry));
    for (const entry of entries) entry.abort?.abort();
    if (entries.some((entry) => entry.state === 'hashing')) this.hasher.cancel();
    this.changed();
    await this.store?.remove(entries.map((entry) => entry.id)).catch((error) => this.cannotKeep(error));
    for (const { place, asset } of entries) {
      if (!place || asset) continue;
      try {
        await this.client.ask('DELETE', place);
      } catch (error) {
        // The server drops it by itself after a week.
        if (!(error instanceof Problem)) throw error;
      }
    }
    this.pump();
  }

  /** Takes out what has ended. Where an album could not be filled, that is given up. */
  clear() {
    const gone = new Set(this.entries.filter((entry) => ['taken', 'there', 'refused'].includes(entry.state)
      && (!this.lacksAlbum(entry) || this.heldAlbums.has(entry.album?.id ?? ''))));
    this.heldAlbums.clear();
    this.entries = this.entries.filter((entry) => !gone.has(entry));
    this.store?.remove([...gone].map((entry) => entry.id)).catch((error) => this.cannotKeep(error));
    this.changed();
  }

  /**
   * An asset is out of the trash, and what became it can go into its album.
   * @param {string | null} asset
   */
  restored(asset) {
    for (const entry of this.entries) if (entry.asset === asset) entry.isTrashed = false;
    this.changed();
    this.pump();
  }

  /** @param {Entry[]} entries */
  retry(entries) {
    for (const entry of entries) {
      if (entry.state !== 'failed' && entry.state !== 'refused') continue;
      if (!entry.file) entry.state = 'lost';
      else Object.assign(entry, { state: 'queued', isAnew: false, sentence: '', sha256: null, place: null, sent: 0 });
    }
    this.changed();
    this.pump();
  }

  /** @param {string} [trouble] why, where the queue pauses by itself */
  pause(trouble = '') {
    this.isPaused = true;
    this.trouble = trouble;
    for (const entry of this.entries) if (entry.state === 'sending') entry.abort?.abort();
    this.changed();
  }

  resume() {
    this.isPaused = false;
    this.trouble = '';
    this.isSignedOut = false;
    this.misses = 0;
    this.heldAlbums.clear();
    this.changed();
    this.dispatchEvent(new Event('resume'));
    this.wake();
  }

  /**
   * Goes on with another session of the same client.
   * @param {import('../client/photoledger.js').PhotoLedger} client
   */
  goOnWith(client) {
    this.client = client;
    if (this.isSignedOut) this.resume();
  }

  /** Goes on at once where the queue waits for the server. */
  wake() {
    clearTimeout(this.timer);
    this.isWaiting = false;
    this.pump();
  }

  /** Sends again over the network that is there now: connections of the one before may be dead without a word. */
  reconnect() {
    for (const entry of this.entries) if (entry.state === 'sending') entry.abort?.abort();
    this.wake();
  }

  /** Does what can be done now. */
  pump() {
    if (!this.isPaused && !this.isWaiting) {
      this.hashNext();
      this.askNext();
      this.sendNext();
    }
    this.fillAlbums();
    const { isBusy } = this;
    if (this.wasBusy && !isBusy) this.dispatchEvent(new Event('idle'));
    this.wasBusy = isBusy;
  }

  async hashNext() {
    const entry = this.entries.find((one) => one.state === 'queued');
    if (!entry || this.isHashing) return;
    this.isHashing = true;
    entry.state = 'hashing';
    this.changed();
    try {
      entry.sha256 = await this.hasher.hash(/** @type {File} */ (entry.file));
      this.batch.push(entry);
    } catch (error) {
      if (error instanceof FileGone) this.fail(entry, error);
      else entry.state = 'ready';
    } finally {
      this.isHashing = false;
    }
    // Cancelled meanwhile.
    if (!this.entries.includes(entry)) this.batch = this.batch.filter((one) => one !== entry);
    this.changed();
    this.pump();
  }

  /** Asks for hashes, when there are enough or somebody waits for the answer. */
  async askNext() {
    if (this.isAsking || this.batch.length === 0) return;
    const hasReady = this.entries.some((entry) => entry.state === 'ready');
    if (this.batch.length < batchSize && hasReady && this.isHashing) return;
    this.isAsking = true;
    const asked = this.batch.splice(0, batchSize);
    const { client } = this;
    try {
      const found = await knownFiles(client, asked.map((entry) => entry.sha256 ?? ''));
      this.misses = 0;
      this.isRefusedAgain = false;
      for (const entry of asked) {
        const { asset = null, isTrashed = false } = found.get(entry.sha256 ?? '') ?? {};
        Object.assign(entry, { asset, isTrashed });
        if (asset) this.end(entry, 'there');
        else entry.state = 'ready';
      }
      this.keep(asked.filter((entry) => entry.state === 'ready'));
    } catch (error) {
      this.batch.unshift(...asked.filter((entry) => this.entries.includes(entry)));
      this.trip(error, client);
    } finally {
      this.isAsking = false;
    }
    this.changed();
    this.pump();
  }

  sendNext() {
    const busy = this.entries.filter((entry) => entry.state === 'sending');
    const contents = new Set(busy.map((entry) => entry.sha256));
    for (const entry of this.entries) {
      if (busy.length >= sendersAtOnce) return;
      // Two files of the same content go one after the other, so that the second is found to be there.
      if (entry.state !== 'ready' || entry.sha256 !== null && contents.has(entry.sha256)) continue;
      busy.push(entry);
      contents.add(entry.sha256);
      this.send(entry);
    }
  }

  /** @param {Entry} entry */
  async send(entry) {
    entry.state = 'sending';
    entry.abort = new AbortController();
    this.changed();
    const { client } = this;
    try {
      const done = await sendFile(client, /** @type {File} */ (entry.file), {
        name: entry.name, sha256: entry.sha256 ?? undefined, place: entry.place ?? undefined,
        signal: entry.abort.signal,
        onProgress: (bytes) => {
          entry.sent = bytes;
          this.changed();
        },
        onPlace: (place) => {
          entry.place = place;
          this.keep([entry]);
        },
      });
      this.misses = 0;
      this.isRefusedAgain = false;
      this.trouble = '';
      entry.asset = done.asset;
      entry.sha256 = done.sha256;
      entry.isCompletion = done.outcome === 'completed';
      if (done.outcome === 'duplicate') {
        entry.isTrashed = (await knownFiles(client, [done.sha256])).get(done.sha256)?.isTrashed ?? false;
      }
      this.end(entry, done.outcome === 'duplicate' ? 'there' : 'taken');
    } catch (error) {
      if (entry.abort.signal.aborted) entry.state = 'ready';
      else if (error instanceof Problem && (error.isPassing || [401, 403, 507].includes(error.status))) {
        entry.state = 'ready';
        this.trip(error, client);
      } else if (error instanceof Problem && isStale(error)) {
        Object.assign(entry, { sha256: null, place: null, sent: 0 });
        if (entry.isAnew) this.fail(entry, error);
        else Object.assign(entry, { isAnew: true, state: 'queued' });
      } else if (error instanceof Problem && error.status >= 400 && error.status < 500) {
        entry.sentence = messageOf(error);
        this.end(entry, 'refused');
      } else this.fail(entry, error);
    }
    this.changed();
    this.pump();
  }

  /**
   * @param {Entry} entry
   * @param {unknown} error
   */
  fail(entry, error) {
    entry.sentence = error instanceof FileGone ? t('upload.fileGone') : messageOf(error);
    entry.state = 'failed';
    this.changed();
  }

  /**
   * @param {Entry} entry
   * @param {'taken' | 'there' | 'refused'} state
   */
  end(entry, state) {
    entry.state = state;
    entry.sent = entry.size;
    if (this.lacksAlbum(entry)) this.keep([entry]);
    else {
      // What was refused can be tried again: the sentence may say to send it as a new upload.
      if (state !== 'refused') entry.file = null;
      this.store?.remove([entry.id]).catch((error) => this.cannotKeep(error));
    }
  }

  /**
   * Waits or pauses, as a problem of the server says.
   * @param {unknown} error
   * @param {import('../client/photoledger.js').PhotoLedger} client the one that was answered so
   */
  trip(error, client) {
    // Another session took the place of the one that ended: the same is tried with it.
    if (error instanceof Problem && error.status === 401 && client !== this.client) return;
    const sentence = messageOf(error);
    if (error instanceof Problem && error.isPassing) {
      this.misses += 1;
      const pause = Math.min(500 * 2 ** Math.min(this.misses, 10), longestPause) * (0.75 + Math.random() / 2);
      this.trouble = sentence;
      this.isWaiting = true;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.wake(), Math.max(pause, error.retryAfter * 1000));
      this.changed();
      return;
    }
    if (!(error instanceof Problem) || error.status !== 401) return this.pause(sentence);
    this.signOut(sentence);
    // Once until something is sent: a server that refuses the session it names would be asked without an end.
    if (!this.isRefusedAgain) this.dispatchEvent(new Event('signedout'));
    this.isRefusedAgain = true;
  }

  /**
   * Pauses the queue until the same person is signed in again.
   * @param {string} trouble why
   */
  signOut(trouble) {
    this.isSignedOut = true;
    this.pause(trouble);
  }

  /** @param {Entry} entry */
  lacksAlbum(entry) {
    return entry.album !== null && entry.asset !== null && !entry.isTrashed && this.toAlbum !== undefined;
  }

  /** Puts what has come into its albums, many at a time. */
  async fillAlbums() {
    if (this.isAlbumBusy || !this.toAlbum) return;
    const waiting = this.entries.filter((entry) => this.lacksAlbum(entry)
      && (entry.state === 'taken' || entry.state === 'there') && !this.heldAlbums.has(entry.album?.id ?? ''));
    const { album } = waiting[0] ?? {};
    if (!album) return;
    const own = waiting.filter((entry) => entry.album?.id === album.id).slice(0, albumBatch);
    if (own.length < albumBatch && this.entries.some((entry) => open.has(entry.state)) && !this.isPaused) return;
    this.isAlbumBusy = true;
    const isDone = await this.toAlbum(album, [...new Set(own.map((entry) => entry.asset ?? ''))]);
    // One that is gone keeps the others out: a block is done as a whole.
    const done = isDone ? own : await this.goneOf(own);
    this.isAlbumBusy = false;
    if (done.length === 0) this.heldAlbums.set(album.id, album.title);
    for (const entry of done) Object.assign(entry, { album: null, file: null });
    this.store?.remove(done.map((entry) => entry.id)).catch((error) => this.cannotKeep(error));
    this.changed();
    this.pump();
  }

  /**
   * Those of some files that the library has no more, or has in the trash only; none if that cannot be learned.
   * @param {Entry[]} entries
   */
  async goneOf(entries) {
    try {
      const found = await knownFiles(this.client, entries.map((entry) => entry.sha256 ?? ''));
      const gone = entries.filter((entry) => found.get(entry.sha256 ?? '')?.isTrashed !== false);
      for (const entry of gone) entry.isTrashed = found.has(entry.sha256 ?? '');
      return gone;
    } catch (error) {
      if (error instanceof Problem) return [];
      throw error;
    }
  }

  /** @param {Entry[]} entries */
  async keep(entries) {
    if (!this.store || entries.length === 0) return;
    const all = new Set(this.entries);
    const records = entries.filter((entry) => all.has(entry)).map(
      ({ id, name, path, size, modified, sha256, place, asset, album, handle }) =>
        ({ id, client: this.owner, name, path, size, modified, sha256, place, asset, album, handle }));
    await this.store.put(records).catch((error) => this.cannotKeep(error));
  }

  /**
   * The browser has no room for records: uploading goes on, and a closed tab begins anew.
   * @param {unknown} error
   */
  cannotKeep(error) {
    this.store = null;
    this.dispatchEvent(new CustomEvent('unkept', { detail: error }));
  }

  changed() {
    this.dispatchEvent(new Event('change'));
  }
}
