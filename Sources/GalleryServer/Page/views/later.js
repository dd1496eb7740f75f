// Modules that are asked for when they are needed.
//
//   import ──fails──▶ this module, asked for anew ─┬─ no answer ──▶ the failure, which can be tried again
//                                                  ├─ it is there ──▶ tried again ──fails──▶ the page is loaded again
//                                                  └─ 404 ──▶ the server was updated: the page is loaded again
//
// The files of the page lie under the hash of all of them, and after an update there is nothing under that of before. A
// page that is open then has what it imported, and can import no more.
//
// Many browsers keep the failure of an import until the document goes: each later import of that module fails at once,
// without a request. There only a new document helps. A query behind the module's name does not: what it shares with
// the rest of the page would exist twice.

import { notReached } from '../client/photoledger.js';
import { Outdated } from '../model/failures.js';
import { t } from '../text/text.js';

/**
 * Imports a module.
 * @template Module
 * @param {import('./app.js').App} app
 * @param {() => Promise<Module>} load the import, with the module's name where it is written
 * @returns {Promise<Module>}
 * @throws {Outdated} if the page has to be loaded again, and is not yet
 * @throws {import('../client/photoledger.js').Problem} if the server is not reached
 */
export async function later(app, load) {
  try {
    return await load();
  } catch (error) {
    const status = await statusOfPage();
    if (status === 404) return reloaded(app, t('update.sentence'));
    // A module that was there and failed by itself.
    if (!(error instanceof TypeError)) throw error;
    if (status !== 200) throw notReached();
  }
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return reloaded(app, t('update.part'));
  }
}

/**
 * Has the page loaded again, after which nothing goes on here.
 * @param {import('./app.js').App} app
 * @param {string} sentence
 * @returns {Promise<never>}
 * @throws {Outdated} if it is not loaded again by itself
 */
function reloaded(app, sentence) {
  if (!app.reload(import.meta.url, sentence)) throw new Outdated(sentence);
  return new Promise(() => {});
}

/** How the files of this page are answered; 0 if the server is not reached. */
async function statusOfPage() {
  try {
    return (await fetch(import.meta.url, { cache: 'no-store' })).status;
  } catch {
    return 0;
  }
}
