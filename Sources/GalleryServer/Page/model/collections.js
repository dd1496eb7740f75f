// Albums, smart albums and folders as one tree: read whole at one state, then led on by the feed.
//
//   GET /v1/collections            the top level, and the token of the state
//   GET …?folder=ID&at=TOKEN       what each folder holds at that same state, level by level
//   feed of {collections: all}     titles, counts, and which folders hold something else
//   feed of {collections: top}     the order of the top level, which no object holds
//   feed of {allBursts}            photos: what a smart album shows may change while no collection does
//
//   message ─┬─ begins at the tree's state, only objects  ──▶ they replace those of the tree
//            ├─ begins at the tree's state, also folders  ──▶ these are read again at the state that it leads to
//            └─ anything else                             ──▶ the tree is read again, whole
//
// Messages that come while the tree is being read are answered by one more reading. A collection that did not change
// stays the same object, so views see by identity what they have to draw again.
//
// Invariant: what a folder holds, and every title and count, is as it is at `token`; the order of the top level is as it
// is at `topToken`, which is the same until the message of its own fetch arrives.
//
// Rejected: a fetch for each folder (a feed carries 32 fetches), and asking for the newest state at intervals.

/** @typedef {import('../client/photoledger.js').PhotoLedger} PhotoLedger */

/**
 * @typedef {object} Collection
 * @property {string} id the part of the identifier that PhotoLedger needs
 * @property {'album' | 'smartAlbum' | 'folder'} kind
 * @property {string} title empty without one
 * @property {number | null} count null for a smart album, whose photos are known when they are fetched
 * @property {string | null} predicate what a smart album shows
 * @property {string | null} parent the folder that it is in
 * @property {string | null} cover the photo that was chosen to stand for an album
 * @property {string} modified when its title or what it holds changed last
 */

/**
 * @typedef {{ before: string, after: string, removed: any[], inserted: any[], moved: any[],
 *   items: { objects: any[], isComplete: boolean } }} CollectionsChange a step of the fetch of all collections
 */

/** How many folders are read at once. */
const atOnce = 6;

/**
 * The name of a fetch whose question has one word without special characters, as the server would give it.
 * @param {object} question
 */
