// The tree of albums that follows the feed, against a library of a few lines that keeps every state it ever had.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Collections, FollowedCollections } from '../../Sources/GalleryServer/Page/model/collections.js';
import { random } from './random.mjs';

const copy = (value) => JSON.parse(JSON.stringify(value));

/** Folders with members in order; the top level is the folder `null`. Each commit leaves the state after it. */
class Library {
  constructor(seed) {
    this.random = random(seed);
    this.state = { records: {}, members: { null: [] } };
    this.states = [copy(this.state)];
    this.made = 0;
    this.requests = 0;
  }

  get token() { return `t${this.states.length - 1}`; }

  at(token) { return this.states[Number(token.slice(1))]; }

  /** What the server answers of a folder. */
  folder(folder, token) {
    const { records, members } = this.at(token);
    return members[folder].map((id) => ({ ...records[id], localIdentifier: `${id}/L0/040` }));
  }

  some(kind) {
    const ids = Object.keys(this.state.records).filter((id) => !kind || this.state.records[id].kind === kind);
    return ids.length > 0 ? ids[this.random(ids.length)] : null;
  }

  holder(id) {
    const [folder] = Object.entries(this.state.members).find(([, ids]) => ids.includes(id));
    return folder === 'null' ? null : folder;
  }

  isIn(id, folder) {
    for (let at = folder; at !== null; at = this.holder(at)) if (at === id) return true;
    return false;
  }

  touch(id) { if (id !== null) this.state.records[id].modificationDate = `2026-${this.states.length}`; }

  remove(id) {
    for (const one of this.state.members[id] ?? []) this.remove(one);
    delete this.state.members[id];
    delete this.state.records[id];
  }

  step() {
    const { records, members } = this.state;
    const kind = this.random(10);
    const [one, folder] = [this.some(), this.random(3) === 0 ? null : this.some('folder')];
    if (kind < 3 || one === null) {
      const id = `C${this.made += 1}`;
      const type = ['album', 'folder', 'smartAlbum'][this.random(3)];
      records[id] = { kind: type, localizedTitle: id, estimatedAssetCount: type === 'album' ? 0 : null };
      if (type === 'folder') members[id] = [];
      members[folder].push(id);
      this.touch(id);
      this.touch(folder);
    } else if (kind < 5) {
      records[one].localizedTitle = `${one} ${this.states.length}`;
      if (records[one].kind === 'album') records[one].estimatedAssetCount += 1;
      this.touch(one);
    } else if (kind < 7 && !this.isIn(one, folder)) {
      const from = this.holder(one);
      members[from].splice(members[from].indexOf(one), 1);
      members[folder].splice(this.random(members[folder].length + 1), 0, one);
      this.touch(from);
      this.touch(folder);
    } else if (kind < 9) {
      members[folder].reverse();
      this.touch(folder);
    } else if (Object.keys(records).length > 6) {
      const from = this.holder(one);
      members[from].splice(members[from].indexOf(one), 1);
      this.remove(one);
      this.touch(from);
    }
    this.states.push(copy(this.state));
  }

  /** The messages of the feed for what lies between two states, as the server sends them. */
  messages(before, after) {
    const [old, now] = [this.at(before), this.at(after)];
    const removed = Object.keys(old.records).filter((id) => !now.records[id]);
    const inserted = Object.keys(now.records).filter((id) => !old.records[id]);
    const changed = Object.keys(now.records)
      .filter((id) => old.records[id] && JSON.stringify(old.records[id]) !== JSON.stringify(now.records[id]));
    const all = {
      before, after, removed, inserted, changed, moved: [],
      items: { isComplete: true, objects: [...inserted, ...changed]
        .map((id) => ({ ...now.records[id], localIdentifier: `${id}/L0/040` })) },
    };
    // The order of the top level, and what changed of its collections.
    const isOther = JSON.stringify(old.members.null) !== JSON.stringify(now.members.null);
    const touched = changed.filter((id) => now.members.null.includes(id));
    const top = isOther || touched.length > 0
      ? [{ before, after, removed: [], inserted: [], moved: isOther ? [[0, 0]] : [], changed: touched }] : [];
    return { all: removed.length + inserted.length + changed.length > 0 ? [all] : [], top };
  }

  /** A client that answers of any state. */
  client() {
    return {
      ask: async (_, __, { query = {} } = {}) => {
        await null;
        this.requests += 1;
        const token = query.at ?? this.token;
        return { token, collections: this.folder(query.folder ?? null, token) };
      },
    };
  }
}

class Feed extends EventTarget {
  isOpen = true;
  followers = new Map();
  states = new Map();

  follow(fetch, after, follower) {
    const { collections } = JSON.parse(atob(fetch.replaceAll('-', '+').replaceAll('_', '/')));
    this.followers.set(collections ?? 'photos', follower);
    this.states.set(collections ?? 'photos', after);
    return () => this.followers.delete(collections ?? 'photos');
  }

  /** Sends what lies between the states of the fetches and a state. */
  deliver(library, token) {
    for (const name of ['all', 'top']) {
      const messages = library.messages(this.states.get(name), token)[name];
      for (const message of messages) this.followers.get(name)?.onChange(message);
      if (messages.length > 0) this.states.set(name, token);
    }
  }
}

