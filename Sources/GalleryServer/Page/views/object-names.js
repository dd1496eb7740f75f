// What objects are called where a plan or a history names them by identifier: a file's name, an album's title.
//
//   identifier ─▶ its first event, or the events of the album, in the log ─▶ a name
//
// Only the owner, whom the server answers, sees these names.

import { t } from '../text/text.js';
import { clientName } from './client-names.js';
import { h } from './dom.js';

/** @typedef {import('./app.js').App} App */

/** How many objects are asked for their names at once. */
const nameLimit = 24;

/** What objects are called: a file's name, an album's title; until that is known, their kind. */
export class ObjectNames {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, string>} */
    this.known = new Map();
    /** Objects without a name, such as erased ones. @type {Set<string>} */
    this.nameless = new Set();
    /** @type {Map<string, HTMLElement[]>} */
    this.places = new Map();
  }

  /**
   * An element that holds an object's name as soon as it is known.
   * @param {string | null | undefined} id
   */
  of(id) {
    const place = h('bdi', { class: 'object-name', title: id ?? '' }, this.known.get(id ?? '') ?? this.kind(id));
    if (id) this.places.set(id, [...this.places.get(id) ?? [], place]);
    return place;
  }

  /**
   * An object in a sentence: its name in quotation marks, or its kind.
   * @param {string} id
   */
  quoted(id) {
    const name = this.known.get(id);
    return name === undefined ? this.kind(id) : t('said.name', { name });
  }

  /** @param {string | null | undefined} id */
  kind(id) {
    if (!id) return t('undo.object.library');
    if (id.endsWith('/L0/001')) return t('undo.object.asset');
    return /\/L0\/0[24]0$/.test(id) ? t('undo.object.collection') : clientName(id);
  }

  /**
   * @param {string} id
   * @param {string} name
   */
  set(id, name) {
    this.known.set(id, name);
    for (const place of this.places.get(id) ?? []) place.textContent = name;
  }

  /**
   * Requests the first names that are not known. An object without a name is shown by its kind, and not requested again.
   * @param {Iterable<string | null | undefined>} ids
   * @param {AbortSignal} signal
   */
  async load(ids, signal) {
    /** @type {string[]} */
    const unknown = [];
    for (const id of new Set(ids)) {
      if (id && id.includes('/L0/') && !this.known.has(id) && !this.nameless.has(id)) unknown.push(id);
    }
    const tasks = unknown.slice(0, nameLimit).map(async (id) => {
      const query = id.endsWith('/L0/001') ? { asset: id, kind: 'asset.created', limit: 1 }
        : { album: id, kind: 'collection', limit: 50, reverse: true };
      /** @type {{ records: import('../model/log.js').LogEvent[] }} */
      const { records } = await this.app.client.ask('GET', '/v1/log', { query, signal });
      const name = nameIn(records, id);
      if (name) this.set(id, name);
      else this.nameless.add(id);
    });
    for (const outcome of await Promise.allSettled(tasks)) {
      if (outcome.status === 'fulfilled' || signal.aborted) continue;
      this.app.notices.fail(outcome.reason);
      return;
    }
  }
}

/**
 * The name of an object according to events about it, the newest first.
 * @param {import('../model/log.js').LogEvent[]} events
 * @param {string} id
 */
function nameIn(events, id) {
  for (const { details } of events) {
    if (details?.asset !== id && details?.collection !== id) continue;
    const title = details.localizedTitle?.new ?? details.localizedTitle;
    if (typeof title === 'string') return title;
    const file = Array.isArray(details.resources) ? details.resources.find((/** @type {any} */ one) =>
      one?.originalFilename) : null;
    if (file) return String(file.originalFilename);
  }
  return null;
}
