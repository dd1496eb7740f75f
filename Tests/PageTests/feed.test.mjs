// One feed for all tabs and views: a view that follows a fetch that another follows already learns where it is by now.

import assert from 'node:assert/strict';
import test, { mock } from 'node:test';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);

// The hub checks its tabs for as long as a worker runs, which must not keep a test running.
const { setInterval: repeat } = globalThis;
globalThis.setInterval = (...parts) => repeat(...parts).unref();

/** The streams that were opened; each says what a test has it say. */
const sources = [];
globalThis.EventSource = class extends EventTarget {
  constructor(url) {
    super();
    this.url = url;
    sources.push(this);
  }

  say(kind, data) { this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data) })); }

  close() {}
};

/** What arrives at a port, as promises in the order of arrival. */
function reader(port) {
  const arrived = [];
  const waiting = [];
  port.onmessage = ({ data }) => {
    if (data.kind === 'connection') return;
    const next = waiting.shift();
    if (next) next(data);
    else arrived.push(data);
  };
  return () => arrived.length > 0 ? Promise.resolve(arrived.shift()) : new Promise((resolve) => waiting.push(resolve));
}

test('a second tab learns of what was delivered while it read its state', async () => {
  await import(new URL('client/hub.js', page));
  const tabs = [new MessageChannel(), new MessageChannel()];
  const next = tabs.map(({ port1 }) => reader(port1));
  for (const { port2 } of tabs) globalThis.onconnect({ ports: [port2] });
  tabs[0].port1.postMessage({ kind: 'follow', fetch: 'f', after: 't0' });
  while (sources.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const [source] = sources;
  source.say('feed', { feed: 'name' });
  source.say('change', { fetch: 'f', before: 't0', after: 't1' });
  assert.equal((await next[0]()).change.after, 't1');
  // It read t0, and the stream has gone on to t1.
  tabs[1].port1.postMessage({ kind: 'follow', fetch: 'f', after: 't0' });
  assert.deepEqual(await next[1](), { kind: 'state', state: { fetch: 'f', token: 't1' } });
  source.say('change', { fetch: 'f', before: 't1', after: 't2' });
  for (const message of await Promise.all([next[0](), next[1]()])) assert.equal(message.change.after, 't2');
  for (const { port1 } of tabs) port1.close();
});

test('a second view of a tab learns of what was delivered while it read its state', async () => {
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  globalThis.addEventListener = () => {};
  const { Feed } = await import(new URL('client/feed.js', page));
  const feed = new Feed({ key: null, base: '', ask: async () => ({}) });
  const seen = [[], []];
  const follow = (view, after) => feed.follow('f', after, {
    onChange: (change) => seen[view].push(change.after), onState: (state) => seen[view].push(`state ${state.token}`),
  });
  const ends = [follow(0, 't0')];
  const source = sources.at(-1);
  source.say('feed', { feed: 'name' });
  source.say('change', { fetch: 'f', before: 't0', after: 't1' });
  ends.push(follow(1, 't0'));
  await null;
  assert.deepEqual(seen, [['t1'], ['state t1']]);
  source.say('change', { fetch: 'f', before: 't1', after: 't2' });
  assert.deepEqual(seen, [['t1', 't2'], ['state t1', 't2']]);
  for (const end of ends) end();
  assert.equal(feed.states.size, 0);
});

test('a fetch that was refused is followed again from its state of now', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { Feed } = await import(new URL('client/feed.js', page));
  const asked = [];
  let isThere = false;
  const feed = new Feed({ key: null, base: '', ask: async (method, path) => {
    asked.push(path);
    if (!isThere) throw new Error('not now');
    return { fetch: 'f', token: 't7' };
  } });
  const seen = [];
  const end = feed.follow('f', 't0', {
    onChange: (change) => seen.push(change.after), onState: ({ token }) => seen.push(`state ${token}`),
    onProblem: ({ message, type = '' }) => seen.push(`${message} ${type}`.trim()),
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const before = sources.length;
  const type = 'urn:photoledger:problem:access-denied';
  sources.at(-1).say('problem', { fetch: 'f', type, status: 403, detail: 'refused' });
  mock.timers.tick(4000);
  await turn();
  assert.deepEqual(seen, ['refused access-denied', 'not now']);
  isThere = true;
  mock.timers.tick(8000);
  await turn();
  assert.deepEqual(seen, ['refused access-denied', 'not now', 'state t7']);
  assert.deepEqual(asked, ['/v1/fetches/f', '/v1/fetches/f']);
  assert.equal(sources.length, before + 1, 'a stream has it again');
  assert.match(sources.at(-1).url, /after=t7/);
  sources.at(-1).say('change', { fetch: 'f', before: 't7', after: 't8' });
  assert.equal(seen.at(-1), 't8');
  assert.equal(feed.refused.size, 0);
  end();
  mock.timers.reset();
});

test('a session that ended while its fetches were refused is reported as ended', async (context) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  context.after(() => mock.timers.reset());
  const { Feed } = await import(new URL('client/feed.js', page));
  const { Problem } = await import(new URL('client/photoledger.js', page));
  const feed = new Feed({ key: null, base: '', ask: async () => {
    throw new Problem(401, 'sign-in-required', 'ended');
  } });
  let ended = 0;
  feed.addEventListener('signedout', () => {
    ended += 1;
    feed.leave();
  });
  feed.follow('f', 't0', { onChange: () => {}, onState: () => {} });
  const type = 'urn:photoledger:problem:access-denied';
  sources.at(-1).say('problem', { fetch: 'f', type, status: 403, detail: 'refused' });
  mock.timers.tick(4000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(ended, 1);
  assert.equal(feed.followers.size, 0);
});

test('a feed that is left follows nothing and leaves no listener behind', async (context) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  context.after(() => mock.timers.reset());
  const { Feed } = await import(new URL('client/feed.js', page));
  const signals = [];
  for (const target of [document, globalThis]) {
    const { addEventListener } = target;
    context.after(() => { target.addEventListener = addEventListener; });
    target.addEventListener = (name, listener, options) => signals.push(options?.signal);
  }
  const feed = new Feed({ key: null, base: '', ask: async () => ({}) });
  const seen = [];
  feed.follow('f', 't0', { onChange: () => seen.push('change'), onState: () => seen.push('state') });
  const [stream] = feed.streams;
  const source = sources.at(-1);
  const { length } = sources;
  // It is cut, and its next attempt waits for an answer.
  source.onerror();
  feed.leave();
  assert.deepEqual([signals.length, signals.every((one) => one?.aborted)], [4, true]);
  await new Promise((resolve) => setImmediate(resolve));
  mock.timers.tick(60_000);
  source.say('change', { fetch: 'f', before: 't0', after: 't1' });
  assert.deepEqual([seen, sources.length, stream.source], [[], length, null]);
});

test('fetches with long names are spread over streams that the server takes', async () => {
  const { Feed } = await import(new URL('client/feed.js', page));
  const before = sources.length;
  let answer = async () => ({});
  const feed = new Feed({ key: null, base: '', ask: (...parts) => answer(...parts) });
  const follow = (fetch) => feed.follow(fetch, 't0', { onChange: () => {}, onState: () => {} });
  // Each has 1,536 bytes of the 6,144.
  const ends = ['a', 'b', 'c', 'd'].map((letter) => follow(letter.repeat(1472)));
  assert.deepEqual(feed.streams.map(({ fetches }) => fetches.size), [4]);
  ends.push(follow('e'));
  assert.deepEqual(feed.streams.map(({ fetches }) => fetches.size), [4, 1]);
  for (let number = 0; number < 40; number += 1) ends.push(follow(`f${number}`));
  assert.deepEqual(feed.streams.map(({ fetches }) => fetches.size), [4, 32, 9]);
  // One that no stream takes has one of its own, and there is still room for others elsewhere.
  ends.push(follow('g'.repeat(7000)), follow('h'));
  assert.deepEqual(feed.streams.map(({ fetches }) => fetches.size), [4, 32, 10, 1]);
  assert.equal(sources.length, before + 4);
  // The room of one that leaves is there when the server has said so.
  let left;
  answer = () => new Promise((resolve) => { left = resolve; });
  sources[before].say('feed', { feed: 'name' });
  ends.shift()();
  assert.equal(feed.streams[0].hasRoom('i'), false);
  left({});
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(feed.streams[0].hasRoom('i'), true);
  for (const end of ends) end();
});

test('a fetch that an open stream does not take is refused alone, and the stream goes on', async (context) => {
  context.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  const { Feed } = await import(new URL('client/feed.js', page));
  const { Problem } = await import(new URL('client/photoledger.js', page));
  let status = 400;
  const ask = async () => { throw new Problem(status, 'limit-exceeded', 'no'); };
  const feed = new Feed({ key: null, base: '', ask });
  const seen = [];
  const follow = (fetch) => feed.follow(fetch, 't0', {
    onChange: ({ after }) => seen.push(after), onState: () => {}, onProblem: ({ message }) => seen.push(message),
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const ends = [follow('f')];
  const source = sources.at(-1);
  source.say('feed', { feed: 'name' });
  for (status of [400, 403]) {
    ends.push(follow(`g${status}`));
    await turn();
    mock.timers.tick(3000);
    assert.equal(seen.pop(), 'no');
    assert.deepEqual([...feed.streams[0].fetches.keys()], ['f']);
  }
  assert.equal(sources.at(-1), source, 'it was not opened again');
  source.say('change', { fetch: 'f', before: 't0', after: 't1' });
  assert.deepEqual(seen, ['t1']);
  // A feed that the server does not know any more is opened anew.
  status = 404;
  ends.push(follow('h'));
  await turn();
  mock.timers.tick(1);
  assert.match(sources.at(-1).url, /fetch=f&after=t1&fetch=h/);
  for (const end of ends) end();
});

test('a fetch for which the server opens no stream is refused, and tried no further', async (context) => {
  context.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  const { Feed } = await import(new URL('client/feed.js', page));
  const { Problem } = await import(new URL('client/photoledger.js', page));
  const asked = [];
  let status = 503;
  const feed = new Feed({ key: null, base: '', ask: async (method, path) => {
    asked.push(path);
    if (path.startsWith('/v1/changes')) throw new Problem(status, 'not-found', 'gone');
    return {};
  } });
  const seen = [];
  const end = feed.follow('f', 't0', {
    onChange: () => {}, onState: () => {}, onProblem: ({ message }) => seen.push(`${message} ${feed.isOpen}`),
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const fail = async () => {
    const before = sources.length;
    sources.at(-1).onerror();
    await turn();
    mock.timers.tick(2000);
    return sources.length - before;
  };
  assert.equal(await fail(), 1, 'the first time it is taken for cut');
  assert.deepEqual(asked, ['/v1/session']);
  assert.equal(await fail(), 1, 'what may pass refuses nothing');
  assert.deepEqual(asked.slice(1), ['/v1/session', '/v1/changes?fetch=f&after=t0']);
  assert.equal(feed.isOpen, false);
  status = 404;
  assert.equal(await fail(), 0);
  assert.deepEqual(seen, ['gone true'], 'the reason is said, and not that the server is away');
  assert.equal(feed.isOpen, true);
  end();
});

/** A feed that follows a fetch, with the paths that it asks for, and a way to cut its stream before it is open. */
async function unopened(answer) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { Feed } = await import(new URL('client/feed.js', page));
  const asked = [];
  const problems = [];
  const feed = new Feed({ key: null, base: '', ask: async (method, path) => {
    asked.push(path.split('?')[0]);
    return answer(path);
  } });
  const end = feed.follow('f', 't0', {
    onChange: () => {}, onState: () => {}, onProblem: ({ message }) => problems.push(message),
  });
  const fail = async () => {
    const before = sources.length;
    sources.at(-1).onerror();
    await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(10_000);
    return sources.length - before;
  };
  return { asked, problems, end, fail };
}

test('what a proxy answers while the server is away refuses no fetch', async (context) => {
  context.after(() => mock.timers.reset());
  const { Problem } = await import(new URL('client/photoledger.js', page));
  let status = 404;
  const { asked, problems, end, fail } = await unopened(() => { throw new Problem(status, 'unknown', 'no page'); });
  for (status of [404, 404, 403]) assert.equal(await fail(), 1, `${status}`);
  assert.deepEqual(problems, []);
  assert.deepEqual([...new Set(asked)], ['/v1/session']);
  end();
});

test('why a stream is not opened is asked less and less often while the answer is no reason', async (context) => {
  context.after(() => mock.timers.reset());
  const { asked, end, fail } = await unopened(() => ({}));
  const when = [];
  for (let attempt = 0; attempt < 10; attempt += 1) {
    asked.length = 0;
    assert.equal(await fail(), 1);
    if (asked.includes('/v1/changes')) when.push(attempt);
  }
  assert.deepEqual(when, [1, 2, 4, 8]);
  end();
});

test('a stream that was cut is taken for cut no longer when what it carried is left', async (context) => {
  context.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  const { Feed } = await import(new URL('client/feed.js', page));
  let answer;
  const feed = new Feed({ key: null, base: '', ask: () => new Promise((resolve) => { answer = resolve; }) });
  const seen = [];
  feed.addEventListener('connection', () => seen.push(feed.isOpen));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const follow = (fetch) => feed.follow(fetch, 't0', { onChange: () => {}, onState: () => {} });
  const before = sources.length;
  const ends = [follow('f'), follow('g')];
  sources.at(-1).onerror();
  ends[0]();
  assert.deepEqual(seen, [false], 'another view waits for it still');
  answer({});
  await turn();
  mock.timers.tick(250);
  assert.equal(sources.length, before + 2);
  sources.at(-1).onerror();
  ends[1]();
  assert.deepEqual(seen, [false, true]);
  // The answer about the session comes too late to count.
  answer({});
  await turn();
  mock.timers.tick(60_000);
  assert.deepEqual([sources.length, feed.streams[0].attempts], [before + 2, 0]);
  const end = follow('h');
  assert.equal(sources.length, before + 3);
  sources.at(-1).onerror();
  assert.deepEqual(seen, [false, true, false]);
  end();
  assert.deepEqual(seen, [false, true, false, true]);
});

test('a hidden tab gives the connection of its stream back, and follows on when it is shown', async (context) => {
  const { document } = globalThis;
  context.after(() => {
    mock.timers.reset();
    globalThis.document = document;
  });
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  globalThis.document = Object.assign(new EventTarget(), { hidden: true });
  const { Feed } = await import(new URL('client/feed.js', page));
  let answer;
  const feed = new Feed({ key: null, base: '', ask: () => new Promise((resolve) => { answer = resolve; }) });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const show = (isShown) => {
    globalThis.document.hidden = !isShown;
    globalThis.document.dispatchEvent(new Event('visibilitychange'));
  };
  const follow = (fetch) => feed.follow(fetch, 't0', { onChange: () => {}, onState: () => {} });
  let [before, closed] = [sources.length, 0];
  let connections = 0;
  feed.addEventListener('connection', () => { connections += 1; });
  const ends = [follow('f')];
  sources.at(-1).close = () => { closed += 1; };
  // It was opened in a tab that is not shown yet.
  mock.timers.tick(9000);
  assert.deepEqual([sources.length - before, closed], [1, 0]);
  mock.timers.tick(1000);
  assert.equal(closed, 1);
  ends.push(follow('g'), follow('h'.repeat(7000)));
  feed.wake();
  mock.timers.tick(120_000);
  assert.equal(sources.length - before, 1, 'nothing is opened while it is hidden');
  show(true);
  assert.equal(sources.length - before, 3);
  const [source] = sources.slice(before + 1);
  assert.match(source.url, /fetch=f&after=t0&fetch=g&after=t0/);
  assert.equal(connections, 0);
  source.say('feed', { feed: 'name' });
  sources.at(-1).say('feed', { feed: 'other' });
  assert.deepEqual([connections, feed.isOpen], [1, true], 'pictures that were made meanwhile are asked for');
  source.say('change', { fetch: 'f', before: 't0', after: 't1' });
  // A moment is no reason.
  before = sources.length;
  show(false);
  mock.timers.tick(9000);
  show(true);
  mock.timers.tick(20_000);
  assert.equal(sources.length, before);
  // A stream that was cut as it was hidden is not opened again behind it.
  source.onerror();
  show(false);
  mock.timers.tick(10_000);
  answer({});
  await turn();
  mock.timers.tick(30_000);
  assert.equal(sources.length, before);
  show(true);
  assert.match(sources[before].url, /fetch=f&after=t1&fetch=g&after=t0/);
  for (const end of ends) end();
});

test('every tab that follows a fetch learns that it is followed no more, also if it was the last one', async () => {
  const { port1, port2 } = new MessageChannel();
  const next = reader(port1);
  globalThis.onconnect({ ports: [port2] });
  const before = sources.length;
  port1.postMessage({ kind: 'follow', fetch: 'lone', after: 't0' });
  port1.postMessage({ kind: 'wake' });
  while (sources.length === before) await new Promise((resolve) => setImmediate(resolve));
  const problem = { type: 'urn:photoledger:problem:access-denied', status: 403, detail: 'refused' };
  sources.at(-1).say('problem', { fetch: 'lone', ...problem });
  assert.deepEqual(await next(), { kind: 'problem', fetch: 'lone', problem });
  port1.close();
});

test('a tab that signs in after the session has ended has the others’ stream opened again', { timeout: 60_000 }, async () => {
  // A hub of its own, whose client asks for the session in vain.
  const { fetch } = globalThis;
  globalThis.location = { href: 'http://gallery/' };
  globalThis.fetch = async () => new Response('{}', { status: 401 });
  await import(new URL('client/hub.js?signed', page));
  globalThis.fetch = fetch;
  const tabs = [new MessageChannel(), new MessageChannel()];
  const next = tabs.map(({ port1 }) => reader(port1));
  for (const { port2 } of tabs) globalThis.onconnect({ ports: [port2] });
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  const before = sources.length;
  tabs[0].port1.postMessage({ kind: 'follow', fetch: 'both', after: 't0' });
  while (sources.length === before) await turn();
  sources.at(-1).onerror();
  assert.deepEqual(await next[0](), { kind: 'signedOut' });
  delete globalThis.location;
  assert.equal(sources.length, before + 1, 'without a session there is nothing to open');
  tabs[1].port1.postMessage({ kind: 'follow', fetch: 'both', after: 't0' });
  while (sources.length === before + 1) await turn();
  sources.at(-1).say('feed', { feed: 'name' });
  sources.at(-1).say('change', { fetch: 'both', before: 't0', after: 't1' });
  for (const message of await Promise.all([next[0](), next[1]()])) assert.equal(message.change.after, 't1');
  // An open stream is left as it is. Its state says that the hub has looked at what was asked.
  tabs[1].port1.postMessage({ kind: 'follow', fetch: 'both', after: 't0' });
  assert.equal((await next[1]()).kind, 'state');
  assert.equal(sources.length, before + 2);
  for (const { port1 } of tabs) port1.close();
});

test('a tab that died is left out, and one that only slept follows anew', async () => {
  mock.timers.enable({ apis: ['setInterval', 'Date'] });
  await import(new URL('client/hub.js?aged', page));
  const { onconnect } = globalThis;
  const tabs = [new MessageChannel(), new MessageChannel()];
  const next = reader(tabs[1].port1);
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  for (const { port2 } of tabs) onconnect({ ports: [port2] });
  let closed = 0;
  const before = sources.length;
  tabs[0].port1.postMessage({ kind: 'follow', fetch: 'old', after: 't0' });
  while (sources.length === before) await turn();
  sources.at(-1).close = () => { closed += 1; };
  mock.timers.tick(240_000);
  tabs[0].port1.postMessage({ kind: 'here' });
  await turn();
  mock.timers.tick(120_000);
  assert.equal(closed, 0, 'it spoke');
  mock.timers.tick(360_000);
  assert.equal(closed, 1, 'no list follows it');
  tabs[1].port1.postMessage({ kind: 'here' });
  assert.deepEqual(await next(), { kind: 'left' });
  tabs[1].port1.postMessage({ kind: 'follow', fetch: 'old', after: 't0' });
  while (sources.length === before + 1) await turn();
  for (const { port1 } of tabs) port1.close();
  mock.timers.reset();
});
