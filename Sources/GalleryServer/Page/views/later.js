// Modules that are asked for when they are needed.
//
//   import ──fails──▶ this module, asked for anew ─┬─ it is there ──▶ the failure, which can be tried again
//                                                  └─ 404 ──▶ the server was updated: the page is loaded again
//
// The files of the page lie under the hash of all of them, and after an update there is nothing under that of before. A
// page that is open then has what it imported, and can import no more.

import { t } from '../text/text.js';

/** What the page asked for was replaced by an update of the server. */
export class Outdated extends Error {}

/**
 * Imports a module.
 * @template Module
 * @param {import('./app.js').App} app
 * @param {() => Promise<Module>} load the import, with the module's name where it is written
 * @returns {Promise<Module>}
 * @throws {Outdated} if the page has to be loaded again, and is not yet
 */
export async function later(app, load) {
  try {
    return await load();
  } catch (error) {
    if (!await isOutdated()) throw error;
    if (!app.reload(import.meta.url)) throw new Outdated(t('update.sentence'));
    // Nothing goes on in a page that is being left.
    return new Promise(() => {});
  }
}

/** Whether the files of this page are gone. */
async function isOutdated() {
  try {
    return (await fetch(import.meta.url, { cache: 'no-store' })).status === 404;
  } catch {
    // The server is not reached, which is another reason to have failed.
    return false;
  }
}
