// Shifting the dates of a selection: what is asked for, shown beforehand, and committed.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Element } from './dom.mjs';
import { document, frame, load, settled } from './frame.mjs';

const { Found } = await load('model/found.js');
const { shiftDates } = await load('views/dates.js');

// Fields hold what is typed, and are never refused.
Object.defineProperty(Element.prototype, 'valueAsNumber', { get() { return Number(this.value); } });
Object.assign(Element.prototype, { validity: { valid: true } });

/** An app over a server with records, and what it commits. */
function library(records) {
  const commits = [];
  const app = frame(records.length, async (method, path, { query } = {}) => {
    assert.equal(path, '/v1/fetches/f/items', 'the server is asked after its own fetches only');
    return { items: records.slice(query.start, query.start + query.count) };
  });
  app.commit = async (operations) => {
    commits.push(operations);
    return {};
  };
  return { app, commits };
}

const record = (localIdentifier, creationDate, localCreationDate = null) =>
  ({ localIdentifier, creationDate, localCreationDate, pixelWidth: 3, pixelHeight: 2 });

/** Opens the dialog for the first photos of a list. */
async function dialogFor(app, { fetch, token }, ids) {
  const isDone = shiftDates(app, ids, { list: { fetch, token }, selection: { ranges: [[0, ids.length]] } });
  await settled();
  const dialog = document.body.querySelector('dialog');
  const set = (name, value) => {
    const field = dialog.querySelector(`[name="${name}"]`);
    field.value = value;
    field.dispatchEvent(new Event('input'));
    field.dispatchEvent(new Event('change'));
  };
  const submit = async () => {
    // A browser has the first choice of a list selected by itself.
    dialog.querySelector('form').dispatchEvent(new Event('submit', { cancelable: true }));
    return isDone;
  };
  set('direction', '1');
  set('keeps', 'clock');
  return { set, submit, after: () => dialog.querySelector('.dates-after').textContent };
}

test('the dates of the results of a search by month are shifted', async () => {
  const { app, commits } = library(['2019', '2020', '2021'].map((year) =>
    record(`a${year}`, `${year}-03-05T12:00:00+01:00`, `${year}-03-05T12:00:00`)));
  const found = await Found.open(app, {}, ({ month }) => month === 3);
  await found.queue;
  const { set, submit } = await dialogFor(found.app, { fetch: found.name, token: found.spelled }, ['a2019', 'a2020']);
  set('hours', '2');
  assert.equal(await submit(), true);
  assert.deepEqual(commits[0].map(({ assets, localCreationDate }) => [assets[0], localCreationDate]),
    [['a2019', '2019-03-05T14:00:00'], ['a2020', '2020-03-05T14:00:00']]);
  const where = (asset) => found.app.client.ask('GET', `/v1/fetches/${found.name}/index`,
    { query: { token: found.spelled, asset } });
  assert.deepEqual([(await where('a2021')).index, (await where('gone')).index], [2, null]);
  found.close();
});

test('a film that has only an instant gets no clock when its date is shifted and no time zone is chosen', async () => {
  const { app, commits } = library([record('film', '2031-07-01T10:00:00Z'),
    record('photo', '2031-07-01T12:00:00+02:00', '2031-07-01T12:00:00')]);
  const list = { fetch: 'f', token: 't' };
  let { set, submit, after } = await dialogFor(app, list, ['film', 'photo']);
  set('hours', '1');
  assert.match(after(), /\b07:00:00$/, 'the reader’s time, without a time zone');
  await submit();
  assert.deepEqual(commits.pop(), [
    { op: 'asset.edit', assets: ['film'], creationDate: '2031-07-01T11:00:00Z', localCreationDate: null,
      timeZoneOffset: null },
    { op: 'asset.edit', assets: ['photo'], creationDate: '2031-07-01T11:00:00Z',
      localCreationDate: '2031-07-01T13:00:00', timeZoneOffset: 7200 },
  ]);
  ({ set, submit, after } = await dialogFor(app, list, ['film']));
  set('zone', '32400');
  assert.match(after(), /06:00:00 UTC\+09:00$/);
  await submit();
  assert.deepEqual(commits.pop()[0].localCreationDate, '2031-07-01T06:00:00', 'a time zone was chosen');
});
