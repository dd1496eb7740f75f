// Albums, smart albums and folders as one tree, read whole at one state, and the watch that says when it is another.
//
//   GET /v1/collections            the top level, and the token of the state
//   GET …?folder=ID&at=TOKEN       what each folder holds at that same state, level by level
//
// The server has a feed for fetches of photos and none for albums. The watch therefore follows an empty fetch, so that
// a cut is noticed as on any other view, and asks for the token of that fetch: a hundred bytes, while the page is
// visible.
//
// Invariant: every collection of a tree is as it is at `token`.

/** @typedef {import('../client/photoledger.js').PhotoLedger} PhotoLedger */

/**
 * @typedef {object} Collection
 * @property {string} id the part of the identifier that PhotoLedger needs
 * @property {'album' | 'smartAlbum' | 'folder'} kind
 * @property {string} title empty without one
 * @property {number | null} count null for a smart album, whose photos are known when they are fetched
 * @property {string | null} predicate what a smart album shows
 * @property {string | null} parent the folder that it is in
 */

/** How often the token is asked for, milliseconds. */
const period = 1500;
/** How many folders are read at once. */
const atOnce = 6;
/** The fetch that finds nothing; its token is that of the newest commit. */
const nothing = { where: 'FALSEPREDICATE' };

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
});

export class Collections {
  /**
   * Reads the whole tree.
   * @param {PhotoLedger} client
   */
  static async read(client) {
    const top = await client.ask('GET', '/v1/collections');
    const tree = new Collections(top.token);
    let folders = tree.put(null, top.collections);
    while (folders.length > 0) {
      const [now, later] = [folders.slice(0, atOnce), folders.slice(atOnce)];
      const answers = await Promise.all(now.map((folder) =>
        client.ask('GET', '/v1/collections', { query: { folder, at: top.token } })));
      folders = [...later, ...now.flatMap((folder, index) => tree.put(folder, answers[index].collections))];
    }
    return tree;
  }

  /** @param {string} token */
  constructor(token) {
    this.token = token;
    /** @type {Map<string, Collection>} */
    this.all = new Map();
    /** @type {Map<string | null, Collection[]>} */
    this.members = new Map();
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
    // The server counts the photos of an album, and of a folder nothing.
    const around = folder === null ? undefined : this.all.get(folder);
    if (around) around.count = found.length;
    for (const one of found) this.all.set(one.id, one);
    return found.filter((one) => one.kind === 'folder').map((one) => one.id);
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
 * Says when the library is at another state, for what has no feed. Events: `change`, `failed` (its `detail`), and
 * `renditions` (its `detail`: identifiers of photos whose pictures are there).
 */
export class Watch extends EventTarget {
  /**
   * @param {import('../views/app.js').App} app
   * @param {string} token the state that is shown
   */
  constructor(app, token) {
    super();
    this.app = app;
    this.token = token;
    this.name = fetchName(nothing);
    this.isAsking = false;
    this.isClosed = false;
    /** Whether the last look failed, which is said once. */
    this.hasFailed = false;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = setInterval(() => this.look(), period);
    this.seen = () => this.look();
    document.addEventListener('visibilitychange', this.seen);
    app.feed.addEventListener('connection', this.seen);
    // What arrives by it is that the server is gone or back, and which pictures were made.
    this.end = app.feed.follow(this.name, token, {
      onChange: this.seen, onState: this.seen,
      onRenditions: (renditions) => this.dispatchEvent(new CustomEvent('renditions', {
        detail: new Set(renditions.map((one) => one.localIdentifier)),
      })),
    });
  }

  /** Looks whether there is another state. */
  async look() {
    if (this.isClosed || this.isAsking || document.hidden || !this.app.feed.isOpen) return;
    this.isAsking = true;
    try {
      const state = await this.app.client.ask('GET', `/v1/fetches/${this.name}`);
      if (!this.isClosed && (state.token !== this.token || this.hasFailed)) {
        this.token = state.token;
        this.hasFailed = false;
        this.dispatchEvent(new Event('change'));
      }
    } catch (error) {
      if (this.isClosed || this.hasFailed) return;
      this.hasFailed = true;
      this.dispatchEvent(new CustomEvent('failed', { detail: error }));
    } finally {
      this.isAsking = false;
    }
  }

  close() {
    this.isClosed = true;
    clearInterval(this.timer);
    document.removeEventListener('visibilitychange', this.seen);
    this.app.feed.removeEventListener('connection', this.seen);
    this.end();
  }
}
