// A list that loses its server comes to the state of now by itself, and never takes in a change that does not fit.

import assert from 'node:assert/strict';
import test from 'node:test';

import { readBytes } from '../../Sources/GalleryServer/Page/client/pictures.js';
import { PhotoLedger, Problem } from '../../Sources/GalleryServer/Page/client/photoledger.js';
import { List } from '../../Sources/GalleryServer/Page/model/list.js';

/** A list of some items, with a server that answers as a test says. */
function made(answers, count = 3, parts = [{ key: '', count }]) {
  const asked = [];
  const client = {
    ask: async (method, path) => {
      asked.push(path);
      const next = answers.shift();
      const answer = typeof next === 'function' ? next() : next;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    window: async (fetch, token, start, length) => {
      asked.push(`window ${start}`);
      if (feed.isGone) throw new Problem(0, 'not-reached', 'The server was not reached.');
      return { items: Array.from({ length }, (_, place) => ({ id: `a${start + place}` })) };
    },
  };
  const feed = Object.assign(new EventTarget(), { isOpen: true, isGone: false });
  const list = new List(client, { fetch: 'f', token: 't0', count }, parts, false);
  list.watch(feed);
  return { list, feed, asked };
}

const change = (parts) => ({
  fetch: 'f', removed: [], inserted: [], changed: [], moved: [], cause: null,
  items: { indexes: [], columns: { localIdentifier: [] }, isComplete: false }, ...parts,
});
const settled = () => new Promise((resolve) => setImmediate(resolve));
const gone = () => new Problem(0, 'not-reached', 'The server was not reached.');
const open = (feed) => feed.dispatchEvent(new Event('connection'));

test('what could not be caught up with is asked for when the stream is open again', async () => {
  const { list, feed } = made([gone(), change({ before: 't0', after: 't2', count: 5, inserted: [[0, 2]] })]);
  list.take({ fetch: 'f', token: 't2' });
  await settled();
  assert.deepEqual([list.token, list.count], ['t0', 3]);
  open(feed);
  await settled();
  assert.deepEqual([list.token, list.count], ['t2', 5]);
  list.close();
});

test('items that could not be loaded are asked for when the stream is open again', async () => {
  const { list, feed } = made([]);
  list.addEventListener('loaded', () => list.load(0, 3));
  feed.isGone = true;
  await list.load(0, 3);
  assert.equal(list.item(0), null);
  feed.isGone = false;
  open(feed);
  await settled();
  assert.equal(list.item(2).id, 'a2');
  list.close();
});

test('a state that the server knows no more is replaced by that of now, also if the first answer to that fails', async () => {
  const unknown = () => new Problem(410, 'gone', 'The state is no longer known.');
  const last = change({ before: 't9', after: 't10', count: 8, inserted: [[7, 1]] });
  const anew = () => {
    // What comes while the list begins anew is not lost.
    list.take(last);
    return { token: 't9', count: 7 };
  };
  const { list, feed } = made([unknown(), gone(), unknown(), anew, last]);
  const failures = [];
  list.addEventListener('failed', ({ detail }) => failures.push(detail.status));
  list.take({ fetch: 'f', token: 't9' });
  await settled();
  assert.deepEqual([failures, list.token], [[0], 't0']);
  open(feed);
  await settled();
  assert.deepEqual([list.token, list.count], ['t10', 8]);
  list.close();
});

test('a list begins anew where the library is an earlier one, which has not reached its state', async () => {
  const { list, asked } = made([new Problem(400, 'invalid-token', 'not reached'), { token: 's1', count: 2 }]);
  const failures = [];
  list.addEventListener('failed', ({ detail }) => failures.push(detail.type));
  list.take({ fetch: 'f', token: 's1' });
  await settled();
  assert.deepEqual([failures, list.token, list.count], [[], 's1', 2]);
  assert.deepEqual(asked, ['/v1/fetches/f/changes', '/v1/fetches/f']);
  list.close();
});

test('a change that does not fit leaves the list as it is until it begins anew', async () => {
  const { list, asked } = made([{ token: 't1', count: 4 }]);
  await list.load(0, 3);
  list.take(change({ before: 't0', after: 't1', count: 9, inserted: [[0, 1]] }));
  assert.deepEqual([list.token, list.count, list.item(0).id], ['t0', 3, 'a0']);
  await settled();
  assert.deepEqual([list.token, list.count], ['t1', 4]);
  assert.equal(asked.at(-1), '/v1/fetches/f');
  list.close();
});

test('windows that are only passed are given up without a word', async () => {
  const { list } = made([]);
  let aborted = false;
  const failures = [];
  list.addEventListener('failed', ({ detail }) => failures.push(detail));
  list.client.window = (fetch, token, start, length, signal) => new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => {
      aborted = true;
      reject(signal.reason);
    });
  });
  const loading = list.load(0, 3);
  list.abort();
  await loading;
  assert.deepEqual([aborted, failures, list.requests.size], [true, [], 0]);
  list.close();
});

