// The queue of uploads: what it makes of what the library has already, and of what is chosen again.

import assert from 'node:assert/strict';
import test from 'node:test';

Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-GB'] }, configurable: true });
const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
const { Uploads } = await import(new URL('model/uploads.js', page));
const { UploadStore } = await import(new URL('model/upload-store.js', page));

const sea = { id: 'A/L0/040', title: 'Sea' };
const shore = { id: 'B/L0/040', title: 'Shore' };
const hash = (name) => name.padEnd(64, '0');

/** A file as browsers give it. */
function file(name) {
  return Object.assign(new Blob([name]), { name, lastModified: 7 });
}

/** A queue over a library that has some of the files, which notes what is put into albums. */
function queue(known, isRefused = () => false) {
  const added = [];
  const client = { ask: async (method, path, { json }) => {
    assert.equal(`${method} ${path}`, 'POST /v1/uploads:check');
    return { found: json.sha256.filter((one) => known[one]).map((sha256) => ({ sha256, ...known[sha256] })) };
  } };
  const uploads = new Uploads(client, { toAlbum: async ({ title }, assets) => {
    if (isRefused(title, assets)) return false;
    added.push([title, assets]);
    return true;
  } });
  uploads.hasher = { hash: async (one) => hash(one.name) };
  const ended = () => new Promise((resolve) => { uploads.addEventListener('idle', resolve, { once: true }); });
  return { uploads, added, ended };
}

test('what the library has in the trash only is said, and goes into no album', async () => {
  const { uploads, added, ended } = queue({
    [hash('a')]: { asset: 'one', isTrashed: false }, [hash('b')]: { asset: 'two', isTrashed: true },
  });
  const end = ended();
  await uploads.add([{ file: file('a') }, { file: file('b') }], sea);
  await end;
  assert.deepEqual(uploads.entries.map(({ state, asset, isTrashed }) => [state, asset, isTrashed]),
    [['there', 'one', false], ['there', 'two', true]]);
  assert.deepEqual(added, [['Sea', ['one']]]);
  const restored = ended();
  uploads.restored('two');
  await restored;
  assert.deepEqual(added[1], ['Sea', ['two']]);
  uploads.clear();
  assert.deepEqual(uploads.entries, []);
});

for (const [now, expected, where] of [[shore, 'Shore', 'the album that is chosen now'], [null, 'Sea', 'its album']]) {
  test(`an interrupted file that is chosen again goes into ${where}`, async () => {
    const { uploads, added, ended } = queue({ [hash('a')]: { asset: 'one', isTrashed: false } });
    await uploads.takeOver([{
      id: 'x', tab: 'closed', client: '', name: 'a', path: 'a', size: 1, modified: 7, sha256: null, place: null,
      asset: null, album: sea, handle: null,
    }]);
    assert.deepEqual(uploads.entries.map(({ state }) => state), ['lost']);
    const end = ended();
    await uploads.add([{ file: file('a') }], now);
    await end;
    assert.deepEqual(added, [[expected, ['one']]]);
  });
}

test('a question of the browser that was dismissed can be asked again, one after a file that is gone not', async () => {
  const { uploads } = queue({});
  uploads.pause();
  const record = (id, handle) => ({ id, tab: 'closed', client: '', name: id, path: id, size: 1, modified: 7,
    sha256: null, place: null, asset: null, album: null, handle });
  let answer = 'prompt';
  let asked = 0;
  const requestPermission = async () => {
    asked += 1;
    return answer;
  };
  const denied = async () => { throw new DOMException('no', 'NotAllowedError'); };
  const handle = { requestPermission, getFile: denied };
  await uploads.takeOver([record('a', handle), record('b', handle)]);
  await uploads.goOn();
  assert.deepEqual([asked, uploads.canAsk, uploads.entries.map((one) => one.handle !== null)], [1, true, [true, true]]);
  answer = 'granted';
  await uploads.goOn();
  assert.equal(uploads.canAsk, true, 'it was not allowed after all');
  handle.getFile = async () => { throw new DOMException('no', 'NotFoundError'); };
  await uploads.goOn();
  assert.equal(uploads.canAsk, false);
});

