// What one event of the log did, as a sentence in the reader's language.
//
//   type, objects, details, titles ─▶ a phrase of `text/` with names and numbers put in
//
// The log's own sentence is English and for the command line. This one is made from the record's fields and not from that
// sentence, so a file whose name is a sentence stays a name.
//
// Rejected: sentences in the reader's language from the server, which would have to know every language of the page.

import { locale, phraseOf, t } from '../text/text.js';
import { clientName } from './client-names.js';
import { clientEdits } from './log-words.js';
import { nameOf } from './property-words.js';

/** @typedef {import('../model/log.js').LogEvent} LogEvent */

const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
/** What follows from other changes and says nothing to a person. */
const silent = new Set(['asset', 'modificationDate']);

/** @param {string | null | undefined} name */
const quoted = (name) => t('said.name', { name: name ?? '' });

/**
 * What an event did.
 * @param {LogEvent} event
 * @returns {string}
 */
export function eventSentence(event) {
  const { details, isErased, sentence } = event;
  if (details === null) return isErased ? t('said.erased') : t('said.aside', { reason: sentence });
  const said = plain(event) ?? sentence;
  return isErased ? `${said} ${t('said.partErased')}` : said;
}

/**
 * @param {LogEvent} event
 * @returns {string | null} null for a type that the page does not know
 */
function plain(event) {
  const { type, details, titles } = event;
  const few = (/** @type {string[]} */ ids, /** @type {string} */ noun) => ids.length > 3
    ? t(`said.${noun}.count`, { count: ids.length })
    : lists.format(ids.map((id) => id in titles ? quoted(titles[id]) : t(`said.${noun}`)));
  switch (type) {
    case 'asset.created': case 'asset.returned': case 'asset.purged': case 'asset.unmade': {
      const name = details.resources?.[0]?.originalFilename;
      return t(`said.${type}`, { what: name === undefined ? t('said.asset') : quoted(name) });
    }
    case 'assets.trashed': case 'assets.restored':
      return t(`said.${type}`, { what: few(details.assets.map(idOf), 'asset') });
    case 'assets.edited': {
      const what = few(details.assets.map(idOf), 'asset');
      const names = [...new Set(details.assets.flatMap((/** @type {object} */ one) => Object.keys(one)))]
        .filter((name) => !silent.has(name)).map(nameOf);
      return names.length === 0 ? t('said.assets.edited', { what })
        : t('said.assets.edited.of', { what, properties: lists.format([...new Set(names)]) });
    }
    case 'asset.erased': return t('said.asset.erased', { count: details.assets.length });
    case 'collection.created': case 'collection.erased': {
      const kind = { album: 'album', folder: 'folder' }[/** @type {string} */ (details.kind)] ?? 'smartAlbum';
      return t(`said.${type}`, { what: t(`said.${kind}`, { title: details.localizedTitle ?? '' }) });
    }
    case 'collection.edited': return edited(details, titles);
    case 'client.registered': case 'client.erased': return `${t('log.client.registered', { client: clientName(details.client) })}.`;
    case 'client.edited': return client(event);
    case 'pick.recorded': case 'pick.erased': return t('said.pick.recorded', { client: clientName(details.client) });
    case 'history.shortened': return t('said.history.shortened', { commit: details.firstCommit.new });
    case 'library.forked': return t('said.library.forked', { origin: details.origin });
    case 'library.created': case 'nothing.changed': return `${t(`log.${type}`)}.`;
    default: return /^(content|selection)\.\w+$/.test(type) ? arranged(type, details, titles, few) : null;
  }
}

/** @param {{ asset: string }} one */
const idOf = (one) => one.asset;

/**
 * @param {any} details
 * @param {Record<string, string>} titles
 */
function edited({ collection, deletedDate, localizedTitle, cover }, titles) {
  const what = collection in titles ? quoted(titles[collection]) : t('said.collection');
  if (deletedDate) return t(deletedDate.new === null ? 'said.collection.restored' : 'said.collection.deleted', { what });
  if (cover && !localizedTitle) {
    return t(cover.new === null ? 'said.collection.uncovered' : 'said.collection.covered', { what });
  }
  return localizedTitle
    ? t('said.collection.renamed', { old: quoted(localizedTitle.old), new: quoted(localizedTitle.new) })
    : t('said.collection.edited', { what });
}

/** @param {LogEvent} event */
const client = (event) => clientEdits(event)
  .map(({ what, old }) => old === undefined ? `${what}.` : t('said.client.decided', { what, old })).join(' ');

/**
 * @param {string} type
 * @param {any} details
 * @param {Record<string, string>} titles
 * @param {(ids: string[], noun: string) => string} few
 */
function arranged(type, { container, members }, titles, few) {
  if (phraseOf(`said.${type}`) === undefined) return null;
  const ids = members.map((/** @type {{ member: string }} */ one) => one.member);
  if (type.startsWith('selection.')) return t(`said.${type}`, { what: few(ids, 'asset'), client: clientName(container) });
  // The top level has an identifier like every folder, and no title.
  return t(`said.${type}`, { what: few(ids, 'member'), home: container in titles ? quoted(titles[container]) : t('said.top') });
}
