// The states that a client can look back at, in a row, for a slider: the log's events for full access, a client's own
// history for limited access, which must not learn how much others did.
//
//   index   1 … count; an event stands for its whole commit
//   Moment  what is known of the commit that an index belongs to

import { sightings } from './log.js';

/**
 * @typedef {object} Moment
 * @property {number} index the last one of its commit
 * @property {string} token
 * @property {string} date
 * @property {string | null} client null where another's name is not told
 * @property {string | null} cause
 * @property {import('./log.js').LogEvent | null} event the last one of its commit; null where none was read
 *
 * @typedef {object} Moments
 * @property {number} count
 * @property {(signal?: AbortSignal) => Promise<void>} refresh learns of what was committed since
 * @property {(index: number, signal?: AbortSignal) => Promise<Moment | null>} read null before the first commit
 * @property {(at: string, signal?: AbortSignal) => Promise<Moment | null>} find by a token or an instant
 * @property {(moment: Moment, signal?: AbortSignal) => Promise<number>} before the index before a commit's first event
 */

/**
 * The moments of a session.
 * @param {import('../client/photoledger.js').PhotoLedger} client
 * @param {boolean} hasFullAccess
 * @returns {Promise<Moments>}
 */
export function openMoments(client, hasFullAccess) {
  return hasFullAccess ? logMoments(client) : ownMoments(client);
}

/**
 * @param {import('../client/photoledger.js').PhotoLedger} client
 * @returns {Promise<Moments>}
 */
async function logMoments(client) {
  /**
   * @param {Record<string, any>} query
   * @param {AbortSignal} [signal]
   * @returns {Promise<import('./log.js').LogEvent | null>}
   */
  const event = async (query, signal) => (await client.ask('GET', '/v1/log',
    { query: { ...query, limit: 1 }, signal })).records[0] ?? null;
  const last = async (/** @type {Record<string, any>} */ query, /** @type {AbortSignal | undefined} */ signal) => {
    const found = await event({ ...query, reverse: true }, signal);
    if (!found) return null;
    const { sequence, token, date, client: who, cause } = found;
    return { index: sequence, token, date, client: who, cause, event: found };
  };
  const head = await last({}, undefined);
  /** @type {Moments} */
  const moments = {
    count: head?.index ?? 0,
    refresh: async (signal) => { moments.count = Math.max(moments.count, (await last({}, signal))?.index ?? 0); },
    read: (index, signal) => last({ at: index }, signal),
    find: (at, signal) => last({ at }, signal),
    before: async (moment, signal) => {
      const first = await event({ from: moment.date }, signal);
      if (first?.token === moment.token) return first.sequence - 1;
      // Clocks were set back: the commit is looked for in the events before it.
      let cursor = moment.index;
      for (;;) {
        const page = await client.ask('GET', '/v1/log', { query: { reverse: true, limit: 1000, cursor }, signal });
        const other = page.records.find((/** @type {any} */ one) => one.token !== moment.token);
        if (other) return other.sequence;
        if (page.next === null) return 0;
        cursor = page.next;
      }
    },
  };
  return moments;
}

/**
 * @param {import('../client/photoledger.js').PhotoLedger} client
 * @returns {Promise<Moments>}
 */
async function ownMoments(client) {
  const records = await sightings(client, null);
  const moment = (/** @type {number} */ index) => {
    const found = records[Math.min(index, records.length) - 1];
    return found ? { ...found, index: Math.min(index, records.length), event: null } : null;
  };
  /** @type {Moments} */
  const moments = {
    count: records.length,
    refresh: async (signal) => {
      for (const one of await sightings(client, records.at(-1)?.token ?? null, signal)) records.push(one);
      moments.count = records.length;
    },
    read: async (index) => moment(index),
    find: async (at) => {
      const instant = Date.parse(at);
      if (Number.isNaN(instant)) return moment(records.findIndex((one) => one.token === at) + 1);
      let index = 0;
      records.forEach((one, place) => { if (Date.parse(one.date) <= instant) index = place + 1; });
      return moment(index);
    },
    before: async ({ index }) => index - 1,
  };
  return moments;
}
