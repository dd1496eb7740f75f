// What the page says of events, properties and values: a phrase for each that the library records, and never a name of the
// log or an identifier in its place.

import assert from 'node:assert/strict';
import test from 'node:test';

import { document, frame, load, settled } from './frame.mjs';

const { causeWords, commitWords, kinds } = await load('views/log-words.js');
const { eventSentence } = await load('views/log-sentences.js');
const { nameOf, shown } = await load('views/property-words.js');
const { historyList, stackTopsIn } = await load('views/viewer-history.js');
const { ObjectNames } = await load('views/object-names.js');

const [photo, top, album] = ['A/L0/001', 'B/L0/001', 'C/L0/040'];
const event = (type, details, more = {}) => ({ sequence: 1, token: 't', date: '2024-01-31T12:00:00Z', client: 'owner',
  process: 'x', cause: null, causation: null, type, objects: ['app#1'], sentence: 'the sentence of the log', details,
  titles: {}, isErased: false, ...more });
const edit = (details, titles = {}) => event('client.edited', { client: 'app#1', ...details }, { titles });
const commit = (...events) => ({ token: 't', date: '2024-01-31T12:00:00Z', client: 'owner', process: 'x', cause: null,
  isUndo: false, events, furtherCount: 0 });

test('each edit of a client has a sentence, and a phrase among those of its commit', () => {
  const status = { old: 'notDetermined', new: 'limited' };
  const follows = { followedAlbum: { old: null, new: album } };
  const [name, left] = ['The selection of “app” follows “Sea”', 'The selection of “app” no longer follows an album'];
  for (const [one, sentence, phrase] of [
    [edit({ requested: 'readWrite' }), '“app” requested access.', '“app” requested access'],
    [edit(follows, { [album]: 'Sea' }), `${name}.`, name],
    [edit(follows), 'The selection of “app” follows an album.', 'The selection of “app” follows an album'],
    [edit({ followedAlbum: { old: album, new: null } }), `${left}.`, left],
    [edit({ readWrite: status }), 'Permission of “app” to see and change photos: selected photos (before: not decided).',
      'Permission of “app” to see and change photos: selected photos'],
    [edit({ addOnly: { old: 'denied', new: 'authorized' } }), 'Permission of “app” to add photos: allowed (before: denied).',
      'Permission of “app” to add photos: allowed'],
    [edit({ readWrite: status, followedAlbum: { old: album, new: null } }),
      `Permission of “app” to see and change photos: selected photos (before: not decided). ${left}.`,
      `Permission of “app” to see and change photos: selected photos, ${left}`],
    ...['readWriteUsageDescription', 'addOnlyUsageDescription', 'preventsAutomaticLimitedAccessAlert'].map((field) =>
      [edit({ [field]: { old: null, new: 'x' } }), '“app” updated its registration.', '“app” updated its registration']),
  ]) {
    assert.equal(eventSentence(one), sentence);
    assert.deepEqual(commitWords(commit(one)), [phrase]);
  }
});

test('a commit that registers a client, permits it something and has it follow an album says all three', () => {
  const events = [event('client.registered', { client: 'app#1' }), edit({ readWriteUsageDescription: { old: null, new: 'x' } }),
    edit({ readWrite: { old: 'notDetermined', new: 'limited' } }),
    edit({ followedAlbum: { old: null, new: album } }, { [album]: 'Sea' })];
  assert.deepEqual(commitWords(commit(...events.reverse())), ['“app” registered', '“app” updated its registration',
    'Permission of “app” to see and change photos: selected photos', 'The selection of “app” follows “Sea”']);
});

test('each kind of event has a phrase, one of a later server keeps its name', () => {
  for (const kind of kinds) assert.notEqual(commitWords(commit(event(kind, { client: 'app#1' })))[0], kind);
  assert.deepEqual(commitWords(commit(event('asset.painted', {}))), ['asset.painted']);
  assert.equal(eventSentence(event('asset.painted', {})), 'the sentence of the log');
});

test('a cause of the library has words, one that a person gave is as it was given', () => {
  assert.deepEqual(['upload', 'picking session', 'constructor', 'Tidying up'].map(causeWords),
    ['upload', 'photos picked', 'constructor', 'Tidying up']);
  assert.equal(causeWords('picking session presented by frames#QX7R'), 'photos picked by “frames”');
});

test('an edit of photos names each property in words', () => {
  const details = { assets: [{ asset: photo, modificationDate: {}, stack: {}, isRaw: {}, fileMetadata: {}, tint: {} }] };
  assert.equal(eventSentence(event('assets.edited', details)),
    'Edited: a photo (Stack, RAW, Information in the file and tint).');
});

test('values are shown in words', () => {
  assert.deepEqual([
    ['mediaType', 'image'], ['mediaSubtypes', ['photoLive', 'photoHDR']], ['playbackStyle', 'videoLooping'],
    ['playbackVariation', 'mirror'], ['adjustmentsState', 'userAdjusted'], ['originalResourceChoice', 'raw'],
    ['burstSelectionTypes', ['autoPick', 'userPick']], ['isRaw', true], ['rating', 4], ['caption', 'constructor'],
    ['fileMetadata', { lens: 'L', iso: 100, sources: { lens: 'exif' } }], ['stack', null],
  ].map(([property, value]) => shown(property, value)), [
    'Photo', 'Live Photo, HDR', 'looping video', 'bounce', 'by a person', 'RAW', 'by the camera, by a person', 'yes', '4',
    'constructor', '2 values', 'none',
  ]);
  assert.equal(nameOf('stack'), 'Stack');
});