export const fetchName = (question) =>
  btoa(JSON.stringify(question)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

/**
 * @param {any} record
 * @param {string | null} parent
 * @returns {Collection}
 */
const collection = (record, parent) => ({
  id: String(record.localIdentifier).split('/')[0],
  kind: record.kind,
  title: record.localizedTitle ?? '',
  count: record.estimatedAssetCount ?? null,
  predicate: record.predicate ?? null,
  parent,
  cover: record.cover ?? null,
  modified: record.modificationDate ?? '',
});

/**
 * Whether two records of a collection say the same.
 * @param {Collection} one
 * @param {Collection} other
 */
const isSame = (one, other) => one.kind === other.kind && one.title === other.title && one.count === other.count
  && one.predicate === other.predicate && one.parent === other.parent && one.cover === other.cover
  && one.modified === other.modified;

export class Collections {
  /**
   * Reads the whole tree.
   * @param {PhotoLedger} client
   * @param {Collections} [before] the tree until now, whose unchanged objects are kept
   */
  static async read(client, before) {
    const top = await client.ask('GET', '/v1/collections');
    const tree = new Collections(top.token);
    await tree.readFolders(client, tree.put(null, top.collections), () => true);
    return tree.settled(before);
  }

  /** @param {string} token */
  constructor(token) {
    this.token = token;
    /** The state at which the order of the top level was read. */
    this.topToken = token;
    /** @type {Map<string, Collection>} */
    this.all = new Map();
    /** @type {Map<string | null, Collection[]>} */
    this.members = new Map();
  }

  /**
   * Reads what folders hold at the tree's state, and of the folders in them those that are wanted.
   * @param {PhotoLedger} client
   * @param {string[]} folders
   * @param {(folder: string) => boolean} isWanted
   */
  async readFolders(client, folders, isWanted) {
    let waiting = folders;
    while (waiting.length > 0) {
      const [now, later] = [waiting.slice(0, atOnce), waiting.slice(atOnce)];
      const answers = await Promise.all(now.map((folder) =>
        client.ask('GET', '/v1/collections', { query: { folder, at: this.token } })));
      const found = now.flatMap((folder, index) => this.put(folder, answers[index].collections));
      waiting = [...later, ...found.filter(isWanted)];
    }
  }

  /**
   * The tree after a step of the fetch of all collections; null if the step does not say enough of it.
   * @param {PhotoLedger} client
   * @param {CollectionsChange} change begins at the state of this tree
   */
  async after(client, change) {
    const { objects, isComplete } = change.items;
    if (!isComplete || change.removed.length > 0 || change.moved.length > 0) return null;
    const next = new Collections(change.after);
    next.members = new Map(this.members);
    next.topToken = this.topToken;
    const fresh = new Map(objects.map((record) => [collection(record, null).id, record]));
    const folders = [...fresh].filter(([, record]) => record.kind === 'folder').map(([id]) => id);
    if (folders.length > 0 || change.inserted.length > 0) {
      const top = await client.ask('GET', '/v1/collections', { query: { at: change.after } });
      next.put(null, top.collections);
      next.topToken = change.after;
      await next.readFolders(client, folders, (folder) => !next.members.has(folder));
    }
    for (const [folder, members] of next.members) {
      if (!members.some((one) => fresh.has(one.id))) continue;
      next.members.set(folder, members.map((one) => fresh.has(one.id) ? collection(fresh.get(one.id), folder) : one));
    }
    return next.settled(this);
  }

  /**
   * Puts in what a folder holds.
   * @param {string | null} folder
   * @param {any[]} records
   * @returns the folders among it
   */
  put(folder, records) {
    const found = records.map((record) => collection(record, folder));
    this.members.set(folder, found);
    return found.filter((one) => one.kind === 'folder').map((one) => one.id);
  }

  /**
   * Knows every collection that the top level leads to, and no other; keeps the objects of before that say the same.
   * @param {Collections} [before]
   */
  settled(before) {
    const { members } = this;
    this.members = new Map();
    for (const waiting = [/** @type {string | null} */ (null)]; waiting.length > 0;) {
      const folder = waiting.pop() ?? null;
      this.members.set(folder, (members.get(folder) ?? []).map((read) => {
        // The server counts the photos of an album, and of a folder nothing.
        const one = read.kind === 'folder' ? { ...read, count: members.get(read.id)?.length ?? 0 } : read;
        const known = before?.all.get(one.id);
        const kept = known && isSame(known, one) ? known : one;
        this.all.set(kept.id, kept);
        if (kept.kind === 'folder') waiting.push(kept.id);
        return kept;
      }));
    }
    return this;
  }

  /**
   * What a folder holds, or the top level, in order.
   * @param {string | null} folder
   */
  of(folder) {
    return this.members.get(folder) ?? [];
  }

  /**
   * The collection of an identifier.
   * @param {string} id
   */
  get(id) {
    return this.all.get(id.split('/')[0]);
  }

  /**
   * The folders around a collection, the outermost first.
   * @param {Collection} one
   */
  path(one) {
    const path = [];
    for (let at = one.parent; at !== null; at = path[0].parent) {
      const folder = this.all.get(at);
      if (!folder) break;
      path.unshift(folder);
    }
    return path;
  }

  /**
   * Whether a folder is, or lies in, another.
   * @param {string} id
   * @param {string} folder
   */
  isIn(id, folder) {
    const one = this.get(id);
    return id === folder || (one !== undefined && this.path(one).some((around) => around.id === folder));
  }

  /** Every collection, folders before what they hold. */
  * walk(folder = /** @type {string | null} */ (null)) {
    /** @type {Collection[]} */
    const rest = [...this.of(folder)];
    for (let one = rest.shift(); one; one = rest.shift()) {
      yield one;
      if (one.kind === 'folder') rest.unshift(...this.of(one.id));
    }
  }
}

/**
 * A tree that follows the library. Events: `change` after it came to another state, `photos` when photos changed that a
 * smart album may show, `renditions` (its `detail`: identifiers of photos whose pictures are there), `failed` (its
 * `detail`) when it could not be read; the next message, or the stream when it is open again, reads it anew.
 */
export class FollowedCollections extends EventTarget {
  /**
   * @param {PhotoLedger} client
   * @param {import('../client/feed.js').Feed} feed
   * @param {Collections} tree
   */
  constructor(client, feed, tree) {
    super();
    this.client = client;
    this.feed = feed;
    this.tree = tree;
    this.isClosed = false;
    this.isReading = false;
    /** Whether a message came while the tree was being read. */
    this.hasMissed = false;
    this.hasFailed = false;
    const onProblem = (/** @type {Error} */ problem) => this.fail(problem);
    const read = () => this.read(null);
    const photos = () => this.dispatchEvent(new Event('photos'));
    this.ends = [
      feed.follow(fetchName({ collections: 'all' }), tree.token, {
        onChange: (change) => this.take(/** @type {any} */ (change)), onState: (state) => this.takeState(state.token),
        onProblem,
      }),
      feed.follow(fetchName({ collections: 'top' }), tree.token, {
        onChange: (change) => this.takeTop(change), onState: (state) => this.takeTopState(state.token), onProblem,
      }),
      feed.follow(fetchName({ allBursts: true }), tree.token, {
        onChange: photos, onState: photos, onProblem,
        onRenditions: (renditions) => this.dispatchEvent(new CustomEvent('renditions', {
          detail: new Set(renditions.map((one) => one.localIdentifier)),
        })),
      }),
    ];
    this.connected = () => {
      if (!feed.isOpen) return;
      if (this.hasFailed) read();
      // Pictures of covers may have been made meanwhile.
      photos();
    };
    feed.addEventListener('connection', this.connected);
  }

  /** @param {CollectionsChange} change */
  take(change) {
    if (change.before === this.tree.token && !this.isReading) this.read(change);
    else this.takeState(change.after);
  }

  /** @param {string} token where the fetch of all collections is */
  takeState(token) {
    if (this.isReading) this.hasMissed = true;
    else if (token !== this.tree.token || this.hasFailed) this.read(null);
  }

  /** @param {import('../client/photoledger.js').Change} change of the top level */
  takeTop({ before, after, removed, inserted, moved }) {
    const hasOrder = before === this.tree.topToken && removed.length + inserted.length + moved.length === 0;
    if (hasOrder && !this.isReading) this.tree.topToken = after;
    else this.takeTopState(after);
  }

  /** @param {string} token where the fetch of the top level is */
  takeTopState(token) {
    if (this.isReading) this.hasMissed = true;
    else if (token !== this.tree.topToken) this.read(null);
  }

  /**
   * Leads the tree on by a step, or reads it anew, until nothing was missed meanwhile; one reading at a time.
   * @param {CollectionsChange | null} step
   */
  async read(step) {
    if (this.isClosed) return;
    if (this.isReading) {
      this.hasMissed = true;
      return;
    }
    this.isReading = true;
    this.hasMissed = false;
    let change = step;
    do {
      try {
        let next = change && await this.tree.after(this.client, change);
        change = null;
        if (next === null) {
          this.hasMissed = false;
          next = await Collections.read(this.client, this.tree);
        }
        if (this.isClosed) break;
        this.tree = next;
        this.hasFailed = false;
        this.dispatchEvent(new Event('change'));
      } catch (error) {
        change = null;
        // What was missed is read after all, and may be there by now.
        if (!this.hasMissed) this.fail(error);
      }
    } while (this.hasMissed && !this.isClosed);
    this.isReading = false;
  }

  /** @param {unknown} error */
  fail(error) {
    if (this.isClosed) return;
    this.hasFailed = true;
    this.dispatchEvent(new CustomEvent('failed', { detail: error }));
  }

  close() {
    this.isClosed = true;
    this.feed.removeEventListener('connection', this.connected);
    for (const end of this.ends) end();
  }
}
