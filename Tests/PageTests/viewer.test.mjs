// The viewer and its panel on a slow server: what is written and pressed while an answer is on its way.

import assert from 'node:assert/strict';
import test from 'node:test';

import { document, frame, keyOn, load, settled, viewerAt } from './frame.mjs';

const { Panel } = await load('views/viewer-panel.js');
const { shown } = await load('views/property-words.js');

/** A photo as the server describes it. */
const described = (id, more = {}) => ({
  localIdentifier: id, creationDate: null, localCreationDate: null, location: null, keywords: [], caption: null,
  rating: 0, isHidden: false, trashedDate: null, resources: [], mediaSubtypes: [], mediaType: 'image', pixelWidth: 0,
  addedDate: '2026-01-01T00:00:00Z', ...more,
});

/** A panel in the document, whose edits are answered when the test says so. */
function panelOf(context) {
  const answers = [];
  const viewer = { app: frame(), canChange: true, edit: () => new Promise((resolve) => { answers.push(resolve); }) };
  const panel = new Panel(viewer);
  panel.askMore = async () => {};
  panel.element.hidden = false;
  document.body.replaceChildren(panel.element);
  context.after(() => panel.close());
  return { panel, answers };
}

/** The forms of a section of a panel. */
const formsIn = (panel, name) => panel.sections[name].querySelectorAll('form');

test('a history is drawn again when a name in it is known at last', (context) => {
  const { panel } = panelOf(context);
  const [id, top] = ['A/L0/001', 'B/L0/001'];
  const records = [{ object: id, property: 'stack', old: null, new: top, token: 't1', date: '2024-01-31T12:00:00Z',
    client: 'owner', cause: null, type: 'assets.edited' }];
  const entry = () => {
    panel.drawHistory(described(id), records);
    return panel.sections.history.querySelector('.history-entry').querySelector('p').textContent;
  };
  assert.equal(entry(), 'Stacked under a photo');
  panel.names.set(top, 'top.jpg');
  assert.equal(entry(), 'Stacked under “top.jpg”');
});

test('a late answer for one photo closes no form of another, nor one that was opened anew', async (context) => {
  const { panel, answers } = panelOf(context);
  const open = (id) => {
    panel.clear();
    panel.show(described(id, { location: { latitude: 1, longitude: 2, altitude: null } }));
    panel.setOpen('place', true);
  };
  const save = () => formsIn(panel, 'place')[0].dispatchEvent(new Event('submit', { cancelable: true }));
  open('one');
  save();
  open('two');
  const [form] = formsIn(panel, 'place');
  answers.pop()(true);
  await settled();
  assert.deepEqual(formsIn(panel, 'place'), [form]);
  save();
  open('two');
  answers.pop()(true);
  await settled();
  assert.equal(formsIn(panel, 'place').length, 1);
  save();
  answers.pop()(true);
  await settled();
  assert.equal(formsIn(panel, 'place').length, 0, 'its own answer closes it');
});

test('a keyword that is being written stays when the photo gets others', async (context) => {
  const { panel, answers } = panelOf(context);
  const photo = (...keywords) => panel.show(described('one', { keywords }));
  photo('sea');
  const [form] = formsIn(panel, 'keywords');
  const input = form.querySelector('input');
  input.focus();
  input.value = 'Summer party at grandm';
  photo('sea', 'tagged');
  assert.match(panel.sections.keywords.textContent, /tagged/);
  assert.deepEqual(formsIn(panel, 'keywords'), [form]);
  assert.deepEqual([form.querySelector('input'), document.activeElement, input.value],
    [input, input, 'Summer party at grandm']);
  // The next one is written before the answer to one that was added, and one that was refused is there again.
  const add = (word) => {
    input.value = word;
    form.dispatchEvent(new Event('submit', { cancelable: true }));
  };
  add('storm');
  assert.equal(input.value, '');
  input.value = 'light';
  answers.pop()(false);
  await settled();
  assert.equal(input.value, 'light');
  add('light');
  answers.pop()(false);
  await settled();
  assert.equal(input.value, 'light');
  // What the photo has by now is not added again.
  photo('sea', 'light');
  add('light');
  assert.deepEqual([answers.length, input.value], [0, '']);
  // The field of another photo is empty.
  input.value = 'left';
  panel.clear();
  panel.show(described('two'));
  assert.equal(formsIn(panel, 'keywords')[0].querySelector('input').value, '');
});