test('the history of a photo names the photo on top of its stack, and says what was erased', async () => {
  const record = (sequence, property, old, fresh) => ({ object: photo, property, old, new: fresh, token: `t${sequence}`,
    date: '2024-01-31T12:00:00Z', client: 'owner', cause: null, type: 'assets.edited' });
  const records = [record(1, 'stack', null, top), record(2, 'stack', top, photo), record(3, 'stack', photo, null),
    record(4, 'isErased', false, true), record(5, 'erased', null, null)];
  const questions = [];
  const names = new ObjectNames(frame(0, async (method, path, { query }) => {
    questions.push(query.asset);
    return { records: [{ details: { asset: top, resources: [{ originalFilename: 'top.jpg' }] } }] };
  }));
  assert.deepEqual(stackTopsIn(records), [top]);
  const lines = () => historyList(records, { titleOf: () => '', photoOf: (id) => names.quoted(id), undo: null })
    .querySelectorAll('.history-entry').map((one) => one.querySelector('p').textContent).reverse();
  assert.equal(lines()[0], 'Stacked under a photo');
  await names.load(stackTopsIn(records), new AbortController().signal);
  assert.deepEqual(questions, [top]);
  assert.deepEqual(lines(), ['Stacked under “top.jpg”', 'Put on top of its stack', 'Removed from its stack',
    'Erased from the history', 'The content of this event was erased.']);
});

test('the names of the latest photos on top of a stack are asked for first', () => {
  const under = (fresh) => ({ object: photo, property: 'stack', old: null, new: fresh });
  assert.deepEqual(stackTopsIn(['B', 'D', 'B', 'E'].map((one) => under(`${one}/L0/001`))),
    ['E/L0/001', 'B/L0/001', 'D/L0/001']);
});

test('what has no name is asked for once, and what could not be asked for again', async () => {
  const questions = [];
  const names = new ObjectNames(frame(0, async (method, path, { query }) => {
    questions.push(query.asset);
    if (query.asset === photo) return { records: [] };
    if (questions.length < 3) throw new Error('offline');
    return { records: [{ details: { asset: top, resources: [{ originalFilename: 'top.jpg' }] } }] };
  }));
  for (let turn = 0; turn < 3; turn += 1) await names.load([photo, top], new AbortController().signal);
  assert.deepEqual(questions, [photo, top, top]);
  assert.deepEqual([photo, top].map((id) => names.quoted(id)), ['a photo', '“top.jpg”']);
});

/** The lines of the plan of an undo. */
async function planned(...records) {
  const { undoDialog } = await load('views/undo.js');
  const summary = { token: null, isRefused: false, commits: ['t'], changeCount: records.length, conflictCount: 0,
    alreadyCount: 0 };
  const app = frame(0, async (method, path, { query }) => ({ records: [query.album
    ? { details: { collection: query.album, localizedTitle: 'Sea' } }
    : { details: { asset: query.asset, resources: [{ originalFilename: query.asset === top ? 'top.jpg' : 'own.jpg' }] } },
  ] }));
  app.client.undo = async () => ({ isComplete: true, summary, records: records.map((one) => ({ line: 'change', ...one })) });
  const closed = undoDialog(app, 'Undo', [{ label: 'This change', request: {} }]);
  await settled();
  await settled();
  const dialog = document.body.querySelector('dialog');
  const lines = dialog.querySelector('.plan-each').querySelectorAll('li').map((one) => one.textContent);
  dialog.querySelector('.dialog-actions').querySelector('button').click();
  assert.equal(await closed, false);
  return lines;
}

test('the plan of an undo names its properties in words and the photos that are values by their names', async () => {
  const change = (property, current, restored) => ({ kind: 'property', object: photo, container: null, property, current,
    restored });
  assert.deepEqual(await planned(change('stack', top, null), change('playbackVariation', 'mirror', 'none')),
    ['own.jpg: Stack restored (top.jpg → none)', 'own.jpg: Live Photo effect restored (bounce → none)']);
});

test('the plan of an undo says what becomes of a permission, the album that a client follows, and its photos', async () => {
  const change = (property, current, restored) => ({ kind: 'permission', object: 'app#1', container: null, property,
    current, restored });
  const share = (current, restored) => ({ ...change('orderKey', current, restored), object: photo, container: 'app#1' });
  assert.deepEqual(await planned(change('followedAlbum', album, null), change('readWrite', 'limited', 'notDetermined'),
    share('2', null), share(null, '2'), share('3', '2')), [
    'app: followed album restored (Sea → none)', 'app: permission restored (selected photos → not decided)',
    'own.jpg: no longer shared – app', 'own.jpg: shared again – app', 'own.jpg: put back in its place – app']);
  assert.deepEqual(await planned(change('readWriteUsageDescription', 'b', 'a'), change('addOnlyUsageDescription', 'b', null),
    change('preventsAutomaticLimitedAccessAlert', true, false)), [
    'app: purpose restored (b → a)', 'app: purpose of adding restored (b → none)',
    'app: setting “no automatic question about more photos” restored (yes → no)']);
});
