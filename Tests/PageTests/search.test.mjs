// How words are understood, and how a list that is narrowed in the page follows its base, against naive arrays.

import assert from 'node:assert/strict';
import test from 'node:test';

import { random } from './random.mjs';
import { Found, difference, ranges, spliced } from '../../Sources/GalleryServer/Page/model/found.js';
import { folded, understood, whereMonth, without } from '../../Sources/GalleryServer/Page/model/words.js';

/** What a list is after a change, as the feed's readers apply it. */
function applied(list, change, fresh) {
  const gone = new Set(change.removed.flatMap(([start, count]) => Array.from({ length: count }, (_, at) => start + at)));
  const moved = new Map(change.moved);
  const rest = list.filter((_, index) => !gone.has(index) && !moved.has(index));
  const comes = [...change.inserted.flatMap(([start, count]) => Array.from({ length: count }, (_, at) => start + at)),
    ...[...moved].map(([, after]) => after)].sort((one, other) => one - other);
  const from = new Map([...moved].map(([before, after]) => [after, list[before]]));
  for (const index of comes) rest.splice(index, 0, from.get(index) ?? fresh[index]);
  return rest;
}

test('the difference of two lists leads from one to the other and moves as few as possible', () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const below = random(seed);
    const before = Array.from({ length: below(30) }, (_, index) => ({ id: `a${index}` }));
    const after = before.filter(() => below(4) > 0).map((entry) => below(5) === 0 ? { ...entry } : entry);
    for (let step = below(4); step > 0; step -= 1) after.splice(below(after.length + 1), 0, { id: `b${seed}-${step}` });
    let moves = 0;
    for (let step = below(3); step > 0 && after.length > 0; step -= 1) {
      const [one] = after.splice(below(after.length), 1);
      after.splice(below(after.length + 1), 0, one);
      moves += 1;
    }
    const change = difference(before, after);
    assert.deepEqual(applied(before, change, after).map(({ id }) => id), after.map(({ id }) => id), `seed ${seed}`);
    assert.ok(change.moved.length <= moves, `seed ${seed}: ${change.moved.length} moved`);
  }
});

test('the entries that were read follow the base, whole or not', () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const below = random(seed);
    const base = Array.from({ length: 5 + below(30) }, (_, index) => ({ id: `a${index}` }));
    const after = base.filter(() => below(5) > 0);
    for (let step = below(4); step > 0; step -= 1) after.splice(below(after.length + 1), 0, { id: `b${seed}-${step}` });
    if (after.length > 1) after.push(after.splice(below(after.length), 1)[0]);
    const parts = difference(base, after);
    const changed = after.length > 0 ? [below(after.length)] : [];
    const change = { ...parts, changed: ranges(changed), count: after.length };
    const isWhole = seed % 2 === 0;
    const read = isWhole ? base : base.slice(0, below(base.length));
    const now = spliced(read, isWhole, change);
    if (isWhole) assert.equal(now.length, after.length);
    now.forEach((entry, index) => {
      assert.ok(entry === null || entry.id === after[index].id, `seed ${seed} at ${index}`);
      if (entry === null) return;
      assert.ok(!changed.includes(index), 'what changed is read again');
    });
    const known = new Set(read.map(({ id }) => id));
    const forgotten = now.filter((entry, index) => entry === null && known.has(after[index].id) && !changed.includes(index));
    assert.equal(forgotten.length, 0, `seed ${seed}: read again without need`);
  }
});

const shown = (text, locale = 'en') => understood(text, locale).map(({ kind, shown: name }) => `${kind} ${name}`);

test('words are understood as kinds, dates and text', () => {
  assert.deepEqual(shown('favourites november 2023 "may" harbour'),
    ['kind favorites', 'date November 2023', 'text may', 'text harbour']);
  assert.deepEqual(shown('14. März 2023 Bildschirmfotos', 'de'), ['date 14. März 2023', 'kind screenshots']);
  assert.deepEqual(shown('2023-02-31 2023-13 12345 1799'), ['text 2023-02-31', 'text 2023-13', 'text 12345', 'text 1799']);
  assert.deepEqual(shown('5" \\ \'a\' " “new york”'), ['text 5"', "text \\", "text 'a'", 'text "', 'text new york']);
  assert.deepEqual(shown('  '), []);
});

test('the search knows the names that the German page has for kinds, and short names of months', () => {
  for (const word of ['Porträt', 'Porträts', 'portraits']) assert.deepEqual(shown(word, 'de'), ['kind portraits']);
  for (const locale of ['de', 'en']) assert.deepEqual(shown('Sept. 2022', locale), shown('September 2022', locale));
});

test('a part can be taken out, and no text becomes part of a predicate', () => {
  const text = 'sea  november 2023 "new york" raw';
  const parts = understood(text, 'en');
  assert.equal(without(text, parts[1]), 'sea "new york" raw');
  assert.equal(without(text, parts[2]), 'sea november 2023 raw');
  for (const hostile of ["' OR TRUEPREDICATE", '") OR (1 == 1', "2023' OR '1", '2023-11-1\' OR']) {
    for (const { where } of understood(hostile, 'en')) assert.doesNotMatch(where ?? '', /TRUEPREDICATE|1 == 1|OR '1/);
  }
  assert.ok(whereMonth(2, [2020, 2021, 2022, 2023, 2024])?.length < 1400);
  assert.equal(whereMonth(2, [2019, 2020, 2021, 2022, 2023, 2024]), null);
  assert.equal(folded('Straße ÉTÉ'), 'strasse ete');
});

test('a window at a state that is no longer kept is refused, and not cut out of another state', async () => {
  const records = ['a', 'b', 'c', 'd'].map((id) => ({
    localIdentifier: id, localCreationDate: '2024-06-01T12:00:00', pixelWidth: 3, pixelHeight: 2,
  }));
  const feed = Object.assign(new EventTarget(), { isOpen: true, follow: () => () => {} });
  const client = {
    openFetch: async () => ({ fetch: 'f', token: 't', count: records.length }),
    ask: async (method, path, { query: { start, count } }) => ({ items: records.slice(start, start + count) }),
    window: async (fetch, token, start, count) => ({
      items: records.slice(start, start + count).map(({ localIdentifier: id }) => ({ id })),
    }),
  };
  const found = await Found.open({ client, feed }, {}, ({ month }) => month === 6);
  await found.queue;
  const chosen = found.spelled;
  const first = async (token) => (await found.app.client.window(found.name, token, 0, 1)).items.map(({ id }) => id);
  assert.deepEqual(await first(chosen), ['a']);
  // Each photo that comes is in front of the others, and is another state.
  for (let step = 1; step <= 15; step += 1) {
    found.entries.unshift({ id: `new${step}`, month: 6, width: 3, height: 2, isMatch: true });
    found.tell();
  }
  assert.deepEqual(await first(chosen), ['a'], 'a state that is kept');
  found.entries.unshift({ id: 'last', month: 6, width: 3, height: 2, isMatch: true });
  found.tell();
  const isExpired = { status: 410, type: 'token-expired' };
  await assert.rejects(first(chosen), isExpired);
  const query = { token: chosen, start: 0, count: 1 };
  await assert.rejects(found.app.client.response('GET', `/v1/fetches/${found.name}/shapes`, { query }), isExpired);
  found.close();
});
