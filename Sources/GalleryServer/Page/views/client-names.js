// What clients are called where people read of them: an app by the name that it gave of itself, a share link by its
// title.
//
//   share#K2f9…  ─▶ GET /v1/shares and /v1/clients, once ─▶ Share link “For the club”
//   frames#QX7R  ─▶ frames
//
// A name proves nothing, so where it matters the whole name stands beside it. An app of an earlier server may be called
// as a share link is: only what the server lists as one, or what was denied since it was withdrawn, has a title. What
// asks for something is called by its whole name unless it has a title: without its end, an app could be called as a
// titled link is.

import { t } from '../text/text.js';

/** @typedef {{ readWrite: string | null }} Usage */
/** @typedef {{ name: string, usageDescription: Usage, authorizationStatus: { readWrite: string } }} NamedClient */

/** @type {Map<string, string | null>} what those are called that may be share links; null: no list has it */
const links = new Map();
const isLink = (/** @type {string} */ client) => client.startsWith('share#');

/**
 * What people read in place of a client's name.
 * @param {string} client
 */
export const clientName = (client) => isLink(client) ? links.get(client) ?? t('client.link')
  : client.replace(/#[^#]*$/, '') || client;

/**
 * What people read in place of the name of a client that asks for something.
 * @param {string} client
 */
export const askerName = (client) => links.get(client) ?? client;

/**
 * Whether a client is known to be a share link, whose usage description is the title.
 * @param {string} client
 */
export const isShareLink = (client) => (links.get(client) ?? client) !== client;

/**
 * Takes the titles of share links from the lists of clients and of share links.
 * @param {NamedClient[]} clients
 * @param {{ client: string }[]} shares
 */
export function noteClients(clients, shares) {
  const made = new Set(shares.map(({ client }) => client));
  for (const { name, usageDescription: { readWrite: title }, authorizationStatus: { readWrite: status } } of clients) {
    const isOne = made.has(name) || status === 'denied';
    if (isLink(name)) links.set(name, isOne && title ? t('privacy.share', { title }) : name);
  }
}

/**
 * Reads the lists of clients and of share links, and takes the titles from them. Only the owner may.
 * @param {import('./app.js').App} app
 * @param {AbortSignal} [signal]
 */
export async function readClients(app, signal) {
  const [{ clients }, { shares }] = await Promise.all([
    app.client.ask('GET', '/v1/clients', { signal }), app.client.ask('GET', '/v1/shares', { signal })]);
  noteClients(clients, shares);
  return clients;
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
  await readClients(app, signal);
  // What the list does not have either is not asked for again.
  for (const one of unknown) if (one && !links.has(one)) links.set(one, null);
}

/**
 * The clients that events of the log name.
 * @param {import('../model/log.js').LogEvent[]} events
 */
export const clientsIn = (events) => events.flatMap(({ client, type, objects, details }) =>
  [client, details?.client, /^(client|selection)\./.test(type) ? details?.container ?? objects[0] : null]);