test('of many interrupted files each is found again by its own name, size and date, and looked at once', async () => {
  const count = 300;
  const { uploads } = queue({});
  uploads.pause();
  const kept = [];
  uploads.store = { put: async (records) => kept.push(...records.map(({ id }) => id)),
    remove: async (ids) => kept.push(...ids.map((id) => `-${id}`)) };
  const record = (id, name) => ({ id, tab: 'closed', client: '', name, path: name, size: name.length, modified: 7,
    sha256: null, place: null, asset: null, album: null, handle: null });
  await uploads.takeOver(Array.from({ length: count }, (_, index) => record(`x${index}`, `f${index % (count - 1)}`)));
  let reads = 0;
  const chosen = (name) => ({ file: Object.defineProperty(file(name), 'name', { get: () => {
    reads += 1;
    return name;
  } }) });
  // The last of three of one name is a new one, as two were interrupted.
  const names = [...Array.from({ length: count - 1 }, (_, index) => `f${index}`).reverse(), 'f0', 'f0'];
  assert.equal(await uploads.add(names.map(chosen)), count + 1);
  assert.ok(reads <= 4 * names.length, `${reads} looks at ${names.length} names`);
  const { entries } = uploads;
  assert.equal(entries.length, count + 1);
  assert.ok(entries.every((entry) => entry.state === 'queued' && entry.file.name === entry.name));
  assert.deepEqual([kept.length, kept.at(-3), kept.at(-2)], [count + 1, 'x0', `x${count - 1}`]);
  assert.equal(kept.at(-1), entries.at(-1).id);
  // Another size or date is another file.
  await uploads.takeOver([record('y', 'g')]);
  await uploads.add([{ file: Object.assign(file('g'), { lastModified: 8 }) },
    { file: Object.assign(new Blob(['longer']), { name: 'g', lastModified: 7 }) }]);
  assert.deepEqual(uploads.entries.slice(-3).map(({ state }) => state), ['lost', 'queued', 'queued']);
  // What has ended is taken out, and no record is written of what is not in the queue any more.
  kept.length = 0;
  const ended = entries.slice(0, 3);
  for (const entry of ended) entry.state = 'taken';
  uploads.clear();
  await uploads.keep([...ended, entries[3]]);
  assert.deepEqual(kept, ['-x0', '-x1', '-x2', 'x3']);
  assert.equal(uploads.entries.length, count + 1);
});

test('an album that cannot be filled keeps no other from being filled, and is given up with the list', async () => {
  let isGone = true;
  const { uploads, added, ended } = queue({
    [hash('a')]: { asset: 'one', isTrashed: false }, [hash('b')]: { asset: 'two', isTrashed: false },
  }, (title) => isGone && title === 'Sea');
  let end = ended();
  uploads.add([{ file: file('a') }], sea);
  await uploads.add([{ file: file('b') }], shore);
  await end;
  assert.deepEqual([added, [...uploads.heldAlbums.values()]], [[['Shore', ['two']]], ['Sea']]);
  isGone = false;
  end = ended();
  uploads.resume();
  await end;
  assert.deepEqual(added[1], ['Sea', ['one']]);
  isGone = true;
  end = ended();
  await uploads.add([{ file: file('a') }], sea);
  await end;
  assert.equal(uploads.heldAlbums.size, 1);
  uploads.clear();
  assert.deepEqual([uploads.entries, uploads.heldAlbums.size], [[], 0]);
});

test('a photo that is gone meanwhile keeps no other out of the album', async () => {
  const known = Object.fromEntries(['a', 'b', 'c'].map((one) => [hash(one), { asset: one, isTrashed: false }]));
  const { uploads, added, ended } = queue(known, (_, assets) => {
    delete known[hash('a')];
    known[hash('b')].isTrashed = true;
    return assets.length > 1;
  });
  const end = ended();
  await uploads.add(['a', 'b', 'c'].map((name) => ({ file: file(name) })), sea);
  await end;
  assert.deepEqual([added, uploads.heldAlbums.size], [[['Sea', ['c']]], 0]);
  assert.deepEqual(uploads.entries.map(({ isTrashed }) => isTrashed), [false, true, false]);
});