/** Columns of items as changes have them. */
const columns = (ids) => ({
  localIdentifier: ids, mediaType: ids.map(() => 1), mediaSubtypes: ids.map(() => 0),
  sha256: ids.map((id) => `hash-${id}`), pixelWidth: ids.map(() => 3), pixelHeight: ids.map(() => 2),
  duration: ids.map(() => 0), rendition: ids.map(() => 'missing'), placeholder: ids.map(() => null),
  isFavorite: ids.map(() => false), isHidden: ids.map(() => false),
  creationDate: ids.map(() => null), timeZoneOffset: ids.map(() => null), hasClock: ids.map(() => true), isStackTop: ids.map(() => false),
});

test('a rendered picture is known also at positions not yet shown', async () => {
  const { list } = made([], 20_000);
  await list.load(0, 100);
  list.take(change({ before: 't0', after: 't1', count: 20_001, inserted: [[15_000, 1]], changed: [[18_000, 1]],
    items: { indexes: [[15_000, 1], [18_000, 1]], columns: columns(['new', 'other']), isComplete: true } }));
  assert.equal(list.item(15_000).id, 'new');
  let drawn = 0;
  list.addEventListener('renditions', () => { drawn += 1; });
  list.takeRenditions(['new', 'other'].map((id) =>
    ({ localIdentifier: id, sha256: `hash-${id}`, rendition: 'ready', placeholder: 'x' })));
  assert.deepEqual([15_000, 18_000].map((index) => list.item(index).rendition), ['ready', 'ready']);
  assert.equal(drawn, 1);
  const row = { localIdentifier: 'new', sha256: 'hash-new', rendition: 'failed', play: 'ready', placeholder: null };
  const film = { ...row, sha256: 'of its Live Photo', rendition: 'missing', play: 'failed' };
  list.takeRenditions([film, row, film]);
  list.takeRenditions([film]);
  const { rendition, play } = list.item(15_000);
  assert.deepEqual([rendition, play], ['failed', 'ready']);
  list.close();
});

test('inserted items out of sight are evicted first, and visible ones stay', async () => {
  const { list } = made([], 100_000);
  await list.load(50_000, 100);
  const seen = list.blocks.cell(50_050);
  let token = 0;
  const step = (index, parts) => list.take(change({ before: `t${token}`, after: `t${token += 1}`, ...parts,
    items: { indexes: [[index, 1]], columns: columns([`b${token}`]), isComplete: true } }));
  for (let index = 0; index < 100_000; index += 1000) step(index, { count: 100_000, changed: [[index, 1]] });
  const holding = () => list.blocks.list.filter((block) => block.cells).length;
  assert.ok(holding() <= 24, `${holding()} blocks hold items`);
  assert.equal(list.blocks.cell(50_050), seen);
  // So many come into the block in sight that it is divided.
  list.take(change({ before: `t${token}`, after: 'divided', count: 400_000, inserted: [[50_090, 300_000]] }));
  assert.equal(list.blocks.cell(50_050), seen);
  assert.ok(holding() <= 24, `${holding()} blocks hold items`);
  assert.ok(list.recent.every((block) => list.blocks.list.includes(block)), 'blocks that are gone are not held');
  list.close();
});

test('many months of few photos are held at once', async () => {
  const months = Array.from({ length: 60 }, (_, month) => ({ key: `${2020 + month}-01`, count: 3 }));
  const { list, asked } = made([], 180, months);
  await list.load(0, 90);
  assert.deepEqual(asked, ['window 0']);
  // The draw asks again for what it shows.
  for (let turn = 0; turn < 2; turn += 1) await list.load(0, 90);
  assert.deepEqual(asked, ['window 0']);
  await list.load(90, 90);
  assert.ok(Array.from({ length: 180 }, (_, index) => list.item(index)?.id).every((id, index) => id === `a${index}`));
  list.close();
});

test('of many items those that were looked at longest ago are given up', async () => {
  const parts = Array.from({ length: 40 }, (_, month) => ({ key: `${2020 + month}-01`, count: 1024 }));
  const { list } = made([], 40 * 1024, parts);
  for (let month = 0; month < 40; month += 1) await list.load(month * 1024, 10);
  assert.deepEqual([list.item(15 * 1024), list.item(16 * 1024)?.id, list.recent.length], [null, `a${16 * 1024}`, 24]);
  list.close();
});

/** An answer whose connection is lost after its first bytes. */
const cut = () => new Response(new ReadableStream({
  start: (body) => body.enqueue(new TextEncoder().encode('{"fet')), pull: (body) => body.error(new TypeError('cut')),
}));

/** A client whose requests get some answers one after the other, and what was sent. */
function answering(...answers) {
  const sent = [];
  const client = new PhotoLedger({ base: 'http://gallery', fetch: async (url, options) => {
    sent.push({ url: String(url), ...options });
    return answers.shift()();
  } });
  return { client, sent };
}

/** Lets time pass until something has an outcome. */
async function outcomeOf(context, promise) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let isDone = false;
  const end = () => { isDone = true; };
  promise.then(end, end);
  while (!isDone) {
    await settled();
    context.mock.timers.tick(1000);
  }
  return promise;
}

