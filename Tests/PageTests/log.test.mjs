// A history that is led on by steps of the log, by questions, or by either at random, is the history that is read anew.

import assert from 'node:assert/strict';
import test from 'node:test';

import { LogReader } from '../../Sources/GalleryServer/Page/model/log.js';
import { random } from './random.mjs';

/** A server's log in memory. */
class Log {
  constructor() {
    /** @type {any[]} */
    this.events = [];
    this.commit = 0;
    this.questions = 0;
  }

  get token() { return `t${this.commit}`; }

  add(count, client = 'owner') {
    this.commit += 1;
    for (let index = 0; index < count; index += 1) {
      this.events.push({ sequence: this.events.length + 1, token: this.token, date: `d${this.commit}`, client, process: 'p',
        cause: null, causation: null, type: 'x', objects: [] });
    }
  }

  /** The step from a state, whose message has at most so many events. */
  step(before, limit) {
    const after = Number(before.slice(1));
    const events = this.events.filter((event) => Number(event.token.slice(1)) > after);
    return { before, after: this.token, items: { records: events.slice(0, limit), isComplete: events.length <= limit } };
  }

  /** Answers as `/v1/log` does. */
  async ask(_method, _path, { query: { after, from, reverse, limit = 100, cursor, client } }) {
    this.questions += 1;
    let events = this.events.filter((event) => !client || event.client === client);
    if (after) events = events.filter((event) => Number(event.token.slice(1)) > Number(after.slice(1)));
    if (from) events = events.filter((event) => Number(event.date.slice(1)) >= Number(from.slice(1)));
    if (reverse) events.reverse();
    if (cursor) events = events.filter(({ sequence }) => reverse ? sequence < cursor : sequence > cursor);
    const records = events.slice(0, limit);
    return { records, next: events.length > limit ? records[records.length - 1].sequence : null };
  }
}

async function whole(log, filter) {
  const reader = new LogReader(log, filter);
  while (!reader.isComplete) await reader.more();
  return reader.commits;
}

for (const filter of [{}, { client: 'other' }]) {
  test(`steps and questions lead to one history, filter ${JSON.stringify(filter)}`, async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const chance = random(seed);
      const log = new Log();
      if (seed % 4 > 0) log.add(3);
      const reader = new LogReader(log, filter);
      await reader.more();
      let state = log.token;
      for (let round = 0; round < 30; round += 1) {
        const count = 1 + chance(3);
        for (let one = 0; one < count; one += 1) log.add(1 + chance(4), ['owner', 'other'][chance(2)]);
        const step = log.step(state, 6);
        state = log.token;
        // A step may be lost, where the page was asked for something else meanwhile; then a question follows.
        const way = chance(10);
        if (way < 2) continue;
        if (way < 3 || !reader.take(step)) await reader.newer();
        assert.deepEqual(reader.commits, await whole(log, filter));
      }
    }
  });
}

test('a step that has all its events asks for nothing', async () => {
  const log = new Log();
  log.add(2);
  const reader = new LogReader(log, {});
  await reader.more();
  const { questions, token } = log;
  log.add(3);
  log.add(1);
  assert.deepEqual(reader.take(log.step(token, 100))?.map((commit) => commit.events.length), [1, 3]);
  assert.equal(log.questions, questions);
  assert.equal(reader.take(log.step(token, 100)), null, 'a step that begins elsewhere is not taken');
});

test('a history that lets its oldest commits go is bounded, and is read on exactly behind the last one', async () => {
  const log = new Log();
  log.add(2);
  log.add(500);
  const reader = new LogReader(log, {});
  while (!reader.isComplete) await reader.more();
  for (let commit = 0; commit < 2000; commit += 1) {
    const { token } = log;
    log.add(1 + commit % 3);
    assert.equal(reader.take(log.step(token, 100))?.length, 1);
    if (reader.commits.length > 40) assert.equal(reader.keep(20).length, 21);
  }
  assert.ok(reader.commits.length <= 40);
  assert.deepEqual(reader.keep(40), []);
  while (!reader.isComplete) await reader.more();
  const counted = ({ token, events, furtherCount }) => [token, events.length + furtherCount];
  assert.deepEqual(reader.commits.map(counted), (await whole(log, {})).map(counted));
  // Only a part of the commit with many events was read, and it is not read on.
  const before = structuredClone(reader.commits);
  assert.deepEqual(reader.keep(2001).map(({ token }) => token), ['t1']);
  await reader.more();
  assert.deepEqual(reader.commits, before);
});