test('a part whose connection is silent is given up after a while, the last one later', async (context) => {
  const { sendFile } = await import(new URL('client/upload.js', page));
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const requests = [];
  globalThis.XMLHttpRequest = class {
    upload = {};

    open() {}

    setRequestHeader() {}

    send() { requests.push(this); }

    abort() { this.isAborted = true; }
  };
  context.after(() => { delete globalThis.XMLHttpRequest; });
  const client = { base: '', ask: async () => ({ offset: 0 }) };
  const begun = async () => {
    const outcome = sendFile(client, file('a'), { name: 'a', place: '/v1/uploads/x' }).catch((error) => error);
    const count = requests.length;
    while (requests.length === count) await Promise.resolve();
    return { outcome, request: requests.at(-1) };
  };
  let { outcome, request } = await begun();
  context.mock.timers.tick(50_000);
  request.upload.onprogress({ loaded: 1 });
  context.mock.timers.tick(50_000);
  assert.ok(!request.isAborted, 'something arrived meanwhile');
  context.mock.timers.tick(20_000);
  assert.equal((await outcome).isPassing, true);
  assert.ok(request.isAborted);
  ({ outcome, request } = await begun());
  request.upload.onload();
  context.mock.timers.tick(120_000);
  assert.ok(!request.isAborted, 'the server finishes the file');
  Object.assign(request, { status: 200, responseText: '{"asset":"one"}' });
  request.onload();
  assert.deepEqual(await outcome, { asset: 'one' });
});

test('a question after hashes that is not answered is given up after a while', async (context) => {
  const { knownFiles } = await import(new URL('client/upload.js', page));
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const client = { ask: (method, path, { signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  }) };
  const outcome = knownFiles(client, [hash('a')]).catch((error) => error);
  context.mock.timers.tick(70_000);
  assert.equal((await outcome).isPassing, true);
});

test('a question after hashes whose answer is cut is asked again, and the queue is not paused', async (context) => {
  const { PhotoLedger } = await import(new URL('client/photoledger.js', page));
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { uploads, ended } = queue({});
  const cut = new ReadableStream({ pull: (body) => body.error(new TypeError('cut')) });
  const found = [{ sha256: hash('a'), asset: 'one', isTrashed: false }];
  const answers = [new Response(cut), Response.json({ found })];
  uploads.client = new PhotoLedger({ base: 'http://gallery', fetch: async () => answers.shift() });
  const tripped = new Promise((resolve) => {
    uploads.addEventListener('change', () => { if (uploads.isWaiting || uploads.isPaused) resolve(); });
  });
  const end = ended();
  uploads.add([{ file: file('a') }]);
  await tripped;
  assert.deepEqual([uploads.isWaiting, uploads.isPaused], [true, false]);
  context.mock.timers.tick(60_000);
  await end;
  assert.equal(uploads.entries[0].state, 'there');
});

test('what is being sent is sent again when the network is back', () => {
  const { uploads } = queue({});
  const abort = new AbortController();
  uploads.entries = [{ id: 'x', state: 'sending', size: 1, sha256: null, abort }];
  uploads.reconnect();
  assert.ok(abort.signal.aborted);
});

test('a file whose upload the server has no more is sent once more as a new one, and can be tried again', async () => {
  const { uploads, ended } = queue({});
  const { Problem } = await import(new URL('client/photoledger.js', page));
  let status = 404;
  let count = 0;
  uploads.client.response = async () => {
    count += 1;
    throw new Problem(status, 'not-found', 'No.');
  };
  let end = ended();
  await uploads.add([{ file: file('a') }]);
  await end;
  const [entry] = uploads.entries;
  assert.deepEqual([count, entry.state, entry.file !== null], [2, 'failed', true]);
  end = ended();
  status = 422;
  uploads.retry([entry]);
  await end;
  assert.deepEqual([count, entry.state, entry.sentence], [3, 'refused', 'No.']);
  end = ended();
  uploads.retry([entry]);
  await end;
  assert.deepEqual([count, entry.state], [4, 'refused'], 'it was sent again, as a new upload');
});

