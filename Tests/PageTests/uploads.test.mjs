// The queue of uploads: what it makes of what the library has already, and of what is chosen again.

import assert from 'node:assert/strict';
import test from 'node:test';

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
function queue(known) {
  const added = [];
  const client = { ask: async (method, path, { json }) => {
    assert.equal(`${method} ${path}`, 'POST /v1/uploads:check');
    return { found: json.sha256.filter((one) => known[one]).map((sha256) => ({ sha256, ...known[sha256] })) };
  } };
  const uploads = new Uploads(client, { toAlbum: async ({ title }, assets) => {
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
  // A page over plain HTTP has none.
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
