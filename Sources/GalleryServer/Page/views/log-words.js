// What a commit did, in words: one phrase for each kind of event, with how many things it concerns.

import { t } from '../text/text.js';
import { clientName } from './client-names.js';

/** @typedef {import('../model/log.js').Commit} Commit */
/** @typedef {import('../model/log.js').LogEvent} LogEvent */

/** The kinds of events that a history can be narrowed to, as the server spells them. */
export const kinds = [
  'asset.created', 'assets.edited', 'assets.trashed', 'assets.restored', 'asset.purged', 'asset.erased',
  'asset.returned',
  'asset.unmade', 'collection.created', 'collection.edited', 'content.inserted', 'content.removed', 'content.moved',
  'content.replaced', 'client.registered', 'client.edited', 'selection.granted', 'selection.withdrawn', 'pick.recorded',
  'selection.picked', 'history.shortened', 'library.created', 'library.forked', 'nothing.changed',
];

/** Kinds with a phrase of their own. */
const known = new Set([...kinds, 'content.spread']);
/** The causes that the library and its server give of themselves. */
const causes = new Set(['undo', 'permission prompt', 'privacy page', 'share link', 'limited library picker', 'client withdrawn',
  'registration over HTTP', 'request for access', 'share link opened']);

/**
 * Why a commit was made, as the reader says it.
 * @param {string} cause
 */
export const causeWords = (cause) => causes.has(cause) ? t(`cause.${cause}`) : cause;

/**
 * How many things an event concerns, besides what contains them.
 * @param {LogEvent} event
 */
function countOf({ type, objects }) {
  const hasContainer = type.startsWith('content.') || type.startsWith('selection.');
  // Of an album the log names the folder that holds it, too.
  if (type.startsWith('collection.')) return 1;
  return Math.max(1, objects.length - (hasContainer ? 1 : 0));
}

/**
 * What is the same for events that are told by one phrase: what contains the things, or the client.
 * @param {LogEvent} event
 */
function keyOf({ type, objects }) {
  const isTold = /^(content|selection|client)\./.test(type);
  return isTold ? `${type} ${objects[0] ?? ''}` : type;
}

/**
 * What a commit did.
 * @param {Commit} commit
 * @returns {string[]} phrases, in the order in which it was done
 */
export function commitWords(commit) {
  /** @type {Map<string, { event: LogEvent, count: number }>} */
  const groups = new Map();
  for (const event of [...commit.events].reverse()) {
    const key = keyOf(event);
    const group = groups.get(key);
    if (group) group.count += countOf(event);
    else groups.set(key, { event, count: countOf(event) });
  }
  const phrases = [...groups.values()].map(({ event, count }) => phrase(event, count));
  if (phrases.length <= phraseLimit) return phrases;
  return [...phrases.slice(0, phraseLimit - 1), t('log.and', { count: phrases.length - phraseLimit + 1 })];
}

/**
 * @param {LogEvent} event
 * @param {number} count
 */
function phrase({ type, objects, details }, count) {
  if (!known.has(type)) return type;
  const client = clientName(objects[0] ?? '');
  if (type === 'client.edited') {
    const status = details?.readWrite?.new ?? details?.addOnly?.new;
    if (status) return t(details.readWrite ? 'log.client.readWrite' : 'log.client.addOnly',
      { client, status: statusWords(status) });
    if (details?.requested) return t('log.client.asked', { client });
  }
  return t(`log.${type}`, { count, client });
}

/** How many phrases a commit is told by. */
const phraseLimit = 5;
const statuses = new Set(['notDetermined', 'restricted', 'denied', 'authorized', 'limited']);

/**
 * What a client may do, as the reader says it.
 * @param {string} status
 */
export const statusWords = (status) => statuses.has(status) ? t(`status.${status}`) : status;
