// The privacy page: what is chosen on it stays when a message concerns something else.

import assert from 'node:assert/strict';
import test, { mock } from 'node:test';

import { document, frame, load, settled } from './frame.mjs';

const { open } = await load('views/privacy.js');

/** A client as the server lists it. */
const client = (name, more = {}) => ({
  name, accessKind: 'limited', authorizationStatus: { readWrite: 'limited', addOnly: 'notDetermined' },
  usageDescription: { readWrite: null, addOnly: null }, selectionCount: 2, pickCount: 0,
  registeredDate: '2026-01-01T00:00:00Z', ...more,
});

/** The page over clients, which a request of an app has it read again. */
async function page(context) {
  const state = { clients: [client('television'), client('frame')], keys: [{ name: 'k', client: 'television',
    label: 'Remote', created: '2026-01-01T00:00:00Z', expires: '2027-01-01T00:00:00Z' }], origins: [] };
  const selection = ['a0', 'a1'].map((object) => ({ ground: 'selection', object, to: null,
    from: { token: 't', date: '2026-01-01T00:00:00Z' } }));
  const app = frame(2, async (method, path, options) => {
    if (method === 'DELETE') state.keys = [];
    if (method === 'PATCH') state.origins = state.origins.filter((one) => !options.json.withdraw.includes(one));
    const { clients, keys, origins } = state;
    return { clients, keys, origins, shares: [], records: selection, next: null };
  });
  const turns = async () => { for (let turn = 0; turn < 20; turn += 1) await settled(); };
  app.requests = Object.assign(new EventTarget(), { waiting: [] });
  const view = await open(app);
  document.body.replaceChildren(view.element);
  context.after(() => view.close());
  const card = (name) => view.element.querySelector(`[data-client="${name}"]`);
  return {
    app, state, card, turns,
    titles: () => view.element.querySelectorAll('.client').map((one) => one.dataset.client),
    details: async (name, isOpen = true) => {
      const details = card(name).querySelector('details');
      details.open = isOpen;
      details.dispatchEvent(new Event('toggle'));
      await turns();
    },
    say: async () => {
      app.requests.dispatchEvent(new Event('change'));
      await turns();
    },
  };
}

test('what is chosen and what has the focus stay when an app asks for access, and when the requests are said again',
  async (context) => {
    const { state, card, titles, details, say } = await page(context);
    await details('television');
    const box = card('television').querySelector('input[value="a0"]');
    box.checked = true;
    box.dispatchEvent(new Event('change'));
    const narrow = card('television').querySelector('[data-act="narrow"]');
    assert.equal(narrow.disabled, false);
    const former = card('television');
    const select = card('frame').querySelector('select');
    select.focus();
    await say();
    state.clients = [client('asks', { accessKind: 'none' }), client('new'), ...state.clients];
    await say();
    assert.deepEqual(titles(), ['new', 'television', 'frame', 'asks']);
    assert.deepEqual([card('television') === former, box.isConnected, box.checked, narrow.disabled],
      [true, true, true, false]);
    assert.equal(document.activeElement, select);
    // A client that has changed is drawn as it is now, and the keyboard stays at its control.
    state.clients = [client('television'), client('frame', { selectionCount: 3 })];
    await say();
    assert.deepEqual(titles(), ['television', 'frame']);
    assert.match(card('frame').textContent, /3 photos/);
    assert.notEqual(document.activeElement, select);
    assert.equal(document.activeElement, card('frame').querySelector('select'));
    state.clients = [];
    await say();
    assert.deepEqual(titles(), []);
  });

test('a key that is withdrawn leaves its client’s card though the client is as before', async (context) => {
  const { card, details, turns } = await page(context);
  await details('television');
  const withdraw = () => card('television').querySelectorAll('button')
    .find((one) => one.getAttribute('aria-label')?.includes('Remote'));
  const other = card('frame');
  withdraw().click();
  await turns();
  // A browser says that the details of the new card are open.
  await details('television');
  assert.equal(withdraw(), undefined);
  assert.equal(card('frame'), other);
});

test('a page that may show a client’s picker is listed, and withdrawn alone', async (context) => {
  const { state, card, details, turns } = await page(context);
  state.origins = ['https://a.example', 'https://b.example'];
  await details('television');
  const listed = () => card('television').querySelectorAll('[data-origin]').map((one) => one.dataset.origin);
  assert.deepEqual(listed(), state.origins);
  // An approval that the card does not show yet stays.
  state.origins = [...state.origins, 'https://c.example'];
  card('television').querySelector('[data-origin]').click();
  await turns();
  await details('television');
  assert.deepEqual([state.origins, listed()], [['https://b.example', 'https://c.example'],
    ['https://b.example', 'https://c.example']]);
});

