// The queue of uploads: what it makes of what the library has already, and of what is chosen again.

import assert from 'node:assert/strict';
import test from 'node:test';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
const { Uploads } = await import(new URL('model/uploads.js', page));

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
