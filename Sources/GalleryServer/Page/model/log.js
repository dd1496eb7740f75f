// The log as a history of commits, the newest first, read page by page and led on as commits come.
//
//   more()   older events: one page of the log, grouped by the commit that made them
//   take()   what a step of the log's feed brought, without a question
//   newer()  what was committed since; one small question if that is nothing
//   keep()   lets the oldest commits go, which `more` reads again
//
// An import is one commit with an event for each photo. Of a commit with more events than `eventLimit` the last ones
// are read and the others are counted: the log is asked where the commit begins, and reading goes on before it.
//
// Invariant: `commits` is in the order of the log without gaps from the newest that matches to the last that was read,
// and no commit is in it twice. `more` goes on exactly before the last one.

/**
 * @typedef {object} LogEvent An event as `photoledger log --json` prints it.
 * @property {number} sequence
 * @property {string} token
 * @property {string} date
 * @property {string} client
 * @property {string} process
 * @property {string | null} cause
 * @property {string | null} causation
 * @property {string} type
 * @property {string[]} objects
 * @property {string} sentence
 * @property {any} details
 * @property {Record<string, string>} titles what the sentence calls objects, by identifier
 * @property {boolean} isErased
 *
 * @typedef {object} Commit
 * @property {string} token
 * @property {string} date
 * @property {string} client
 * @property {string} process
 * @property {string | null} cause
 * @property {boolean} isUndo
 * @property {LogEvent[]} events the newest first
 * @property {number} furtherCount how many events were not read; NaN if it is not known
 * @property {number} [first] the sequence of its first event, where that was not read
 *
 * @typedef {object} LogFilter
 * @property {string} [client]
 * @property {string} [cause]
 * @property {string} [kind]
 * @property {string} [from] an instant
 * @property {string} [to] an instant
 * @property {string} [object]
 */

const pageSize = 100;
const newerPageSize = 1000;
/** How many events of a commit are read. */
const eventLimit = 300;

/** Whether an identifier is an album's or folder's, by PhotoKit's spelling. */
const isCollection = (/** @type {string} */ id) => /\/L0\/0[24]0$/.test(id);

/**
 * @param {LogEvent} event
 * @returns {Commit}
 */
const commitOf = ({ token, date, client, process, cause, causation }) =>
  ({ token, date, client, process, cause, isUndo: causation?.startsWith('undo:') ?? false, events: [],
    furtherCount: 0 });

export class LogReader {
  /**
   * @param {import('../client/photoledger.js').PhotoLedger} client
   * @param {LogFilter} filter
   */
  constructor(client, filter) {
    this.client = client;
    this.filter = filter;
    /** @type {Commit[]} the newest first */
    this.commits = [];
    this.isComplete = false;
    /** @type {number | null} */
    this.cursor = null;
    /** The newest event that was seen, whether it matches or not. */
    this.head = 0;
    this.headToken = '';
  }

  /** What every question about the log has. */
  get query() {
    const { object, ...rest } = this.filter;
    if (object === undefined) return rest;
    return isCollection(object) ? { ...rest, album: object } : { ...rest, asset: object };
  }

  /**
   * Asks for events.
   * @param {Record<string, any>} query
   * @param {AbortSignal} [signal]
   * @returns {Promise<{ records: LogEvent[], next: number | null }>}
   */
  ask(query, signal) {
    return this.client.ask('GET', '/v1/log', { query, signal });
  }

  /**
   * Reads a page of older events.
   * @param {AbortSignal} [signal]
   */
  async more(signal) {
    if (this.isComplete) return;
    if (this.headToken === '') await this.findHead(signal);
    const page = await this.ask({ ...this.query, reverse: true, limit: pageSize, cursor: this.cursor }, signal);
    for (const event of page.records) {
      const last = this.commits[this.commits.length - 1];
      if (last?.token === event.token) last.events.push(event);
      else this.commits.push({ ...commitOf(event), events: [event] });
    }
    this.cursor = page.next;
    this.isComplete = page.next === null;
    const last = this.commits[this.commits.length - 1];
    if (!this.isComplete && last && last.events.length >= eventLimit) await this.pass(last, signal);
  }