test('the owner is asked about the pages that may not show the picker yet, and approves them beside the others',
  async (context) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    context.after(() => mock.timers.reset());
    const { frameQuestion } = await load('views/framing.js');
    const sent = [];
    let scopes = ['owner'];
    const guest = frame(0, async (method, path, options) => {
      sent.push([method, path, options?.json]);
      return { scopes };
    });
    const presentation = { client: 'app#1', origins: ['https://a.example', 'https://b.example'],
      approvedOrigins: ['https://a.example', 'https://c.example'] };
    const question = await frameQuestion(guest, 'app', presentation);
    assert.match(question.textContent, /https:\/\/b\.example/);
    assert.doesNotMatch(question.textContent, /https:\/\/a\.example/);
    document.body.replaceChildren(question);
    mock.timers.tick(1000);
    question.querySelector('button').click();
    await settled();
    assert.deepEqual(sent.pop(), ['PATCH', '/v1/clients/app%231/origins', { approve: ['https://b.example'] }]);
    assert.equal(question.isConnected, false);
    // Others than the owner cannot approve, and what is approved is not asked about.
    scopes = ['read'];
    assert.equal(await frameQuestion(guest, 'app', presentation), null);
    sent.length = 0;
    assert.equal(await frameQuestion(guest, 'app', { ...presentation, origins: ['https://a.example'] }), null);
    assert.deepEqual(sent, []);
  });

test('pages are approved only in a window that has been in front for a second', async (context) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { hasFocus } = document;
  context.after(() => {
    mock.timers.reset();
    Object.assign(document, { hasFocus, hidden: false });
  });
  const { frameQuestion } = await load('views/framing.js');
  let isRefused = true;
  const approvals = [];
  const guest = frame(0, async (method) => {
    if (method === 'PATCH') approvals.push(isRefused);
    if (method === 'PATCH' && isRefused) throw new Error('refused');
    return { scopes: ['owner'] };
  });
  const question = await frameQuestion(guest, 'app', { client: 'app', origins: ['https://a.example'],
    approvedOrigins: [] });
  document.body.replaceChildren(question);
  const allow = question.querySelector('button');
  const isOn = () => !allow.disabled;
  const after = (time) => {
    mock.timers.tick(time);
    return isOn();
  };
  assert.deepEqual([isOn(), after(999), after(1)], [false, false, true]);
  // The window comes in front again, as when an app closes the one over it.
  dispatchEvent(new Event('focus'));
  assert.deepEqual([isOn(), after(500)], [false, false]);
  dispatchEvent(new Event('focus'));
  assert.deepEqual([after(999), after(1)], [false, true]);
  document.hasFocus = () => false;
  dispatchEvent(new Event('blur'));
  assert.deepEqual([isOn(), after(5000)], [false, false]);
  Object.assign(document, { hasFocus, hidden: true });
  document.dispatchEvent(new Event('visibilitychange'));
  assert.equal(after(5000), false);
  document.hidden = false;
  document.dispatchEvent(new Event('visibilitychange'));
  assert.equal(after(1000), true);
  // It stays off while it is sent, and can be pressed again later if that failed.
  allow.click();
  dispatchEvent(new Event('focus'));
  assert.equal(isOn(), false);
  await settled();
  assert.deepEqual([guest.failures.length, isOn(), after(1000)], [1, false, true]);
  isRefused = false;
  allow.click();
  await settled();
  assert.deepEqual([approvals, question.isConnected], [[true, false], false]);
});

test('details that are opened again are read again, and stay open when the client changes', async (context) => {
  const { state, card, details, say } = await page(context);
  await details('television');
  assert.match(card('television').textContent, /Remote/);
  await details('television', false);
  state.keys = [];
  await details('television');
  assert.doesNotMatch(card('television').textContent, /Remote/);
  state.clients = [client('television', { selectionCount: 3 }), client('frame')];
  await say();
  assert.match(card('television').textContent, /3 photos/);
  assert.equal(card('television').querySelector('details').open, true);
});

test('a choice of what a client may see is committed by its button, not by the keys that pass over it', async (context) => {
  const { app, state, card, turns } = await page(context);
  const commits = [];
  let isDone = false;
  app.commit = async ([operation]) => {
    commits.push(operation);
    return isDone ? {} : null;
  };
  const select = card('frame').querySelector('select');
  const apply = () => card('frame').querySelector('[data-act="apply"]');
  const choose = (status) => {
    select.value = status;
    select.dispatchEvent(new Event('change'));
  };
  assert.equal(apply().hidden, true);
  for (const status of ['authorized', 'limited', 'denied']) choose(status);
  await turns();
  assert.deepEqual([commits, apply().hidden], [[], false]);
  choose('limited');
  assert.equal(apply().hidden, true, 'the client may do that already');
  choose('denied');
  apply().focus();
  apply().click();
  await turns();
  const decision = { op: 'client.authorize', client: 'frame', status: 'denied', level: 'readWrite' };
  assert.deepEqual([commits.splice(0), apply().hidden, select.value], [[decision], false, 'denied']);
  // What failed can be tried again, and the keyboard stays at the choice.
  isDone = true;
  state.clients = [client('television'), client('frame', { accessKind: 'none',
    authorizationStatus: { readWrite: 'denied', addOnly: 'notDetermined' } })];
  apply().click();
  await turns();
  assert.deepEqual([commits, apply().hidden], [[decision], true]);
  assert.equal(document.activeElement, card('frame').querySelector('select'));
});