test('a file that is cancelled while it is hashed keeps no other waiting', async (context) => {
  const { Hasher } = await import(new URL('client/upload.js', page));
  const { uploads, ended } = queue({ [hash('photo')]: { asset: 'one', isTrashed: false } });
  uploads.hasher = new Hasher();
  const workers = [];
  context.after(() => { delete globalThis.Worker; });
  // A worker reads one file after the other, and a film has no end here.
  globalThis.Worker = class {
    constructor() { workers.push(this); }

    postMessage({ id, file: { name } }) {
      this.isBusy ||= name === 'film';
      if (!this.isBusy) queueMicrotask(() => this.onmessage({ data: { id, sha256: hash(name) } }));
    }

    terminate() { this.isOver = true; }
  };
  const end = ended();
  await uploads.add([{ file: file('film') }]);
  await uploads.add([{ file: file('photo') }]);
  const [film, photo] = uploads.entries;
  assert.deepEqual([film.state, photo.state], ['hashing', 'queued']);
  await uploads.cancel([film]);
  await end;
  assert.deepEqual([uploads.entries, photo.state], [[photo], 'there']);
  assert.deepEqual(workers.map(({ isOver = false }) => isOver), [true, false]);
  // What only waits takes nothing from what is being hashed.
  await uploads.add([{ file: file('film') }, { file: file('photo') }]);
  await uploads.cancel(uploads.entries.slice(-1));
  assert.deepEqual([uploads.entries.at(-1).state, workers.length], ['hashing', 2]);
});

test('the files of a large folder are handed over while it is still read', async () => {
  const { dropped } = await import(new URL('views/dropped.js', page));
  const taken = [];
  const folder = { kind: 'directory', name: 'trip', values: async function* () {
    assert.deepEqual(taken, [[0, 0]], 'the drop is seen at once');
    for (let place = 0; place < 1100; place += 1) {
      yield { kind: 'file', name: `${place}.jpg`, getFile: async () => {
        if (place === 7) throw new Error('gone');
        return file(`${place}.jpg`);
      } };
    }
  } };
  const item = { kind: 'file', getAsFile: () => null, getAsFileSystemHandle: async () => folder };
  await dropped({ items: [item] }, ({ chosen, problems }) => taken.push([chosen.length, problems.length]));
  assert.deepEqual(taken, [[0, 0], [500, 0], [500, 0], [99, 1]]);
});

/** A browser's database as far as the store needs it, of one table. */
function database(records) {
  const table = new Map(records.map((record) => [record.id, record]));
  const files = {
    getAll: () => {
      const request = {};
      queueMicrotask(() => {
        request.result = [...table.values()];
        request.onsuccess();
      });
      return request;
    },
    put: (record) => table.set(record.id, record),
  };
  return { table, transaction: () => ({ objectStore: () => files }) };
}

test('without locks only what closed tabs left behind is taken over', async () => {
  // A page over plain HTTP does not have locks.
  Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
  const record = (id, tab, client = 'owner') => ({ id, tab, client, name: id });
  const kept = database([record('a', 'living'), record('b', 'closed'), record('c', 'closed', 'other')]);
  globalThis.indexedDB = { open: () => {
    const request = { result: kept };
    queueMicrotask(() => request.onsuccess());
    return request;
  } };
  const stores = [await UploadStore.open(), await UploadStore.open()];
  stores[0].tab = 'living';
  const taken = [];
  await stores[1].leftBehind('owner', (records) => taken.push(...records.map(({ id }) => id)));
  assert.deepEqual(taken, ['b']);
  assert.deepEqual([...kept.table.values()].map(({ tab }) => tab), ['living', stores[1].tab, 'closed']);
  // The living tab takes nothing of the other, which lives as well.
  await stores[0].leftBehind('owner', (records) => taken.push(...records.map(({ id }) => id)));
  assert.deepEqual(taken, ['b']);
  for (const { channel } of stores) channel.close();
});