test('a commit whose answer is cut or not the server’s is sent again under the same key', async (context) => {
  const { client, sent } = answering(cut, () => new Response('<p>Sign in to the network</p>'),
    () => Response.json({ commit: 1, token: 't1' }));
  const receipt = await outcomeOf(context, client.commit([{ op: 'album.create', title: 'Sea' }]));
  assert.equal(receipt.token, 't1');
  const keys = sent.map(({ headers }) => headers['Idempotency-Key']);
  assert.deepEqual([keys.length, new Set(keys).size], [3, 1]);
  const { client: other } = answering(() => new Response('<p>Sign in to the network</p>'));
  await assert.rejects(other.ask('GET', '/v1/session'), { status: 502, message: 'The answer is not JSON.' });
});

test('a proxy that says with a date when to come back is not asked again without a pause', async () => {
  const retryAfter = async (value) => {
    const { client } = answering(() => new Response('', { status: 503, headers: { 'Retry-After': value } }));
    return client.ask('GET', '/v1/session').then(() => assert.fail(), (error) => error.retryAfter);
  };
  assert.deepEqual([await retryAfter('Wed, 21 Oct 2026 07:28:00 GMT'), await retryAfter('7')], [0, 7]);
});

test('a commit of unknown outcome is sent under the same key when it is made again next', async (context) => {
  const receipt = () => Response.json({ commit: 1, token: 't1' });
  const cuts = [cut, cut, cut, cut, cut];
  const { client, sent } = answering(...cuts, receipt, receipt, ...cuts, receipt, receipt);
  const [sea, lake] = ['Sea', 'Lake'].map((title) => [{ op: 'album.create', title }]);
  await assert.rejects(outcomeOf(context, client.commit(sea)), { type: 'not-reached' });
  await client.commit(sea);
  const keys = () => sent.splice(0).map(({ headers }) => headers['Idempotency-Key']);
  const [first, ...others] = keys();
  assert.deepEqual([others.length, new Set([first, ...others]).size], [5, 1]);
  await client.commit(sea);
  assert.ok(!keys().includes(first), 'what is known is done is done anew');
  context.mock.timers.reset();
  await assert.rejects(outcomeOf(context, client.commit(sea)), { type: 'not-reached' });
  const [second] = keys();
  await client.commit(lake);
  await client.commit(sea);
  assert.ok(!keys().includes(second), 'another commit may have undone it');
});

for (const [name, make] of /** @type {[string, (client: PhotoLedger) => Promise<any>][]} */ ([
  ['an undo', (client) => client.undo({ commit: 't1' })],
  ['a commit with a key of its own', (client) => client.commit([{ op: 'album.create' }], { key: 'own' })],
])) {
  test(`a commit of unknown outcome is another one after ${name}, also one made meanwhile`, async (context) => {
    const receipt = () => Response.json({ commit: 1, token: 't1' });
    const cuts = [cut, cut, cut, cut, cut];
    const { client, sent } = answering(...cuts, receipt, receipt, cut, receipt, cut, cut, cut, cut, receipt);
    const trash = [{ op: 'asset.trash', assets: ['A'] }];
    await assert.rejects(outcomeOf(context, client.commit(trash)), { type: 'not-reached' });
    const keys = () => sent.splice(0).map(({ headers }) => headers['Idempotency-Key']);
    const [first] = keys();
    await make(client);
    await client.commit(trash);
    assert.ok(!keys().includes(first), 'what may have been undone is done anew');
    context.mock.timers.reset();
    const late = client.commit(trash);
    const [second] = keys();
    await make(client);
    await assert.rejects(outcomeOf(context, late), { type: 'not-reached' });
    keys();
    await client.commit(trash);
    assert.ok(!keys().includes(second), 'also where its failure was known later');
  });
}

test('the bytes of a picture whose answer is cut are read again', async (context) => {
  const { client } = answering(cut, () => new Response('picture'));
  const blob = await outcomeOf(context, readBytes(client, 'http://gallery/x'));
  assert.equal(await blob.text(), 'picture');
  const abort = new AbortController();
  const { client: other, sent } = answering(() => {
    abort.abort();
    return cut();
  });
  await assert.rejects(readBytes(other, 'http://gallery/x', abort.signal), /cut/);
  assert.equal(sent.length, 1, 'unless they were given up');
});

test('a list catches up by itself after an answer that was cut', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { client, sent } = answering(cut,
    () => Response.json(change({ before: 't0', after: 't2', count: 5, inserted: [[0, 2]] })));
  const list = new List(client, { fetch: 'f', token: 't0', count: 3 }, [{ key: '', count: 3 }], false);
  list.take({ fetch: 'f', token: 't2' });
  for (let turn = 0; turn < 100 && list.token === 't0'; turn += 1) {
    await settled();
    context.mock.timers.tick(1000);
  }
  assert.deepEqual([list.token, list.count, sent.length], ['t2', 5, 2]);
  list.close();
});