  /**
   * Goes on before a commit of which enough was read.
   * @param {Commit} commit
   * @param {AbortSignal} [signal]
   */
  async pass(commit, signal) {
    const oldest = commit.events[commit.events.length - 1];
    const [first] = (await this.ask({ ...this.query, from: commit.date, limit: 1 }, signal)).records;
    // Where clocks were set back, the first event of an instant may be another commit's; then it is read to its end.
    if (first?.token !== commit.token || first.sequence >= oldest.sequence) return;
    this.cursor = commit.first = first.sequence;
    const isExact = this.filter.kind === undefined && this.filter.object === undefined;
    commit.furtherCount = isExact ? oldest.sequence - first.sequence : NaN;
  }

  /**
   * Lets the oldest commits go.
   * @param {number} count how many stay
   * @returns {Commit[]} those that went
   */
  keep(count) {
    const gone = this.commits.splice(count);
    const last = this.commits[this.commits.length - 1];
    if (gone.length > 0 && last) {
      this.cursor = last.first ?? last.events[last.events.length - 1].sequence;
      this.isComplete = false;
    }
    return gone;
  }

  /** @param {AbortSignal} [signal] */
  async findHead(signal) {
    const [event] = (await this.ask({ reverse: true, limit: 1 }, signal)).records;
    const isNew = event !== undefined && event.sequence > this.head;
    const former = this.headToken;
    if (isNew) [this.head, this.headToken] = [event.sequence, event.token];
    return isNew ? former : null;
  }

  /**
   * Takes what a step of the log brought.
   * @param {import('../client/photoledger.js').Change} step
   * @returns {Commit[] | null} the newest first; null if that is not all that is missing, which `newer` reads
   */
  take({ before, items }) {
    if (!items.isComplete || !items.records || before !== this.headToken) return null;
    // What a filter wants is the server's to say.
    if (Object.keys(this.filter).length > 0) return null;
    /** @type {Commit[]} */
    const found = [];
    for (const event of items.records) this.add(event, found);
    return this.put(found);
  }

  /**
   * Reads what was committed since the last question.
   * @param {AbortSignal} [signal]
   * @returns {Promise<Commit[]>} the newest first
   */
  async newer(signal) {
    const [known, knownToken] = [this.head, this.headToken];
    const after = await this.findHead(signal);
    if (after === null) return [];
    /** @type {Commit[]} */
    const found = [];
    try {
      let cursor = null;
      do {
        // Before the first event there is no state to name.
        const query = { ...this.query, after: after === '' ? null : after, limit: newerPageSize, cursor };
        /** @type {{ records: LogEvent[], next: number | null }} */
        const page = await this.ask(query, signal);
        for (const event of page.records) this.add(event, found);
        cursor = page.next;
      } while (cursor !== null);
    } catch (error) {
      // What was not read is asked for again.
      [this.head, this.headToken] = [known, knownToken];
      throw error;
    }
    return this.put(found);
  }

  /**
   * Adds an event to the commits that were found.
   * @param {LogEvent} event
   * @param {Commit[]} found the newest first, their events the oldest first
   */
  add(event, found) {
    // What came between the first page and the head is in both.
    if (this.commits[0] && event.sequence <= this.commits[0].events[0].sequence) return;
    if (found[0]?.token !== event.token) found.unshift(commitOf(event));
    const { events } = found[0];
    if (events.length >= eventLimit) found[0].furtherCount += 1;
    else events.push(event);
    if (event.sequence > this.head) [this.head, this.headToken] = [event.sequence, event.token];
  }

  /**
   * Puts the commits that were found before the others.
   * @param {Commit[]} found
   */
  put(found) {
    for (const commit of found) commit.events.sort((one, other) => other.sequence - one.sequence);
    this.commits.unshift(...found);
    return found;
  }
}

/**
 * @typedef {object} Sighting A commit as a client with limited access learns of it.
 * @property {string} token
 * @property {string} date
 * @property {string | null} client null for another's
 * @property {string | null} cause
 * @property {Record<'asset' | 'assetCollection' | 'collectionList', Record<string, string[]>> | null} changeDetails
 *   null if the client came to see another part of the library
 */

/**
 * A client's own history.
 * @param {import('../client/photoledger.js').PhotoLedger} client
 * @param {string | null} since a token
 * @param {AbortSignal} [signal]
 * @returns {Promise<Sighting[]>} the oldest first
 */
export async function sightings(client, since, signal) {
  /** @type {Sighting[]} */
  const found = [];
  let from = since;
  for (;;) {
    const page = await client.ask('GET', '/v1/history', { query: { since: from, limit: 1000 }, signal });
    found.push(...page.records);
    if (page.next === null || page.records.length === 0) return found;
    from = page.next;
  }
}
