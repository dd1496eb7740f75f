// What was begun of uploads, kept by the browser, so that a tab may be closed and opened again.
//
// A record has no bytes, but the upload's path and, where the browser gives one, a handle of the file. Each tab holds a
// lock of its own name while it lives; records of a tab whose lock is gone are those that were left behind. Where a
// page has no locks, as over plain HTTP, tabs ask one another which of them live:
//
//   new tab ─ 'who' ─▶ every other tab ─ 'here', its name ─▶ new tab      a silent tab is gone

import { randomName } from '../client/photoledger.js';

/**
 * @typedef {object} UploadRecord
 * @property {string} id
 * @property {string} client whose upload it is
 * @property {string} tab
 * @property {string} name
 * @property {string} path
 * @property {number} size
 * @property {number} modified
 * @property {string | null} sha256
 * @property {string | null} place
 * @property {string | null} asset what it became, where only the album is missing
 * @property {{ id: string, title: string } | null} album
 * @property {any} handle a FileSystemFileHandle
 */

const lockName = (/** @type {string} */ tab) => `photoledger-uploads-${tab}`;
/** Where tabs without locks ask one another. */
const channelName = 'photoledger-uploads';
/** How long living tabs have for an answer, milliseconds. */
const answerTime = 500;

/**
 * @template Value
 * @param {IDBRequest<Value>} request
 * @returns {Promise<Value>}
 */
const answered = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

export class UploadStore {
  /**
   * @param {IDBDatabase} database
   * @param {string} tab
   */
  constructor(database, tab) {
    this.database = database;
    this.tab = tab;
    /** Where the tab says that it lives; null where its lock does. @type {BroadcastChannel | null} */
    this.channel = null;
  }

  /** Opens the store. @throws where the browser keeps nothing, such as in some private windows */
  static async open() {
    const request = indexedDB.open('photoledger-uploads', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('files', { keyPath: 'id' });
    const database = await answered(request);
    const tab = randomName();
    const store = new UploadStore(database, tab);
    if (!navigator.locks) store.answer();
    // Held until the page ends.
    else await new Promise((resolve) => {
      navigator.locks.request(lockName(tab), () => new Promise(() => resolve(null)));
    });
    return store;
  }

  /** Answers tabs that ask which tabs live, until the page ends. */
  answer() {
    const channel = new BroadcastChannel(channelName);
    channel.addEventListener('message', ({ data }) => {
      if (data.kind === 'who') channel.postMessage({ kind: 'here', tab: this.tab });
    });
    this.channel = channel;
  }

  /**
   * The other tabs that live, by their answers.
   * @returns {Promise<Set<string>>}
   */
  async living() {
    /** @type {Set<string>} */
    const tabs = new Set();
    const note = (/** @type {MessageEvent} */ { data }) => { if (data.kind === 'here') tabs.add(data.tab); };
    this.channel?.addEventListener('message', note);
    this.channel?.postMessage({ kind: 'who' });
    await new Promise((resolve) => setTimeout(resolve, answerTime));
    this.channel?.removeEventListener('message', note);
    return tabs;
  }

  /** @param {IDBTransactionMode} mode */
  files(mode) {
    return this.database.transaction('files', mode).objectStore('files');
  }

  /**
   * Takes over what other tabs left behind: at once what ended before, and the rest when those tabs end. Without locks
   * no tab learns of that, and the rest is for the next page that is opened.
   * @param {string} client
   * @param {(records: UploadRecord[]) => void} take
   * @returns {Promise<void>} when what ended before was looked at
   */
  async leftBehind(client, take) {
    /** @type {UploadRecord[]} */
    const records = await answered(this.files('readonly').getAll());
    const tabs = new Set(records.filter((one) => one.client === client && one.tab !== this.tab).map((one) => one.tab));
    if (tabs.size === 0) return;
    if (!navigator.locks) {
      const living = await this.living();
      for (const tab of tabs) if (!living.has(tab)) take(await this.takeOver(client, tab));
      return;
    }
    const held = new Set((await navigator.locks.query()).held?.map((lock) => lock.name) ?? []);
    for (const tab of tabs) {
      const taken = navigator.locks.request(lockName(tab), async () => take(await this.takeOver(client, tab)));
      if (!held.has(lockName(tab))) await taken;
    }
  }

  /**
   * Makes the records of a tab those of this one.
   * @param {string} client
   * @param {string} tab
   * @returns {Promise<UploadRecord[]>}
   */
  async takeOver(client, tab) {
    const files = this.files('readwrite');
    /** @type {UploadRecord[]} */
    const all = await answered(files.getAll());
    const found = all.filter((one) => one.client === client && one.tab === tab);
    for (const record of found) files.put({ ...record, tab: this.tab });
    return found;
  }

  /** @param {Omit<UploadRecord, 'tab'>[]} records */
  async put(records) {
    const files = this.files('readwrite');
    const { transaction } = files;
    for (const record of records) files.put({ ...record, tab: this.tab });
    await new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(null);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  /** @param {string[]} ids */
  async remove(ids) {
    const files = this.files('readwrite');
    const { transaction } = files;
    for (const id of ids) files.delete(id);
    await new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(null);
      transaction.onabort = () => reject(transaction.error);
    });
  }
}
