// One feed for all tabs and views: who begins to follow a fetch that another follows already learns where it is by now.

import assert from 'node:assert/strict';
import test from 'node:test';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);

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