/** A viewer whose commits and questions are answered when the test says so, and what is committed. */
async function slowViewer(context) {
  const viewer = await viewerAt(context, 0);
  const [commits, answers] = [[], []];
  viewer.app.commit = ([operation]) => new Promise((resolve) => {
    commits.push(operation);
    answers.push(resolve);
  });
  let know = () => {};
  viewer.ask = () => new Promise((resolve) => { know = resolve; });
  const press = (key) => viewer.dialog.dispatchEvent(keyOn(viewer.stage, key));
  const answer = async (value) => {
    answers.shift()(value);
    await settled();
  };
  const isHearted = () => viewer.bar.favorite.getAttribute('aria-pressed') === 'true';
  return { viewer, commits, press, answer, isHearted, known: async () => {
    know();
    await settled();
  } };
}

test('a photo is moved to the trash once however often that is pressed before the answer', async (context) => {
  const { viewer, commits, press, answer, known } = await slowViewer(context);
  for (let count = 0; count < 3; count += 1) press('Delete');
  assert.deepEqual(commits.splice(0), [{ op: 'asset.trash', assets: ['a0'] }]);
  await answer({});
  press('Delete');
  assert.deepEqual(commits, [], 'it is not known yet that it is in the trash');
  viewer.asset = { trashedDate: '2026-01-01T00:00:00Z' };
  await known();
  press('Delete');
  assert.deepEqual(commits, []);
  // It was restored, and can be moved again, also after a failure. The next photo waits for none of that.
  viewer.asset = { trashedDate: null };
  for (let count = 0; count < 2; count += 1) {
    press('Delete');
    await answer(null);
    await known();
  }
  assert.equal(commits.splice(0).length, 2);
  press('Delete');
  await viewer.showIndex(1);
  press('Delete');
  assert.deepEqual(commits.map(({ assets }) => assets[0]), ['a0', 'a1']);
});

test('a second press of the heart takes the first back, whether the first was answered or not', async (context) => {
  const { viewer, commits, press, answer, isHearted } = await slowViewer(context);
  const sent = () => commits.splice(0).map(({ isFavorite }) => isFavorite);
  press('f');
  assert.deepEqual([sent(), isHearted()], [[true], true], 'the heart is seen at once');
  press('f');
  assert.deepEqual([sent(), isHearted()], [[], false], 'one after the other');
  await answer({});
  assert.deepEqual(sent(), [false]);
  press('f');
  press('f');
  await answer({});
  assert.deepEqual([sent(), isHearted()], [[], false], 'two more presses change nothing');
  // The answer comes before the list says it.
  press('f');
  await answer({});
  press('f');
  assert.deepEqual([sent(), isHearted()], [[true, false], false]);
  await answer({});
  press('f');
  await answer(null);
  assert.deepEqual([sent(), isHearted()], [[true], false], 'what failed is not shown');
  // What the list says later counts, also if another client did it.
  press('f');
  await answer({});
  viewer.list.item = () => ({ ...viewer.item, isFavorite: false });
  viewer.refresh();
  assert.equal(isHearted(), false);
  press('f');
  assert.deepEqual(sent(), [true, true]);
  await answer({});
});

test('the history shows a number of stars, and what the camera’s clock showed, wherever the reader is', (context) => {
  const zone = process.env.TZ;
  context.after(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  for (const place of ['America/Los_Angeles', 'Asia/Tokyo']) {
    process.env.TZ = place;
    assert.match(shown('localCreationDate', '2024-05-31T18:30:00'), /31.*(18:30|6:30)/, place);
  }
  assert.deepEqual([0, 3].map((stars) => shown('rating', stars)), ['0', '3']);
});
