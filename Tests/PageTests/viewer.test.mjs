// The viewer and its panel on a slow server: what is written and pressed while an answer is on its way.

import assert from 'node:assert/strict';
import test from 'node:test';

import { document, frame, load, settled } from './frame.mjs';

const { Panel } = await load('views/viewer-panel.js');

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
