// What a commit did, in words: one phrase for each kind of event, with how many things it concerns.

import { phraseNames, phraseOf, t } from '../text/text.js';
import { clientName } from './client-names.js';

/** @typedef {import('../model/log.js').Commit} Commit */
/** @typedef {import('../model/log.js').LogEvent} LogEvent */

/** The kinds of events that a history can be narrowed to, as the server spells them: those that have a phrase. */
export const kinds = phraseNames.flatMap((name) => /^history\.kind\.(\w+\.\w+)$/.exec(name)?.slice(1) ?? []);

/** How the cause of a pick begins that another client than the owner made; the name of the client follows. */
const presented = 'picking session presented by ';

/**
 * Why a commit was made, as the reader says it. What the library and its server give as a cause has a phrase.
 * @param {string} cause
 */
export const causeWords = (cause) => phraseOf(`cause.${cause}`) ?? (cause.startsWith(presented)
  ? t('history.pickedBy', { client: clientName(cause.slice(presented.length)) }) : cause);

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
 * What is the same for events that share a phrase: what contains the things; of a client's events the phrase itself.
 * @param {LogEvent} event
 */
function keyOf(event) {
  const { type, objects } = event;
  if (type === 'client.edited') return phrase(event, 1);
  return /^(content|selection|client)\./.test(type) ? `${type} ${objects[0] ?? ''}` : type;
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
function phrase(event, count) {
  const { type, objects } = event;
  if (type === 'client.edited') return clientEdits(event).map(({ what }) => what).join(', ');
  return phraseOf(`log.${type}`, { count, client: clientName(objects[0] ?? '') }) ?? type;
}

/**
 * What an edit of a client did: each part as a phrase, with what a permission was before. The log's own sentence
 * (EventWords.swift) has the same parts in the same order.
 * @param {LogEvent} event
 * @returns {{ what: string, old?: string }[]}
 */
export function clientEdits({ objects, details, titles }) {
  const client = clientName(details?.client ?? objects[0] ?? '');
  if (details?.requested) return [{ what: t('log.client.asked', { client }) }];
  /** @type {{ what: string, old?: string }[]} */
  const parts = levels.filter((level) => details?.[level]).map((level) => ({
    what: t(`log.client.${level}`, { client, status: statusWords(details[level].new) }),
    old: statusWords(details[level].old),
  }));
  if (details?.followedAlbum) {
    const id = details.followedAlbum.new;
    const album = id in titles ? t('said.name', { name: titles[id] }) : t('said.someAlbum');
    parts.push({ what: t(id === null ? 'log.client.followsNot' : 'log.client.follows', { client, album }) });
  }
  return parts.length > 0 ? parts : [{ what: t('log.client.edited', { client }) }];
}

/** How many phrases describe a commit at most. */
const phraseLimit = 5;
const levels = /** @type {const} */ (['addOnly', 'readWrite']);

/**
 * What a client may do, as the reader says it.
 * @param {string} status
 */
export const statusWords = (status) => phraseOf(`status.${status}`) ?? status;