function check(library, tree) {
  const { records, members } = library.at(tree.token);
  const titles = new Map([...tree.all.values()].map((one) => [one.id, one.title]));
  assert.deepEqual([...titles.keys()].sort(), Object.keys(records).sort(), 'every collection and no other');
  for (const [id, record] of Object.entries(records)) {
    const one = tree.get(id);
    assert.equal(one.title, record.localizedTitle);
    assert.equal(one.count, record.kind === 'folder' ? members[id].length : record.estimatedAssetCount);
  }
  for (const [folder, ids] of Object.entries(members)) {
    assert.deepEqual(tree.of(folder === 'null' ? null : folder).map((one) => one.id), ids, `in ${folder}`);
    for (const id of ids) assert.equal(tree.get(id).parent, folder === 'null' ? null : folder);
  }
}

const turns = async (count) => { for (let turn = 0; turn < count; turn += 1) await null; };

for (let seed = 1; seed <= 40; seed += 1) {
  test(`the tree is that of its state after every message (${seed})`, async () => {
    const library = new Library(seed);
    for (let step = 0; step < 12; step += 1) library.step();
    const client = library.client();
    const feed = new Feed();
    const followed = new FollowedCollections(client, feed, await Collections.read(client));
    const failures = [];
    followed.addEventListener('failed', (event) => failures.push(event.detail));
    for (let round = 0; round < 60; round += 1) {
      const before = followed.tree;
      for (let step = library.random(3); step >= 0; step -= 1) library.step();
      feed.deliver(library, library.token);
      // Sometimes the next message comes before the tree was read.
      await turns(library.random(4) === 0 ? library.random(6) : 400);
      if (followed.isReading) continue;
      check(library, followed.tree);
      for (const one of [...followed.tree.all.values()]) {
        const old = before.all.get(one.id);
        if (old && old !== one) assert.notDeepEqual(old, one, 'what says the same stays the same object');
      }
    }
    await turns(2000);
    assert.equal(followed.isReading, false);
    check(library, followed.tree);
    assert.deepEqual(library.at(followed.tree.token), library.state, 'the state of now');
    assert.deepEqual(failures, []);
    followed.close();
    assert.equal(feed.followers.size, 0);
  });
}

test('an album that gets photos is drawn without a request', async () => {
  const library = new Library(7);
  for (let step = 0; step < 30; step += 1) library.step();
  const client = library.client();
  const feed = new Feed();
  const followed = new FollowedCollections(client, feed, await Collections.read(client));
  const { requests } = library;
  const album = library.some('album');
  library.state.records[album].estimatedAssetCount += 5;
  library.touch(album);
  library.states.push(copy(library.state));
  feed.deliver(library, library.token);
  await turns(20);
  assert.equal(library.requests, requests);
  check(library, followed.tree);
});

test('a reading that failed is made up for when the stream is open again', async () => {
  const library = new Library(3);
  for (let step = 0; step < 12; step += 1) library.step();
  const client = library.client();
  const { ask } = client;
  const feed = new Feed();
  const followed = new FollowedCollections(client, feed, await Collections.read(client));
  let failures = 0;
  let looks = 0;
  followed.addEventListener('failed', () => { failures += 1; });
  followed.addEventListener('photos', () => { looks += 1; });
  client.ask = async () => { throw new Error('not reached'); };
  library.remove(library.state.members.null.pop());
  library.states.push(copy(library.state));
  feed.deliver(library, library.token);
  await turns(50);
  assert.equal(failures, 1);
  client.ask = ask;
  looks = 0;
  feed.dispatchEvent(new Event('connection'));
  assert.equal(looks, 1, 'covers may have been made meanwhile');
  await turns(200);
  check(library, followed.tree);
  assert.deepEqual(library.at(followed.tree.token), library.state);
});

test('a tree is read once at a time, and what was read first does not come last', async () => {
  const library = new Library(5);
  for (let step = 0; step < 12; step += 1) library.step();
  const client = library.client();
  const { ask } = client;
  const feed = new Feed();
  const followed = new FollowedCollections(client, feed, await Collections.read(client));
  const failures = [];
  followed.addEventListener('failed', ({ detail }) => failures.push(detail.message));
  client.ask = async () => { throw new Error('not reached'); };
  followed.read(null);
  await turns(50);
  assert.deepEqual(failures, ['not reached']);
  // The stream is open again, and again, while the first answer of the first reading is on its way.
  const answers = [];
  let readings = 0;
  client.ask = async (method, path, options = {}) => {
    const answer = await ask(method, path, options);
    if (options.query) return answer;
    readings += 1;
    return new Promise((resolve, reject) => { answers.push({ answer: () => resolve(answer), fail: reject }); });
  };
  feed.dispatchEvent(new Event('connection'));
  await turns(20);
  library.step();
  feed.dispatchEvent(new Event('connection'));
  await turns(20);
  assert.equal(readings, 1);
  answers[0].answer();
  await turns(200);
  assert.equal(readings, 2);
  // One that fails is made up for by what was missed meanwhile.
  feed.deliver(library, library.token);
  answers[1].fail(new Error('cut'));
  await turns(200);
  assert.equal(readings, 3);
  answers[2].answer();
  await turns(200);
  assert.deepEqual([followed.isReading, followed.hasFailed, failures.length], [false, false, 1]);
  check(library, followed.tree);
  assert.deepEqual(library.at(followed.tree.token), library.state);
  followed.close();
});
