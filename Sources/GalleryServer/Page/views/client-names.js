// What clients are called where people read of them: an app by the name that it gave of itself, a share link by its
// title.
//
//   share#K2f9…  ─▶ GET /v1/clients, once ─▶ Share link “For the club”
//   frames#QX7R  ─▶ frames
//
// A name proves nothing, so where it matters the whole name stands beside it.

import { t } from '../text/text.js';

/** @typedef {{ name: string, usageDescription: { readWrite: string | null } }} NamedClient */

/** @type {Map<string, string>} what share links are called */
const links = new Map();
const isLink = (/** @type {string} */ client) => client.startsWith('share#');

/**
 * What people read in place of a client's name.
 * @param {string} client
 */
export const clientName = (client) => isLink(client) ? links.get(client) ?? t('client.link')
  : client.replace(/#[^#]*$/, '') || client;

/**
 * Takes the titles of share links from a list of clients.
 * @param {NamedClient[]} clients
 */
export function noteClients(clients) {
  for (const { name, usageDescription: { readWrite: title } } of clients) {
    if (isLink(name) && title) links.set(name, t('privacy.share', { title }));
  }
}

/**
 * Reads the titles of share links, if there is one among the clients whose title is not known. Only the owner may.
 * @param {import('./app.js').App} app
 * @param {Iterable<string | null | undefined>} clients
 * @param {AbortSignal} [signal]
 */
export async function learnNames(app, clients, signal) {
  const unknown = [...clients].filter((one) => typeof one === 'string' && isLink(one) && !links.has(one));
  if (unknown.length === 0 || !app.isOwner) return;
  noteClients((await app.client.ask('GET', '/v1/clients', { signal })).clients);
  // What the list does not have either is not asked for again.
  for (const one of unknown) if (one && !links.has(one)) links.set(one, t('client.link'));
}

/**
 * The clients that events of the log name.
 * @param {import('../model/log.js').LogEvent[]} events
 */
export const clientsIn = (events) => events.flatMap(({ client, type, objects, details }) =>
  [client, details?.client, /^(client|selection)\./.test(type) ? details?.container ?? objects[0] : null]);
