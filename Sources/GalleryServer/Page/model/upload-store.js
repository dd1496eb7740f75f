// What was begun of uploads, kept by the browser, so that a tab may be closed and opened again.
//
// A record has no bytes, but the upload's path and, where the browser gives one, a handle of the file. Each tab holds a
// lock of its own name while it lives; records of a tab whose lock is gone are those that were left behind.

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
  }

  /** Opens the store. @throws where the browser keeps nothing, such as in some private windows */
  static async open() {
    const request = indexedDB.open('photoledger-uploads', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('files', { keyPath: 'id' });
    const database = await answered(request);
    const tab = randomName();
    // Held until the page ends.
    await new Promise((resolve) => {
      if (!navigator.locks) resolve(null);
      else navigator.locks.request(lockName(tab), () => new Promise(() => resolve(null)));
    });
    return new UploadStore(database, tab);
  }

  /** @param {IDBTransactionMode} mode */
  files(mode) {
    return this.database.transaction('files', mode).objectStore('files');
  }

  /**
   * Takes over what other tabs left behind: at once what ended before, and the rest when those tabs end.
   * @param {string} client
   * @param {(records: UploadRecord[]) => void} take
   * @returns {Promise<void>} when what ended before was looked at
   */
  async leftBehind(client, take) {
    /** @type {UploadRecord[]} */
    const records = await answered(this.files('readonly').getAll());
    const tabs = new Set(records.filter((one) => one.client === client && one.tab !== this.tab).map((one) => one.tab));
    const held = new Set((await navigator.locks?.query())?.held?.map((lock) => lock.name) ?? []);
    for (const tab of tabs) {
      const takeOver = async () => {
        const files = this.files('readwrite');
        /** @type {UploadRecord[]} */
        const all = await answered(files.getAll());
        const found = all.filter((one) => one.client === client && one.tab === tab);
        for (const record of found) files.put({ ...record, tab: this.tab });
        take(found);
      };
      if (!navigator.locks) await takeOver();
      else {
        const taken = navigator.locks.request(lockName(tab), takeOver);
        if (!held.has(lockName(tab))) await taken;
      }
    }
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
