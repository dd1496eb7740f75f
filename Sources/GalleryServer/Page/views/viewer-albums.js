// The albums that a photo is in, by their titles.
//
// The server says which albums there are, and of an album what it holds, but not which albums hold an asset. For the
// owner the asset's history says so; for others each album is asked whether it holds the asset, a few at a time.

import { t } from '../text/text.js';
import { quoted } from './viewing.js';

/** @typedef {import('./app.js').App} App */

/** How long titles that were read are good, milliseconds; how many folders and albums are asked; how many at a time. */
const fresh = 20_000;
const folderLimit = 300;
const albumLimit = 300;
const atOnce = 3;

/** The titles of all albums, read when an unknown one is needed. */
export class AlbumTitles {
  /**
   * @param {App} app
   * @param {string | undefined} at
   */
  constructor(app, at) {
    this.app = app;
    this.at = at;
    this.read = -Infinity;
    /** @type {Map<string, string>} */
    this.titles = new Map();
  }

  /** @param {string} id */
  has(id) {
    return this.titles.has(id);
  }

  /** @param {string} id */
  of(id) {
    return this.titles.get(id) || t(this.titles.has(id) ? 'album.untitled' : 'album.gone');
  }

  /**
   * Makes sure that titles are known.
   * @param {string[] | null} ids of these albums; null for all
   * @param {AbortSignal} signal
   */
  async load(ids, signal) {
    const age = performance.now() - this.read;
    if (age < fresh && (ids === null || ids.every((id) => this.titles.has(id)))) return;
    if (ids !== null && ids.length === 0) return;
    /** @type {Map<string, string>} */
    const titles = new Map();
    /** @type {(string | undefined)[]} */
    const folders = [undefined];
    for (let index = 0; index < folders.length && index < folderLimit; index += 1) {
      const { collections } = await this.app.client.ask('GET', '/v1/collections',
        { query: { folder: folders[index], at: this.at }, signal });
      for (const { localIdentifier, kind, localizedTitle } of collections) {
        if (kind === 'folder') folders.push(localIdentifier);
        else if (kind === 'album') titles.set(localIdentifier, localizedTitle ?? '');
      }
    }
    this.titles = titles;
    this.read = performance.now();
  }
}

/**
 * The albums that hold an asset, by asking each.
 * @param {App} app
 * @param {string} id
 * @param {AlbumTitles} titles
 * @param {string | undefined} at
 * @param {AbortSignal} signal
 * @returns {Promise<string[]>}
 */
export async function albumsHolding(app, id, titles, at, signal) {
  const albums = [...titles.titles.keys()].slice(0, albumLimit);
  const where = `localIdentifier == ${quoted(id)}`;
  /** @type {Set<string>} */
  const found = new Set();
  let next = 0;
  const work = async () => {
    while (next < albums.length) {
      const album = albums[next++];
      const json = { album, where, hidden: true, allBursts: true };
      const { count } = await app.client.ask('POST', '/v1/fetches', { json, query: { at }, signal });
      if (count > 0) found.add(album);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return albums.filter((album) => found.has(album));
}
