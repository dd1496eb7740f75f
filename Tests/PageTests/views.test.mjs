// What views do with pointers, keys, the focus and answers of the server, in a tree of elements without a browser.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Element } from './dom.mjs';
import { at, document, frame, gridOf, item, keyOn, load, popped, settled, streams, viewerAt } from './frame.mjs';

const { PhotoLedger, Problem } = await load('client/photoledger.js');
const { List } = await load('model/list.js');
const { App } = await load('views/app.js');
const { h } = await load('views/dom.js');

test('the document says the language of the page', () => {
  assert.equal(document.documentElement.lang, 'en');
});

test('what has a clock is shown by it, and what is only an instant by the reader’s', async () => {
  const { spoken } = await load('views/tile.js');
  const { dateForm, dateInWords } = await load('views/viewer-forms.js');
  const clock = (one) => /\d\d:\d\d/.exec(spoken(one))[0];
  assert.equal(clock(item('a')), '12:00');
  assert.equal(clock(item('a', { offset: 7200 })), '14:00');
  assert.equal(clock(item('a', { hasClock: false })), '07:00');
  assert.equal(clock(item('a', { mediaType: 2, hasClock: false })), '07:00');
  assert.equal(clock(item('a', { mediaType: 2 })), '12:00');
  assert.equal(clock(item('a', { mediaType: 2, offset: 7200 })), '14:00');
  const words = (creationDate, localCreationDate = null) => dateInWords({ creationDate, localCreationDate });
  assert.deepEqual(words('2024-01-31T12:00:00Z'),
    { date: 'Wednesday, 31 January 2024 at 07:00:00', zone: 'Eastern Standard Time' });
  assert.equal(words('2024-07-31T12:00:00Z').zone, 'Eastern Daylight Time');
  assert.deepEqual(words('2024-01-31T12:00:00Z', '2024-01-31T12:00:00'),
    { date: 'Wednesday, 31 January 2024 at 12:00:00', zone: 'Unknown time zone' });
  assert.deepEqual(words('2024-01-31T12:00:00+02:00'),
    { date: 'Wednesday, 31 January 2024 at 12:00:00', zone: 'UTC+02:00' });
  assert.equal(words(null), null);
  // What is shown is where an edit begins.
  const form = dateForm({ creationDate: '2024-01-31T12:00:00Z', localCreationDate: null }, {});
  const [day, time] = form.querySelectorAll('input');
  assert.deepEqual([day.value, time.value], ['2024-01-31', '07:00:00']);
  assert.equal(form.querySelectorAll('option').find((one) => one.selected).getAttribute('value'), '-18000');
});

test('older commits that could not be read are not asked for again by themselves', async (context) => {
  const { IntersectionObserver } = globalThis;
  context.after(() => { globalThis.IntersectionObserver = IntersectionObserver; });
  let observer = null;
  globalThis.IntersectionObserver = class {
    constructor(look) {
      this.look = look;
      this.targets = new Set();
      observer = this;
    }

    // As browsers do, it says at once what is in view.
    observe(one) {
      this.targets.add(one);
      setImmediate(() => { if (this.targets.has(one)) this.look([{ isIntersecting: true }]); });
    }

    unobserve(one) { this.targets.delete(one); }

    disconnect() {}
  };
  let count = 0;
  let isAway = true;
  const app = frame(0, async (method, path, { query } = {}) => {
    if (path !== '/v1/log') return { clients: [] };
    const isOlder = typeof query.cursor === 'number';
    if (isOlder) count += 1;
    if (isOlder && isAway) throw new Error('not now');
    const sequence = isOlder ? query.cursor - 1 : 100;
    return { records: [{ sequence, token: `t${sequence}`, date: '2024-01-31T12:00:00Z', client: 'owner', process: 'x',
      cause: null, type: 'library.created', objects: [], payload: {} }], next: sequence > 95 ? sequence : null };
  });
  const { open } = await load('views/history.js');
  const view = await open(app, at('#/history', app));
  const turns = async () => { for (let turn = 0; turn < 10; turn += 1) await settled(); };
  await turns();
  assert.equal(count, 1, 'nothing is asked for again');
  assert.deepEqual([app.failures.length, observer.targets.size], [1, 0]);
  isAway = false;
  const [button] = view.element.querySelector('.history-foot').querySelectorAll('button');
  assert.equal(button.disabled, false);
  button.click();
  await turns();
  assert.equal(count, 6, 'the person asks again, and it goes on by itself to the end');
  observer.targets.clear();
  view.close();
});

test('the history keeps the newest of the commits that arrive while its top is looked at, and reads the others again',
  async () => {
    const { open } = await load('views/history.js');
    const event = (sequence) => ({ sequence, token: `t${sequence}`, date: '2024-01-31T12:00:00Z', client: 'owner',
      process: 'x', cause: null, causation: null, type: 'library.created', objects: [], payload: {} });
    let head = 1;
    const app = Object.assign(frame(0, async (method, path, { query } = {}) => {
      if (path !== '/v1/log') return { clients: [] };
      const newest = typeof query.cursor === 'number' ? query.cursor - 1 : head;
      const count = Math.min(newest, query.limit);
      return { records: Array.from({ length: count }, (_, place) => event(newest - place)),
        next: newest > count ? newest - count + 1 : null };
    }), { main: h('main') });
    let follower = null;
    app.feed.follow = (fetch, token, one) => {
      follower = one;
      return () => {};
    };
    const view = await open(app, at('#/history', app));
    const turns = async () => { for (let turn = 0; turn < 10; turn += 1) await settled(); };
    await turns();
    const commit = async () => {
      head += 1;
      follower.onChange({ before: `t${head - 1}`, items: { isComplete: true, records: [event(head)] } });
      await turns();
    };
    const cards = () => view.element.querySelectorAll('.commit').map((one) => one.dataset.token);
    const tokens = (count) => Array.from({ length: count }, (_, place) => `t${head - place}`);
    // What lies further down is looked at, and stays.
    app.main.scrollTop = 1;
    while (head < 405) await commit();
    assert.deepEqual(cards(), tokens(405));
    app.main.scrollTop = 0;
    while (head < 410) await commit();
    const before = cards().length;
    assert.deepEqual(cards(), tokens(before));
    assert.ok(before < 300, `${before} cards`);
    view.element.querySelector('.history-foot').querySelector('button').click();
    await turns();
    assert.deepEqual(cards(), tokens(before + 100));
    view.close();
  });

test('a drag from a mark picks what it passes, once for each photo, and from a picked one takes out', async (context) => {
  const { Picked } = await load('views/picked.js');
  const { Dragging } = await load('views/dragging.js');
  const app = frame(9);
  const list = await List.open(app.client, {}, { isLaidOut: true });
  const taps = [];
  app.client.ask = async (method, path, { json }) => { taps.push(json); };
  const presentation = { session: 's', limit: 0, selection: [], withheld: [], state: 'open', ordered: true };
  const picked = new Picked(app.client, presentation, (error) => { throw error; });
  picked.list = list;
  let sets = 0;
  const { set } = picked;
  picked.set = (...parts) => {
    sets += 1;
    return set.apply(picked, parts);
  };
  const scroll = h('div');
  const grid = {
    scroll, layer: h('div'), element: h('div'), list, selection: picked, options: {},
    indexAt: (x) => Math.floor(x / 100), scroller: { top: 0, setTop: () => {} }, scrolled: () => {},
  };
  const { requestAnimationFrame } = globalThis;
  globalThis.requestAnimationFrame = () => {};
  context.after(() => { globalThis.requestAnimationFrame = requestAnimationFrame; });
  const dragging = new Dragging(grid);
  const at = (index, more = {}) => {
    const tile = h('div', { class: 'tile', 'data-index': index });
    tile.getBoundingClientRect = () => ({ left: 100 * index, top: 0, width: 100, height: 100 });
    return { button: 0, pointerId: 1, pointerType: 'mouse', shiftKey: false, target: tile, clientX: 100 * index + 9,
      clientY: 9, ...more };
  };
  dragging.down(at(1));
  for (const x of [120, 140, 210, 230, 260, 310, 330]) dragging.move(at(0, { clientX: x }));
  dragging.up(at(3));
  await settled();
  assert.deepEqual(picked.ids, ['a1', 'a2', 'a3']);
  assert.equal(sets, 3, 'the press and two photos');
  dragging.down(at(2));
  dragging.move(at(3));
  dragging.up(at(3));
  await settled();
  assert.deepEqual(picked.ids, ['a1'], 'taken out');
  assert.deepEqual(taps.map((tap) => Object.entries(tap)[0].join(' ')),
    ['select a1', 'select a2', 'select a3', 'deselect a2', 'deselect a3']);
});

/** A pointer over a tile of a grid. */
const pointer = (pointerId, index, more = {}) => ({
  button: 0, pointerId, pointerType: 'touch', isPrimary: pointerId === 1, shiftKey: false,
  clientX: 100 * index, clientY: 60, target: h('div', { class: 'tile', 'data-index': index }), ...more,
});

/** A picking session, and a server that takes its taps. */
async function picking(answer) {
  const { Picked } = await load('views/picked.js');
  const taps = [];
  const client = Object.assign(new PhotoLedger(), {
    ask: async (method, path, { json }) => {
      taps.push(json);
      return answer(json, taps.length);
    },
  });
  const presentation = { session: 's', limit: 0, selection: [], withheld: ['captions'], state: 'open', ordered: true };
  const said = [];
  const picked = new Picked(client, presentation, (error) => said.push(error.message));
  return { picked, taps, said, turns: async () => { for (let turn = 0; turn < 5; turn += 1) await settled(); } };
}

test('an app gets what was picked only after it is known what is left out of it', async () => {
  let go = () => {};
  const { picked, taps, turns } = await picking((tap) => tap.withhold ? new Promise((done) => { go = done; }) : null);
  picked.tap('a', true);
  const sent = picked.withhold('location', true);
  picked.tap('b', true);
  const finished = picked.finish();
  picked.tap('c', true);
  await turns();
  assert.deepEqual(taps, [{ select: 'a' }, { withhold: ['captions', 'location'] }], 'nothing overtakes it');
  go(null);
  await sent;
  assert.deepEqual(picked.presentation.withheld, ['captions', 'location']);
  assert.equal(await finished, 2, 'c was pressed afterwards');
  assert.deepEqual(taps.slice(2, 4), [{ select: 'b' }, { finish: true }]);
});

test('an app gets nothing yet if a press before it failed, until the person adds again', async () => {
  let isRefused = true;
  const { picked, taps, said } = await picking(({ withhold, select }) => {
    if (isRefused && (withhold || select === 'b')) throw new Problem(403, 'access-denied', 'no');
    return null;
  });
  picked.tap('a', true);
  picked.tap('b', true);
  assert.equal(await picked.finish(), null);
  assert.deepEqual([said, picked.ids], [['no'], ['a']]);
  const withheld = picked.withhold('location', true);
  const finished = picked.finish();
  await assert.rejects(withheld, /no/);
  assert.equal(await finished, null);
  assert.ok(!taps.some((tap) => tap.finish));
  isRefused = false;
  assert.equal(await picked.finish(), 1);
});

test('a press that did not arrive is sent again before the app gets anything', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { picked, taps, said, turns } = await picking((tap, count) => {
    if (count === 1) throw new Problem(0, 'not-reached', 'The server was not reached.');
    return null;
  });
  picked.tap('a', true);
  const finished = picked.finish();
  await turns();
  assert.deepEqual(taps, [{ select: 'a' }]);
  context.mock.timers.tick(250);
  assert.equal(await finished, 1);
  assert.deepEqual([taps, said], [[{ select: 'a' }, { select: 'a' }, { finish: true }], []]);
});

test('presses behind one that did not arrive are tried once, and Cancel waits for none of them', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { picked, taps, said, turns } = await picking(({ cancel }) => {
    if (!cancel) throw new Problem(0, 'not-reached', 'The server was not reached.');
    return null;
  });
  for (const id of ['a', 'b', 'c']) picked.tap(id, true);
  const withheld = picked.withhold('location', true);
  withheld.catch(() => {});
  let given;
  picked.finish().then((count) => { given = count; });
  await turns();
  let isCancelled = false;
  picked.cancel().then(() => { isCancelled = true; });
  await turns();
  assert.ok(isCancelled, 'while the first one is sent again');
  for (const pause of [250, 500, 1000, 2000]) {
    context.mock.timers.tick(pause);
    await turns();
  }
  await turns();
  const attempts = ['a', 'b', 'c'].map((id) => taps.filter(({ select }) => select === id).length);
  assert.deepEqual([attempts, given, said.length, picked.ids], [[5, 1, 1], null, 3, []]);
  await assert.rejects(withheld, { type: 'not-reached' });
  assert.ok(!taps.some(({ finish }) => finish));
});

test('fingers that come to a pinch or leave it do nothing else', async (context) => {
  const grid = await gridOf(frame(9));
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { dragging } = grid;
  const opened = [];
  grid.addEventListener('open', ({ index }) => opened.push(index));
  grid.indexAt = () => 0;
  dragging.down(pointer(1, 1));
  dragging.down(pointer(2, 3));
  dragging.down(pointer(3, 5));
  context.mock.timers.tick(1000);
  assert.equal(grid.selection.count, 0, 'the third one selects nothing');
  dragging.move(pointer(2, 9));
  assert.equal(grid.level, 1, 'the two others enlarge');
  dragging.up(pointer(1, 1));
  dragging.move(pointer(2, 8));
  dragging.move(pointer(3, 2));
  dragging.up(pointer(3, 5));
  dragging.up(pointer(2, 8));
  assert.deepEqual([grid.level, opened, dragging.state], [1, [], 'none']);
  grid.close();
});

test('a tap opens a photo though a mouse was released outside of the grid before', async () => {
  const grid = await gridOf(frame(9), { isReorderable: true });
  const { dragging } = grid;
  const opened = [];
  grid.addEventListener('open', ({ index }) => opened.push(index));
  const mouse = { pointerType: 'mouse', isPrimary: true };
  dragging.down(pointer(7, 2, mouse));
  dragging.down(pointer(1, 4));
  dragging.up(pointer(7, 2, mouse));
  dragging.up(pointer(1, 4));
  assert.deepEqual(opened, [4]);
  grid.close();
});

/** A picture of a film whose rendition the server refuses, or whatever a test has it answer. */
async function filmOf(answer) {
  const { Picture } = await load('views/viewer-picture.js');
  const app = frame();
  const asked = [];
  app.client.response = async (method, path) => {
    asked.push(path);
    return answer(path);
  };
  const picture = new Picture(app);
  const film = item('f', { mediaType: 2 });
  const asset = { resources: [{ type: 'video', sha256: film.sha256, originalFilename: 'film.mkv' }] };
  return { picture, film, asset, asked, original: app.client.resourceURL('f', film.sha256) };
}

const refusal = () => new Problem(422, 'unsupported', 'Not a codec of mine.');

test('a film whose rendition is refused plays from its original, whichever is learned first', async () => {
  for (const isLate of [true, false]) {
    const { picture, film, asset, original } = await filmOf(() => { throw refusal(); });
    picture.show(film);
    if (!isLate) picture.setAsset(asset);
    picture.media.onerror();
    await settled();
    if (isLate) {
      assert.equal(picture.media, null);
      picture.setAsset(asset);
    }
    assert.equal(picture.media.src, original);
    assert.equal(picture.frame.querySelectorAll('video').length, 1);
    assert.match(picture.status.textContent, /Not a codec/);
    picture.media.onloadedmetadata();
    assert.equal(picture.status.textContent, '');
    // What is learned later lays nothing over the film.
    const { media } = picture;
    picture.setAsset({ ...asset });
    assert.equal(picture.status.textContent, '');
    assert.equal(picture.media, media);
  }
});

test('a Live Photo plays the film that belongs to its version, and an edit of the still alone plays none', async () => {
  const { Picture } = await load('views/viewer-picture.js');
  const [still, film, render, cut] = ['photo', 'pairedVideo', 'fullSizePhoto', 'fullSizePairedVideo']
    .map((type) => ({ type, sha256: type, originalFilename: type }));
  for (const [shown, mediaSubtypes, resources, played] of [
    [still, ['photoLive'], [still, film], film], [still, [], [still], undefined],
    [render, ['photoLive'], [still, film, render, cut], cut], [render, [], [still, film, render], undefined],
    [render, ['photoLive'], [still, film, render], film],
  ]) {
    const picture = new Picture(frame());
    picture.show(item('l', { sha256: shown.sha256 }));
    picture.setAsset({ resources, mediaSubtypes });
    assert.equal(picture.liveResource?.type, played?.type);
  }
});

test('a film that plays from neither says so, and is not tried for ever', async () => {
  const { picture, film, asset, asked } = await filmOf((path) => {
    if (path.includes('/renditions/')) throw refusal();
    return { body: null };
  });
  picture.show(film);
  picture.setAsset(asset);
  for (let turn = 0; turn < 20 && picture.media; turn += 1) {
    picture.media.onerror();
    await settled();
  }
  assert.equal(picture.media, null);
  const count = asked.length;
  const sentence = picture.status.textContent;
  picture.setAsset({ ...asset });
  await settled();
  assert.equal(picture.media, null, 'nor when something is learned of it');
  assert.equal(asked.length, count);
  assert.notEqual(sentence, '');
});

test('a grid is shown and made larger where the browser keeps nothing', async () => {
  const { localStorage } = globalThis;
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true, get: () => { throw new Error('SecurityError'); },
  });
  const grid = await gridOf(frame(3));
  assert.equal(grid.level, 2);
  grid.zoom(-1);
  assert.equal(grid.level, 1);
  grid.close();
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, writable: true, value: localStorage });
});

test('on a large screen every press of larger and smaller that is offered changes the pictures', async () => {
  const grid = await gridOf(frame(3));
  let seen = 0;
  grid.addEventListener('zoom', () => { seen += 1; });
  const target = () => grid.list.blocks.metrics.target;
  for (const [width, height] of [[3840, 2000], [2560, 1300], [400, 700]]) {
    Object.assign(grid.scroll, { clientWidth: width, clientHeight: height });
    grid.level = 5;
    const last = seen;
    grid.measure();
    assert.ok(seen > last, 'what can be pressed is asked for again when there is another size');
    for (const step of [-1, 1]) {
      for (let presses = 0; grid.canZoom(step); presses += 1) {
        assert.ok(presses < 6);
        const before = target();
        grid.zoom(step);
        assert.notEqual(target(), before, `${width} ${step} ${grid.level}`);
      }
      const { level } = grid;
      grid.zoom(step);
      assert.equal(grid.level, level);
    }
  }
  Object.assign(grid.scroll, { clientWidth: 3840, clientHeight: 2000 });
  grid.level = 2;
  grid.measure();
  assert.equal(grid.canZoom(1), false);
  grid.zoom(0);
  assert.equal(grid.level, 2);
  grid.close();
});

test('two fingers on a touchpad change the size of the pictures by their way, and a wheel by one for each notch',
  async (context) => {
    const grid = await gridOf(frame(3));
    context.after(() => grid.close());
    const steps = [];
    grid.zoom = (step) => steps.push(step);
    let now = 0;
    const turn = (deltaY, { pause = 16, deltaMode = 0 } = {}) => {
      const event = Object.assign(new Event('wheel', { cancelable: true }),
        { ctrlKey: true, deltaY, deltaMode, clientX: 0, clientY: 0 });
      Object.defineProperty(event, 'timeStamp', { value: now += pause });
      grid.scroll.dispatchEvent(event);
      assert.ok(event.defaultPrevented);
      return steps.splice(0);
    };
    const fingers = (deltaY, count) => Array.from({ length: count }, () => turn(deltaY)).flat();
    assert.deepEqual(fingers(2, 19), []);
    assert.deepEqual(fingers(2, 1), [1]);
    assert.deepEqual(fingers(2, 30), [1]);
    // The other way begins anew, and so does what comes after a rest.
    assert.deepEqual(fingers(-10, 3), []);
    assert.deepEqual(fingers(-10, 1), [-1]);
    assert.deepEqual([...fingers(-10, 3), ...turn(-10, { pause: 300 })], []);
    for (const notch of [[120, {}], [3, { deltaMode: 1 }], [-100, { pause: 900 }]]) {
      assert.deepEqual(turn(...notch), [Math.sign(notch[0])]);
    }
  });

test('Escape clears a selection and leaves the dialog around it, which the next one dismisses', async () => {
  const grid = await gridOf(frame(3));
  const escape = () => {
    const event = Object.assign(new Event('keydown', { cancelable: true }), { key: 'Escape' });
    grid.key(event);
    return event.defaultPrevented;
  };
  grid.selection.set(0, 2, true);
  assert.deepEqual([escape(), grid.selection.count, escape()], [true, 0, false]);
  grid.close();
});

test('keys with Alt, Ctrl or Cmd are the browser’s, but for what the grid has of them', async () => {
  const press = (grid, key, more = {}) => {
    let isTaken = false;
    grid.key({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more,
      preventDefault: () => { isTaken = true; } });
    return isTaken;
  };
  const grid = await gridOf(frame(9));
  grid.list.blocks.measure({ width: 800, target: 100, gap: 4 }, 0);
  assert.equal(press(grid, 'ArrowRight'), true);
  assert.equal(grid.cursor, 1);
  for (const modifier of ['altKey', 'ctrlKey', 'metaKey']) {
    for (const key of ['ArrowLeft', 'ArrowRight', 'Home', 'Enter', ' ', '+', '-']) {
      assert.equal(press(grid, key, { [modifier]: true }), false, `${modifier} ${key}`);
    }
  }
  assert.deepEqual([grid.cursor, grid.level, grid.selection.count], [1, 2, 0]);
  press(grid, '+', { shiftKey: true });
  assert.equal(grid.level, 1);
  assert.equal(press(grid, 'a', { metaKey: true }), true);
  assert.equal(grid.selection.count, 9);
  grid.close();
  const ordered = await gridOf(frame(9), { isReorderable: true });
  ordered.list.blocks.measure({ width: 800, target: 100, gap: 4 }, 0);
  const moves = [];
  ordered.addEventListener('move', ({ indexes, before }) => moves.push([indexes, before]));
  assert.equal(press(ordered, 'ArrowRight', { altKey: true }), true);
  assert.equal(press(ordered, 'ArrowRight', { altKey: true, metaKey: true }), false);
  assert.equal(press(ordered, '+', { altKey: true }), false);
  assert.deepEqual(moves, [[[0], 2]]);
  ordered.close();
});

test('looking back without a date stays when its photo is closed, and begins anew when its date is left', async () => {
  const { open } = await load('views/moment.js');
  const record = (sequence) => ({ sequence, token: `t${sequence}`, date: '2024-01-31T12:00:00Z', client: 'owner',
    cause: null, type: 'library.created', objects: [], payload: {} });
  const app = frame(0, async (method, path, { query = {} } = {}) =>
    path === '/v1/log' ? { records: [record(query.at === 't1' ? 1 : 2)], next: null } : { clients: [] });
  const view = await open(app, at('#/moment', app));
  const grid = view.element.querySelector('.grid');
  assert.equal(view.update(at('#/moment?photo=a', app)), true);
  assert.equal(view.update(at('#/moment', app)), true, 'the photo is closed');
  assert.equal(view.element.querySelector('.grid'), grid);
  // The moment that is shown, by its name.
  view.update(at('#/moment?at=t1', app));
  for (let turn = 0; turn < 5; turn += 1) await settled();
  assert.equal(view.update(at('#/moment', app)), false, 'the view of now is another one');
  view.close();
});

test('a search that is written differently and finds the same keeps its photos when one is closed', async () => {
  const { open } = await load('views/search.js');
  const app = frame(0, async () => ({ collections: [], token: 't' }));
  const view = await open(app, at('#/search?q=harbour', app));
  for (let turn = 0; turn < 20; turn += 1) await settled();
  const grid = view.element.querySelector('.grid');
  assert.ok(grid, 'the photos are shown');
  view.field.value = 'harbour ';
  view.settle();
  for (let turn = 0; turn < 20; turn += 1) await settled();
  assert.equal(location.hash, '#/search?q=harbour+');
  assert.equal(view.update(at('#/search?q=harbour+&photo=a', app)), true);
  assert.equal(view.update(at('#/search?q=harbour+', app)), true);
  assert.equal(view.element.querySelector('.grid'), grid);
  view.close();
});

test('Enter searches for the same text again after a failure, and only then', async () => {
  const { open } = await load('views/search.js');
  const app = frame(0, async () => ({ collections: [], token: 't' }));
  const { openFetch } = app.client;
  let count = 0;
  app.client.openFetch = async () => {
    count += 1;
    throw new Problem(0, 'not-reached', 'Not reached.');
  };
  const view = await open(app, at('#/search?q=harbour', app));
  const turns = async () => { for (let turn = 0; turn < 20; turn += 1) await settled(); };
  await turns();
  assert.equal(view.element.querySelector('.grid'), null);
  assert.equal(count, 1);
  app.client.openFetch = async (...options) => {
    count += 1;
    return openFetch(...options);
  };
  const enter = () => view.element.querySelector('form').dispatchEvent(new Event('submit', { cancelable: true }));
  enter();
  await turns();
  assert.ok(view.element.querySelector('.grid'), 'the photos are shown');
  const asked = count;
  assert.ok(asked > 1);
  enter();
  await turns();
  assert.equal(count, asked);
  view.close();
});

test('the grid has the focus when the bar of a selection goes with the button that had it', async () => {
  const { barOf } = await load('views/actions.js');
  const app = frame(3);
  const grid = await gridOf(app);
  const bar = barOf(app, grid, ['favorite'], { album: null });
  document.body.prepend(bar);
  grid.selection.set(0, 2, true);
  const [, all] = bar.querySelectorAll('button');
  all.focus();
  assert.equal(document.activeElement, all);
  grid.selection.clear();
  assert.equal(bar.hidden, true);
  assert.equal(document.activeElement, grid.scroll);
  // What has it elsewhere keeps it.
  const other = h('button');
  document.body.append(other);
  grid.selection.set(0, 1, true);
  other.focus();
  grid.selection.clear();
  assert.equal(document.activeElement, other);
  grid.close();
});

test('a view that is made anew has the focus where the one before it had it', async () => {
  const views = {
    first: () => h('section', { 'aria-label': 'Kind' }, h('select', { 'aria-label': 'Kind' }),
      h('button', null, 'Other')),
    second: () => h('section', null, h('p')),
  };
  const open = async (app, { name }) => ({ title: name, element: views[name]() });
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open }, second: { open } });
  const outside = h('button');
  document.body.replaceChildren(outside, app.nav, app.main);
  at('#/first', app);
  await app.go();
  assert.equal(document.activeElement, document.body, 'a first view takes nothing');
  const chosen = app.main.querySelector('select');
  chosen.focus();
  await app.renew();
  assert.notEqual(app.main.querySelector('select'), chosen);
  assert.equal(document.activeElement, app.main.querySelector('select'));
  // Twice at once: the first of both is never shown.
  await Promise.all([app.renew(), app.renew()]);
  assert.equal(document.activeElement, app.main.querySelector('select'));
  app.main.querySelector('button').focus();
  at('#/second', app);
  await app.go();
  assert.equal(document.activeElement, app.main, 'what has no name there');
  outside.focus();
  at('#/first', app);
  await app.go();
  assert.equal(document.activeElement, outside, 'what is outside of the view keeps it');
});

/** Goes to an address in a new entry of the history, as a link does; with the state of an entry, back to that one. */
async function go(app, hash, state = null) {
  history.state = state;
  location.hash = hash;
  await app.go();
  return history.state;
}

test('Back leads to where a view was left, and a link to its top', async () => {
  let place = 'here';
  const returned = [];
  const open = async (app, { name }) => ({ title: name, element: h('section'), place: () => place,
    update: ({ query }) => query.has('photo'), returnTo: (to) => returned.push([name, to]) });
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open }, second: { open } });
  document.body.replaceChildren(app.main);
  const first = await go(app, '#/first');
  app.main.scrollTop = 700;
  const second = await go(app, '#/second');
  assert.deepEqual([app.main.scrollTop, returned], [0, []]);
  app.main.scrollTop = 90;
  place = 'there';
  await go(app, '#/first');
  assert.deepEqual([app.main.scrollTop, returned], [0, []], 'another entry of the same address');
  await go(app, '#/second', second);
  assert.deepEqual([app.main.scrollTop, returned.pop()], [90, ['second', 'there']]);
  await go(app, '#/first', first);
  assert.deepEqual([app.main.scrollTop, returned.pop()], [700, ['first', 'here']]);
  // A photo over the view has an entry of its own, and what lies below it is the same view.
  const photo = await go(app, '#/first?photo=a', { photo: 'viewer' });
  assert.deepEqual(photo, { ...first, photo: 'viewer' });
  app.main.scrollTop = 40;
  await go(app, '#/second');
  await go(app, '#/first', first);
  assert.equal(app.main.scrollTop, 40);
  await app.renew();
  assert.equal(app.main.scrollTop, 40, 'a view that is made anew stays');
  for (let visit = 0; visit < 60; visit += 1) for (const name of ['second', 'first']) await go(app, `#/${name}`);
  assert.equal(app.places.size, 100, 'the oldest are forgotten');
});

test('what is committed before the first drawing leads the place of Back along', async () => {
  const step = { sections: [], items: [], removed: [], inserted: [], moved: [], changed: [] };
  let commit = () => {};
  const app = frame(900, async () => {
    commit({ ...step, inserted: [[0, 2]] });
    return { token: 't', index: 410 };
  });
  const grid = await gridOf(app);
  commit = (change) => grid.list.dispatchEvent(Object.assign(new Event('change'), { change }));
  await grid.returnTo({ index: 400, offset: -30, id: 'a400' });
  assert.deepEqual([grid.anchor, grid.cursor], [{ index: 412, offset: -30 }, 412]);
  commit({ ...step, inserted: [[0, 3]] });
  commit({ ...step, removed: [[400, 1], [415, 1]] });
  assert.deepEqual(grid.anchor, { index: 414, offset: -30 }, 'the photo after one that goes');
  grid.close();
});

test('Back leads to the same photos of the timeline, also if others came before them meanwhile', async () => {
  const { open } = await load('views/photos.js');
  const inner = frame(900);
  let index = 410;
  const asked = [];
  inner.client.ask = async (method, path, { query }) => {
    asked.push([path, query.asset]);
    if (index === undefined) throw new Problem(503, 'closed', 'Closed.');
    return { token: 't', index };
  };
  const other = async () => ({ title: '', element: h('section') });
  const app = new App(inner.client, { scopes: [] }, { photos: { open }, other: { open: other } });
  Object.assign(app, { feed: inner.feed });
  document.body.replaceChildren(app.main);
  const measured = () => {
    const { grid } = app.view;
    Object.assign(grid.scroll, { clientWidth: 800, clientHeight: 600 });
    grid.measure();
    return grid;
  };
  const state = await go(app, '#/photos');
  let grid = measured();
  grid.scroller.setTop(grid.topOf(400) + 30);
  grid.setAnchor();
  await grid.list.load(grid.anchor.index, 1);
  const { anchor } = grid;
  assert.ok(anchor.index > 390 && anchor.index < 410);
  const back = async () => {
    await go(app, '#/other');
    await go(app, '#/photos', state);
    return measured();
  };
  grid = await back();
  assert.deepEqual(asked, [['/v1/fetches/f/index', `a${anchor.index}`]]);
  assert.equal(grid.scroller.top, grid.topOf(410) - anchor.offset);
  assert.deepEqual(grid.anchor, { index: 410, offset: anchor.offset });
  assert.equal(grid.cursor, 410, 'the keyboard goes on there');
  const { top } = grid.scroller;
  // A photo that is gone, and a server that does not answer, leave the index.
  for (index of [null, undefined]) {
    grid = await back();
    assert.equal(grid.scroller.top, top, `${index}`);
  }
  grid.scroller.setTop(0);
  grid.setAnchor();
  asked.length = 0;
  grid = await back();
  assert.deepEqual([grid.scroller.top, asked], [0, []], 'at the top the list begins with what came');
  await go(app, '#/other');
});

test('Back leads to the kinds of media below the albums before their counts are read', async () => {
  const { open } = await load('views/albums.js');
  const app = treeFrame(() => []);
  const address = { name: 'albums', argument: '', query: new URLSearchParams() };
  const shown = (view) => view.element.querySelectorAll('[data-smart]').filter((one) => !one.hidden)
    .map((one) => one.dataset.smart);
  let answer = async () => ({ token: 't0', total: 2, columns: { localIdentifier: [] } });
  app.client.ask = async (method, path) => path === '/v1/collections' ? { token: 't0', collections: [] } : answer();
  const first = await open(app, address);
  for (let turn = 0; turn < 20; turn += 1) await settled();
  assert.ok(shown(first).includes('smartAlbumVideos'));
  answer = () => new Promise(() => {});
  const second = await open(app, address);
  assert.deepEqual(shown(second), []);
  second.returnTo(first.place());
  assert.deepEqual(shown(second), shown(first));
  assert.equal(second.element.querySelector('.media-types').hidden, false);
  for (const view of [first, second]) view.close();
});

test('a link in a dialog over a view leaves the focus in the next view', async () => {
  const link = h('a', { 'aria-label': 'Kind' });
  const dialog = h('dialog', null, link);
  const routes = {
    first: { open: async () => ({ title: 'first', element: h('section'), close: () => dialog.remove() }) },
    second: { open: async () => {
      const element = h('section', null, h('select', { 'aria-label': 'Kind' }));
      return { title: 'second', element };
    } },
  };
  const app = new App(new PhotoLedger(), { scopes: [] }, routes);
  document.body.replaceChildren(app.main, dialog);
  at('#/first', app);
  await app.go();
  link.focus();
  assert.equal(document.activeElement, link);
  at('#/second', app);
  await app.go();
  assert.equal(document.activeElement, app.main);
});

test('the keyboard stays in the view of a shared photo at its ends', async () => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const grid = await gridOf(frame(3));
  const dialog = openGuestViewer(grid, 0);
  const stage = dialog.querySelector('.guest-stage');
  const [back, next] = [dialog.querySelector('.guest-back'), dialog.querySelector('.guest-next')];
  await settled();
  assert.equal(document.activeElement, stage);
  for (const [button, isFirst] of [[next, false], [back, true]]) {
    button.focus();
    button.click();
    assert.equal(document.activeElement, button, 'in between it stays');
    button.click();
    assert.equal(button.disabled, true);
    assert.equal(document.activeElement, stage, isFirst ? 'at the first' : 'at the last');
    await settled();
  }
  const press = async (key, more = {}) => {
    dialog.dispatchEvent(Object.assign(new Event('keydown'), { key, ...more }));
    await settled();
  };
  const place = () => dialog.querySelector('.visually-hidden').textContent;
  const first = place();
  for (const modifier of ['altKey', 'ctrlKey', 'metaKey']) {
    await press('ArrowRight', { [modifier]: true });
    assert.equal(place(), first, modifier);
  }
  await press('ArrowRight');
  assert.notEqual(place(), first);
  dialog.close();
  await settled();
  assert.equal(document.activeElement, grid.scroll);
  grid.close();
});

test('a shared photo that is not loaded yet is waited for, and the viewer says why', async () => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const app = frame(3000);
  const { window } = app.client;
  let isAway = false;
  app.client.window = async (...parts) => {
    if (isAway) throw new Problem(0, 'not-reached', 'The server was not reached.');
    return window(...parts);
  };
  const grid = await gridOf(app);
  const dialog = openGuestViewer(grid, 2000);
  await settled();
  const [banner, stage] = ['.banner', '.guest-stage'].map((name) => dialog.querySelector(name));
  const source = () => stage.querySelector('img')?.src ?? null;
  assert.deepEqual([banner.hidden, source()], [true, '/v1/assets/a2000/renditions/hash-a2000/r3/large']);
  isAway = true;
  app.feed.isOpen = false;
  app.feed.dispatchEvent(new Event('connection'));
  dialog.dispatchEvent(Object.assign(new Event('keydown'), { key: 'ArrowRight' }));
  await settled();
  assert.deepEqual([banner.hidden, source(), stage.textContent], [false, null, 'Loading…'], 'no other in its place');
  isAway = false;
  app.feed.isOpen = true;
  app.feed.dispatchEvent(new Event('connection'));
  grid.list.retry();
  for (let turn = 0; turn < 10; turn += 1) await settled();
  assert.deepEqual([banner.hidden, source()], [true, '/v1/assets/a2001/renditions/hash-a2001/r3/large']);
  dialog.close();
  await settled();
  grid.close();
});

test('a shared photo that is edited while it is shown is shown as it is now, and others change nothing', async () => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const grid = await gridOf(frame(3));
  const dialog = openGuestViewer(grid, 0);
  await settled();
  const image = () => dialog.querySelector('.guest-stage').querySelector('img');
  const change = async (index, more) => {
    await grid.list.load(index, 1);
    const cell = grid.list.blocks.madeCell(index);
    cell.item = { ...cell.item, ...more };
    grid.list.dispatchEvent(Object.assign(new Event('change'), {
      change: { removed: [], inserted: [], changed: [[index, 1]], moved: [], count: 3 } }));
    await settled();
  };
  const first = image();
  await change(0, { isFavorite: true });
  await change(1, { sha256: 'cut' });
  assert.equal(image(), first);
  await change(0, { sha256: 'cut' });
  assert.equal(image().src, '/v1/assets/a0/renditions/cut/r3/large');
  dialog.close();
  await settled();
  grid.close();
});

test('a shared film that was not there in time is asked for again when the feed names it, and no other is', async () => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const grid = await gridOf(frame(3));
  const { list } = grid;
  await list.load(0, 3);
  for (const index of [0, 1]) {
    const cell = list.blocks.madeCell(index);
    cell.item = { ...cell.item, mediaType: 2, rendition: 'missing' };
  }
  const dialog = openGuestViewer(grid, 0);
  await settled();
  const film = () => dialog.querySelector('.guest-stage').querySelector('video');
  const name = async (id, more) => {
    list.takeRenditions([{ localIdentifier: id, sha256: `hash-${id}`, rendition: 'missing', play: 'missing', placeholder: null, ...more }]);
    await settled();
  };
  const first = film();
  await name('a0', { rendition: 'ready' });
  assert.equal(film(), first, 'it is still waited for');
  first.dispatchEvent(new Event('error'));
  await settled();
  const second = film();
  assert.notEqual(second, first, 'the feed has named it while it was waited for');
  second.dispatchEvent(new Event('error'));
  await name('a1', { play: 'ready' });
  assert.equal(film(), second);
  await name('a0', { rendition: 'ready', play: 'ready' });
  const third = film();
  assert.notEqual(third, second);
  assert.equal(third.src, '/v1/assets/a0/renditions/hash-a0/r3/play');
  third.dispatchEvent(new Event('error'));
  await name('a0', { rendition: 'ready', play: 'ready' });
  assert.equal(film(), third, 'the feed has said nothing new');
  dialog.close();
  await settled();
  grid.close();
});

test('a drag in a shared photo goes to the next one, and moves it while it is enlarged', async (context) => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const grid = await gridOf(frame(3));
  globalThis.visualViewport = Object.assign(new EventTarget(), { scale: 1 });
  context.after(() => { delete globalThis.visualViewport; });
  const dialog = openGuestViewer(grid, 0);
  await settled();
  const stage = dialog.querySelector('.guest-stage');
  const place = () => /(\d) of 3/.exec(dialog.querySelector('.visually-hidden').textContent)[1];
  const drag = async () => {
    for (const [name, clientX] of [['pointerdown', 300], ['pointerup', 200]]) {
      stage.dispatchEvent(Object.assign(new Event(name), { clientX, pointerType: 'touch' }));
    }
    await settled();
  };
  const scale = (value) => {
    globalThis.visualViewport.scale = value;
    globalThis.visualViewport.dispatchEvent(new Event('resize'));
  };
  scale(2);
  await drag();
  assert.deepEqual([place(), stage.style.touchAction], ['1', 'manipulation']);
  scale(1);
  await drag();
  assert.deepEqual([place(), stage.style.touchAction], ['2', '']);
  dialog.close();
  await settled();
  grid.close();
});

test('a picture that the page shows is not dragged, and one that is dragged is not uploaded', async () => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const { takeDrops } = await load('views/dropped.js');
  const { thumb } = await load('views/thumbs.js');
  const app = frame(1);
  const grid = await gridOf(app);
  const dialog = openGuestViewer(grid, 0);
  await settled();
  for (const place of [dialog.querySelector('.guest-stage'), thumb(app, item('a'))]) {
    assert.equal(place.querySelector('img').getAttribute('draggable'), 'false');
  }
  dialog.close();
  await settled();
  grid.close();
  // A browser gives a dragged picture as a file, whichever picture it is.
  const taken = [];
  const end = takeDrops('Drop', ({ chosen }) => taken.push(...chosen.map(({ file }) => file)));
  const drag = async (types, ...names) => {
    const items = [{ kind: 'file', getAsFile: () => 'photo.jpg' }];
    const dataTransfer = { types, items, setData: (type) => { types.push(type); } };
    const seen = [];
    for (const name of names) {
      dispatchEvent(Object.assign(new Event(name, { cancelable: true }), { dataTransfer }));
      seen.push(document.body.children.some((one) => one.className === 'drop-veil'));
      await settled();
    }
    return seen;
  };
  assert.deepEqual(await drag(['Files'], 'dragstart', 'dragenter', 'dragover', 'drop'), [false, false, false, false]);
  assert.deepEqual(taken, []);
  assert.deepEqual(await drag(['Files'], 'dragenter', 'dragover', 'drop'), [true, true, false]);
  assert.deepEqual(taken, ['photo.jpg']);
  end();
});

test('Back closes a shared photo, and closing it takes its entry out of the history', async (context) => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const grid = await gridOf(frame(3));
  const { back, pushState } = history;
  context.after(() => Object.assign(history, { back, pushState }));
  let pushes = 0;
  history.pushState = (...parts) => {
    pushes += 1;
    pushState(...parts);
  };
  history.state = null;
  const shown = () => document.body.querySelector('dialog');
  openGuestViewer(grid, 0);
  assert.notEqual(history.state, null);
  history.back();
  await settled();
  assert.equal(shown(), null);
  openGuestViewer(grid, 1);
  shown().close();
  await settled();
  assert.deepEqual([shown(), history.state, popped.size], [null, null, 0]);
  // The entry of a viewer that a reload has ended is used again.
  history.pushState({ photo: 'guest' }, '');
  openGuestViewer(grid, 0);
  assert.equal(pushes, 3);
  history.back();
  await settled();
  assert.deepEqual([shown(), history.state], [null, null]);
  // Browsers go back some time after they are asked. What is opened meanwhile stays, and has an entry then.
  let backs = 0;
  const close = async () => {
    const { back: arrive } = history;
    history.back = () => { backs += 1; };
    shown().close();
    await settled();
    return arrive;
  };
  openGuestViewer(grid, 0);
  let arrive = await close();
  openGuestViewer(grid, 1);
  arrive();
  await settled();
  assert.deepEqual([shown() !== null, history.state], [true, { photo: 'guest' }]);
  arrive = await close();
  openGuestViewer(grid, 2);
  await close();
  arrive();
  await settled();
  assert.deepEqual([shown(), history.state, popped.size, backs], [null, null, 0, 2], 'the page is not left');
  grid.close();
});

test('a visitor’s download is said in the viewer, and read once however often it is pressed', async () => {
  const { openGuestViewer } = await load('views/guest-viewer.js');
  const app = frame(2);
  const grid = await gridOf(app);
  const { element } = app.notices;
  grid.element.append(element);
  let finish = () => {};
  let count = 0;
  const dialog = openGuestViewer(grid, 0, { onDownload: () => new Promise((resolve) => {
    count += 1;
    finish = resolve;
  }) });
  await settled();
  assert.ok(dialog.contains(element));
  const [save] = dialog.querySelector('.guest-bar').querySelectorAll('button');
  save.click();
  save.click();
  assert.equal(count, 1);
  finish();
  await settled();
  save.click();
  assert.equal(count, 2);
  dialog.close();
  await settled();
  assert.equal(element.parentElement, grid.element);
  grid.close();
});

test('one viewer takes the place of another, and notices are where they were when it is closed', async () => {
  const { Viewing } = await load('views/viewing.js');
  const app = frame(3);
  const place = h('div', null, app.notices.element = h('div'));
  const grid = await gridOf(app);
  document.body.append(place);
  const viewing = new Viewing(app, grid, { question: {}, address: at('#/photos', app) });
  assert.deepEqual((await Promise.all([viewing.open(grid, 0), viewing.open(grid, 1)])).map((one) => one?.index),
    [undefined, 1], 'of two at once the last one');
  await viewing.open(grid, 2);
  await settled();
  assert.equal(document.body.querySelectorAll('dialog').length, 1);
  assert.equal(viewing.viewer.index, 2);
  assert.equal(viewing.viewer.dialog.contains(app.notices.element), true);
  viewing.viewer.close();
  await settled();
  assert.equal(app.notices.element.parentElement, place);
  assert.equal(viewing.viewer, null);
  viewing.close();
  grid.close();
});

test('a photo is led along with its list until its viewer is there, and one that is gone is not opened', async () => {
  const { Viewing } = await load('views/viewing.js');
  const app = frame(5);
  const said = [];
  app.notices.show = (sentence) => said.push(sentence);
  app.notices.element = h('div');
  const grid = await gridOf(app);
  const viewing = new Viewing(app, grid, { question: {}, address: at('#/photos', app) });
  const step = { sections: [], items: [], removed: [], inserted: [], moved: [], changed: [] };
  const commit = (change) => grid.list.dispatchEvent(Object.assign(new Event('change'), { change }));
  let opening = viewing.open(grid, 1);
  commit({ ...step, inserted: [[0, 2]] });
  commit({ ...step, removed: [[1, 1]] });
  assert.equal((await opening).index, 2);
  viewing.viewer.close();
  for (const change of [{ ...step, removed: [[1, 1]] }, null]) {
    at('#/photos?photo=a1', app);
    opening = viewing.open(grid, 1, 'a1');
    commit(change);
    assert.equal(await opening, null);
    assert.match(said.pop(), /does not exist/);
    assert.equal(location.hash, '#/photos');
  }
  viewing.close();
  grid.close();
});

test('the keys of a photo work after the button with the focus went, but not below another dialog', async (context) => {
  const viewer = await viewerAt(context, 0);
  const { download } = viewer.bar;
  download.hidden = false;
  download.focus();
  assert.equal(document.activeElement, download);
  download.hidden = true;
  const press = () => document.dispatchEvent(keyOn(document.activeElement, 'ArrowRight'));
  press();
  assert.equal(viewer.index, 1);
  const over = h('dialog');
  document.body.append(over);
  over.showModal();
  press();
  assert.equal(viewer.index, 1);
  over.remove();
  press();
  assert.equal(viewer.index, 2);
});

test('Delete moves a photo to the trash, but not on a button of the panel', async (context) => {
  const viewer = await viewerAt(context, 0);
  const commits = [];
  viewer.canChange = true;
  viewer.ask = async () => {};
  viewer.app.commit = async ([{ op }]) => { commits.push(op); };
  viewer.panel.element.hidden = false;
  const button = h('button');
  viewer.panel.element.append(button);
  const press = async (target, on = target) => {
    on.dispatchEvent(keyOn(target, 'Delete'));
    await settled();
    return commits.splice(0);
  };
  assert.deepEqual(await press(button, viewer.dialog), []);
  for (const target of [viewer.stage, viewer.bar.info]) {
    assert.deepEqual(await press(target, viewer.dialog), ['asset.trash']);
  }
  assert.deepEqual(await press(document.body, document), ['asset.trash']);
});

test('a notice that goes gives the focus back to what had it before, and stays while it has it', async (context) => {
  const { Notices } = await load('views/notice.js');
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const notices = new Notices();
  const before = h('button');
  document.body.replaceChildren(before, notices.element);
  const enter = (button, relatedTarget) => {
    button.focus();
    for (const one of [notices.element, button.parentElement]) {
      one.dispatchEvent(Object.assign(new Event('focusin'), { relatedTarget }));
    }
  };
  notices.show('Done', { action: 'Undo' });
  const [undo, close] = notices.element.querySelectorAll('button');
  enter(undo, before);
  enter(close, undo);
  undo.parentElement.dispatchEvent(new Event('pointerleave'));
  context.mock.timers.tick(60_000);
  assert.equal(document.activeElement, close, 'the pointer left it, and the keyboard did not');
  // The window comes back to it.
  enter(close, null);
  undo.click();
  assert.equal(document.activeElement, before);
  assert.equal(notices.former, null, 'what had the focus is not kept');
  // The oldest of many goes, too.
  for (const sentence of ['One', 'Two', 'Three']) notices.show(sentence);
  enter(notices.element.querySelector('button'), before);
  notices.show('Four');
  assert.equal(document.activeElement, before);
  // What has the focus elsewhere keeps it.
  const other = h('button');
  document.body.append(other);
  other.focus();
  context.mock.timers.tick(60_000);
  assert.deepEqual([document.activeElement, notices.element.childElementCount], [other, 0]);
});

test('a viewer whose list begins anew shows the same photo, or says that it is gone', async (context) => {
  const { openViewer } = await load('views/viewer.js');
  let photos = ['a0', 'a1', 'a2'];
  let token = 't0';
  let index = async () => { throw new Problem(503, 'closed', 'Closed.'); };
  let isAway = false;
  const app = frame(0, async (method, path, { query } = {}) => {
    if (path.endsWith('/index')) return index(query);
    if (path.endsWith('/changes')) throw new Problem(410, 'token-expired', 'That state is not kept.');
    return { fetch: 'f', token, count: photos.length };
  });
  app.client.openFetch = async () => ({ fetch: 'f', token, count: photos.length });
  app.client.window = async (fetch, state, start, count) => {
    if (isAway) throw new Error('not reached');
    return { items: photos.slice(start, start + count).map((id) => item(id)) };
  };
  app.notices.element = h('div');
  const list = await List.open(app.client, {});
  document.body.replaceChildren(app.notices.element);
  await list.load(0, 3);
  const viewer = openViewer(app, { list, setCursor: () => {}, scroll: h('div') }, 1);
  const shown = () => [viewer.item.id, viewer.index, viewer.dialog.dataset.id, viewer.message.hidden];
  assert.deepEqual(shown(), ['a1', 1, 'a1', true]);
  const begin = async (...now) => {
    photos = now;
    token = `t${now.length}`;
    list.take({ fetch: 'f', token });
    for (let turn = 0; turn < 20; turn += 1) await settled();
  };
  await begin('new', 'a0', 'a1', 'a2');
  assert.deepEqual(shown(), ['a1', 2, 'a1', true]);
  await begin('new', 'a0', 'a2', 'a3', 'a4');
  assert.deepEqual(shown(), ['a2', 2, 'a2', false]);
  assert.match(viewer.message.textContent, /no longer in this list/);
  // The server knows where it is, however many came before it.
  viewer.tell('');
  index = async ({ token: state, asset }) => ({ token: state, index: photos.indexOf(asset) });
  const many = Array.from({ length: 300 }, (_, place) => `b${place}`);
  await begin(...many, 'a2');
  assert.deepEqual(shown(), ['a2', 300, 'a2', true]);
  // While it cannot be read, it is not said to be gone.
  context.mock.timers.enable({ apis: ['setTimeout'] });
  isAway = true;
  await begin(...many, ...many, 'a2');
  for (let attempt = 0; attempt < 20; attempt += 1) {
    context.mock.timers.tick(1000);
    for (let turn = 0; turn < 20; turn += 1) await settled();
  }
  assert.deepEqual([viewer.item.id, viewer.index], ['a2', 600]);
  assert.match(viewer.message.textContent, /could not be loaded/);
  isAway = false;
  await list.load(600, 1);
  assert.deepEqual(shown(), ['a2', 600, 'a2', true]);
  context.mock.timers.reset();
  viewer.close();
  list.close();
});

/** Dismisses the dialog that is shown, as Escape does. */
async function dismiss() {
  document.body.querySelector('dialog').close();
  await settled();
  assert.equal(document.body.querySelector('dialog'), null);
}

test('what a form sent is given also if its dialog was dismissed before the answer', async () => {
  const { formDialog } = await load('views/forms.js');
  const submit = () => document.body.querySelector('form').dispatchEvent(new Event('submit', { cancelable: true }));
  const outcomes = [];
  const shown = (send) => { formDialog('Title', 'Do it', [], send).then((value) => outcomes.push(value)); };
  let answer;
  const send = () => new Promise((resolve, reject) => { answer = { resolve, reject }; });
  for (const end of [() => answer.resolve('a secret'), () => answer.reject(new Error('refused'))]) {
    shown(send);
    submit();
    await dismiss();
    end();
    await settled();
  }
  assert.deepEqual(outcomes, ['a secret', undefined]);
  // Dismissed with nothing on its way: never sent, or failed.
  shown(send);
  await dismiss();
  shown(send);
  submit();
  answer.reject(new Error('refused'));
  await settled();
  assert.equal(document.body.querySelector('dialog .problem').textContent, 'refused');
  await dismiss();
  assert.deepEqual(outcomes.slice(2), [undefined, undefined]);
});

test('a form says that what it asked for may have been made though no answer came', async () => {
  const { make } = await load('views/forms.js');
  let problem = new Problem(0, 'not-reached', 'The server was not reached.');
  const app = frame(0, async () => { throw problem; });
  const ask = () => make(app, '/v1/shares', {}, 'nav.people');
  await assert.rejects(ask(), /not reached\..* may have been created .*People and keys/);
  problem = new Problem(400, 'limit-exceeded', 'too many');
  await assert.rejects(ask(), { message: 'too many' });
});

test('an undo is said, and can be undone, also if its dialog was dismissed before the answer', async () => {
  const { undoDialog } = await load('views/undo.js');
  const app = frame();
  const said = [];
  app.notices.show = (sentence, { action } = {}) => said.push([sentence, action]);
  let answer;
  app.client.undo = ({ plan }) => plan ? Promise.resolve({ records: [], isComplete: true,
    summary: { commits: [1], changeCount: 1, conflictCount: 0, isRefused: false } })
    : new Promise((resolve, reject) => { answer = { resolve, reject }; });
  const begin = async () => {
    const outcome = undoDialog(app, 'Undo', [{ label: 'One commit', request: { commit: 't1' } }]);
    await settled();
    document.body.querySelectorAll('dialog .dialog-actions .main')[0].click();
    await dismiss();
    return outcome;
  };
  let outcome = begin();
  while (!answer) await settled();
  answer.resolve({ summary: { token: 't2' } });
  assert.equal(await outcome, true);
  assert.deepEqual(said, [['Undone', 'Undo']]);
  answer = undefined;
  outcome = begin();
  while (!answer) await settled();
  answer.reject(new Error('refused'));
  assert.equal(await outcome, false);
  assert.equal(said.length, 1);
});

test('the trash is emptied though some of it was restored or deleted meanwhile', async () => {
  const { purge } = await load('views/trash.js');
  const app = frame(3);
  const sent = [];
  const said = [];
  app.notices.show = (sentence) => said.push(sentence);
  const begin = async (ids) => {
    const outcome = purge(app, ids.length, async () => ids);
    await settled();
    document.body.querySelector('dialog .grave').click();
    return outcome;
  };
  const refusals = [new Problem(400, 'change-not-supported', 'not in the trash'), new Problem(404, 'not-found', 'gone')];
  app.client.commit = async ([{ assets }]) => {
    sent.push(assets);
    if (assets.length > 3) throw refusals.shift();
    return { token: 't1' };
  };
  // The trash has a0, a1 and a2.
  assert.equal(await begin(['a0/L0/001', 'a1/L0/001', 'b0/L0/001', 'a2/L0/001']), true);
  assert.deepEqual(sent, [['a0', 'a1', 'b0', 'a2'], ['a0', 'a1', 'a2']]);
  assert.deepEqual([said.pop(), app.failures], ['3 photos deleted', []]);
  // None is left: there is nothing to send, and nothing failed.
  assert.equal(await begin(['b0', 'b1', 'b2', 'b3']), true);
  assert.deepEqual([sent.length, said, app.failures], [3, [], []]);
  // What is refused for another reason fails, and is not sent again.
  app.client.commit = async () => { throw new Problem(400, 'limit-exceeded', 'too many'); };
  assert.equal(await begin(['a0', 'a1']), false);
  assert.deepEqual(app.failures.map((error) => error.message), ['too many']);
});

test('a part of the page that could not be loaded is loaded again, or the page is', async () => {
  const { later } = await load('views/later.js');
  const { fetch } = globalThis;
  let status = 0;
  let isKept = true;
  let loads = 0;
  globalThis.fetch = async () => {
    if (status === 0) throw new TypeError('fetch failed');
    return { status };
  };
  const reloads = [];
  const app = { reload: (_, sentence) => reloads.push(sentence) > 1 };
  const ask = () => later(app, async () => {
    loads += 1;
    if (status === 200 && !isKept) return 'module';
    throw new TypeError('Failed to fetch dynamically imported module: http://localhost/views/search.js');
  });
  const isOutdated = (error) => error.constructor.name === 'Outdated';
  try {
    await assert.rejects(ask(), (error) => error instanceof Problem && error.type === 'not-reached');
    status = 503;
    await assert.rejects(ask(), (error) => error instanceof Problem && error.type === 'not-reached');
    assert.deepEqual([loads, reloads], [2, []]);
    status = 200;
    // The browser keeps the failure. The page was loaded again for that before: the person does it.
    await assert.rejects(ask(), (error) => isOutdated(error) && /could not be loaded/.test(error.message));
    assert.deepEqual([loads, reloads.length], [4, 1]);
    let isOver = false;
    ask().finally(() => { isOver = true; });
    await settled();
    assert.deepEqual([reloads.length, isOver], [2, false], 'the page is left, and nothing goes on in it');
    isKept = false;
    assert.equal(await ask(), 'module');
    status = 404;
    app.reload = () => false;
    await assert.rejects(ask(), (error) => isOutdated(error) && /updated/.test(error.message));
    // What fails by itself is said, and the page stays.
    status = 200;
    await assert.rejects(later(app, async () => { throw new SyntaxError('no export'); }), SyntaxError);
  } finally {
    globalThis.fetch = fetch;
  }
});

test('what fails is thrown to who asks for that, unless some of it was committed', async () => {
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open: async () => ({}) } });
  const said = [];
  app.notices.show = (sentence) => said.push(sentence);
  const answers = [new Error('first')];
  app.client.commit = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  await assert.rejects(app.commit([], 'Done', { throws: true }), /first/);
  assert.deepEqual(said, []);
  answers.push({ token: 't1' }, new Error('second'));
  assert.equal(await app.commitAll([[], []], 'Done', { throws: true }), null);
  assert.equal(said.length, 2);
  assert.equal(said[0], 'second');
});

test('a page whose browser another person signs in with stops what it sends, and goes on with its own', async () => {
  const { Uploads } = await load('model/uploads.js');
  const own = { client: 'owner', person: 'dad', scopes: [] };
  let session = { client: 'family', person: 'anna' };
  const sent = [];
  const client = new PhotoLedger({ base: 'http://page', fetch: async (url, { method }) => {
    if (method !== 'GET') sent.push(`${method} ${url.pathname}`);
    return Response.json(url.pathname === '/v1/session' ? session : { token: 't', summary: { token: 't' } });
  } });
  const app = new App(client, own, { first: { open: async () => ({}) } });
  const said = [];
  app.notices.show = (sentence) => said.push(sentence);
  const uploads = new Uploads(app.client);
  uploads.sendNext = () => assert.equal(session, own, 'nothing is sent in the name of another');
  uploads.entries = [{ id: 'x', state: 'ready', size: 1 }];
  app.stayFor(uploads);
  await app.comeBack();
  assert.deepEqual([uploads.isPaused, app.ending.hidden, app.session.person], [true, false, 'dad']);
  assert.equal(await app.commit([], 'Done'), null);
  // The Undo of a notice that is still there, and what views ask by themselves.
  await app.undo('t');
  await assert.rejects(app.client.ask('POST', '/v1/shares', { json: {} }), /signed in with another account/);
  assert.deepEqual(said.map((sentence) => /signed in with another account/.test(sentence)), [true, true]);
  uploads.resume();
  await app.comeBack();
  assert.deepEqual([uploads.isPaused, sent], [true, []]);
  session = own;
  await app.comeBack();
  await settled();
  assert.deepEqual([uploads.isPaused, app.ending.hidden], [false, true]);
  await app.commit([], 'Done');
  await app.undo('t');
  assert.deepEqual(sent, ['POST /v1/blocks', 'POST /v1/undo']);
});

test('an upload whose session another of the same person replaced goes on, and asks once', async () => {
  const { Uploads } = await load('model/uploads.js');
  const own = { client: 'owner', person: 'dad', scopes: [] };
  const app = new App(new PhotoLedger(), own, { first: { open: async () => ({}) } });
  let asked = 0;
  app.client.ask = async () => {
    asked += 1;
    return own;
  };
  app.renew = () => {};
  app.feed.wake = () => {};
  const uploads = new Uploads(app.client);
  uploads.sendNext = () => {};
  uploads.entries = [{ id: 'x', state: 'ready', size: 1 }];
  app.stayFor(uploads);
  const refusal = new Problem(401, 'sign-in-required', 'Sign in.');
  uploads.trip(refusal, uploads.client);
  await settled();
  assert.deepEqual([uploads.isPaused, app.isSignedOut], [false, false]);
  // A server that goes on refusing is not asked without an end.
  const before = asked;
  uploads.trip(refusal, uploads.client);
  await settled();
  assert.deepEqual([uploads.isPaused, uploads.trouble, asked], [true, 'Sign in.', before]);
});

test('a session that has ended already is left for the plain sign-in', async () => {
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open: async () => ({}) } });
  const left = [];
  location.assign = (address) => left.push(address);
  let problem = new Problem(503, 'closed', 'Closed.');
  app.client.ask = async () => { throw problem; };
  await assert.rejects(app.signOut(), /Closed/);
  assert.deepEqual([left, app.isSigningOut], [[], false]);
  problem = new Problem(401, 'sign-in-required', 'Sign in.');
  await app.signOut();
  assert.deepEqual([left, app.isSigningOut], [['/sign-in'], true]);
});

test('a caption that could not be saved is in its field again when its photo is shown', async () => {
  const { Panel } = await load('views/viewer-panel.js');
  const app = frame();
  const said = [];
  app.notices.show = (sentence) => said.push(sentence);
  let isDone = false;
  const sent = [];
  const viewer = { app, canChange: true, commit: async ([{ caption }]) => {
    sent.push(caption);
    return isDone;
  } };
  const begin = () => {
    const panel = new Panel(viewer);
    panel.element.hidden = false;
    document.body.replaceChildren(panel.element);
    return panel;
  };
  const field = (panel, id) => {
    panel.drawCaption({ localIdentifier: id, caption: 'before' });
    // A browser gives a field its default by itself.
    if (panel.field.value === '') panel.field.value = panel.field.defaultValue;
    return panel.field;
  };
  let panel = begin();
  field(panel, 'one').value = 'written';
  panel.clear();
  assert.equal(field(panel, 'two').value, 'before');
  await settled();
  assert.deepEqual([sent, said.length], [['written'], 1]);
  panel.close();
  panel = begin();
  assert.equal(field(panel, 'one').value, 'written');
  assert.equal(panel.fieldSave.hidden, false);
  isDone = true;
  await panel.saveCaption();
  panel.clear();
  assert.equal(field(panel, 'one').value, 'before', 'what is saved is not kept');
  assert.deepEqual(sent, ['written', 'written']);
});

test('a page with a caption that could not be saved is not left when the session ends', async () => {
  const { Panel } = await load('views/viewer-panel.js');
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open: async () => ({}) } });
  const left = [];
  location.assign = (address) => left.push(address);
  let isDone = false;
  const panel = new Panel({ app, canChange: true, commit: async () => isDone });
  panel.element.hidden = false;
  document.body.replaceChildren(panel.element);
  const show = (id) => panel.drawCaption({ localIdentifier: id, caption: 'before' });
  show('one');
  panel.field.value = 'written';
  panel.clear();
  await settled();
  assert.equal(app.signedOut(), false);
  show('one');
  assert.equal(panel.field.value, 'written');
  isDone = true;
  await panel.saveCaption();
  assert.equal(app.signedOut(), true);
  assert.equal(left.length, 1);
});

test('a page with text that is not saved is not left when the session ends', () => {
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open: async () => ({}) } });
  const left = [];
  location.assign = (address) => left.push(address);
  const field = Object.assign(h('textarea'), { value: 'written', defaultValue: '' });
  document.body.replaceChildren(field);
  assert.equal(app.signedOut(), false);
  assert.deepEqual([left.length, app.ending.hidden], [0, false]);
  field.value = '';
  assert.equal(app.signedOut(), true);
  assert.equal(left.length, 1);
});

test('why a page has to be left is said in the dialog above all others, and in the page when that is closed', async () => {
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open: async () => ({}) } });
  location.assign = () => assert.fail('the page is left');
  const dialogs = [0, 1].map(() => h('dialog', { onclose: ({ target }) => target.remove() }, h('p')));
  const [under, over] = dialogs;
  const stage = h('div', null, app.banner, app.ending, app.above);
  over.append(Object.assign(h('textarea'), { value: 'written', defaultValue: '' }));
  document.body.replaceChildren(stage, ...dialogs);
  for (const one of dialogs) one.showModal();
  assert.equal(app.signedOut(), false);
  assert.deepEqual([app.ending.hidden, over.firstElementChild], [false, app.ending]);
  over.close();
  await settled();
  assert.equal(under.firstElementChild, app.ending);
  under.close();
  await settled();
  assert.deepEqual(stage.children, [app.banner, app.ending, app.above]);
});

test('a photo does not say that the server is not reached when the session has ended', async (context) => {
  const viewer = await viewerAt(context, 0);
  const { app } = viewer;
  const say = (name) => {
    app.feed.dispatchEvent(new Event(name));
    return viewer.offline.hidden;
  };
  assert.equal(viewer.offline.hidden, true);
  app.feed.isOpen = false;
  assert.equal(say('connection'), false);
  app.isSignedOut = true;
  assert.deepEqual([say('signedout'), say('connection')], [true, true]);
  app.isSignedOut = false;
  assert.equal(say('connection'), false);
});

test('a page whose session was ended by a sign-in in another tab goes on with the new one', async () => {
  const own = { client: 'family', person: 'anna', scopes: [] };
  const app = new App(new PhotoLedger(), own, { first: { open: async () => ({}) } });
  const watched = Object.assign(new EventTarget(), { again: () => { begun += 1; } });
  let begun = 0;
  let problem = null;
  app.client.ask = async () => {
    if (problem) throw problem;
    return own;
  };
  app.renew = () => {};
  app.feed.wake = () => {};
  app.watch(watched);
  const left = [];
  location.assign = (address) => left.push(address);
  document.body.replaceChildren();
  app.feed.dispatchEvent(new Event('signedout'));
  watched.dispatchEvent(new Event('signedout'));
  for (let turn = 0; turn < 10; turn += 1) await settled();
  assert.deepEqual([left, app.isSignedOut, app.ending.hidden, begun], [[], false, true, 1]);
  problem = new Problem(401, 'sign-in-required', 'Sign in.');
  watched.dispatchEvent(new Event('signedout'));
  for (let turn = 0; turn < 10; turn += 1) await settled();
  assert.deepEqual([left.length, app.isSignedOut], [1, true]);
});

test('an action of a selection that is pressed twice is done once', async () => {
  const { barOf } = await load('views/actions.js');
  const app = frame(3);
  const grid = await gridOf(app);
  const blocks = [];
  app.commitAll = async (block) => {
    blocks.push(block);
    return [];
  };
  const bar = barOf(app, grid, ['trash'], { album: null });
  grid.selection.set(0, 2, true);
  const button = bar.querySelectorAll('button').find((one) => one.getAttribute('data-action') === 'trash');
  button.click();
  button.click();
  await settled();
  assert.equal(blocks.length, 1);
  grid.selection.set(0, 1, true);
  button.click();
  await settled();
  assert.equal(blocks.length, 2, 'once more when the first is done');
  grid.close();
});

test('what is selected while an action is on its way stays selected', async () => {
  const { barOf } = await load('views/actions.js');
  const app = frame(9);
  const grid = await gridOf(app);
  let finish = () => {};
  app.commitAll = () => new Promise((resolve) => { finish = () => resolve([]); });
  const bar = barOf(app, grid, ['trash'], { album: null });
  const button = bar.querySelectorAll('button').find((one) => one.getAttribute('data-action') === 'trash');
  grid.selection.set(2, 4, true);
  button.click();
  await settled();
  grid.selection.toggle(7);
  // The action takes its photos out of the list, and another one comes in front.
  grid.list.take({ fetch: 'f', before: 't', after: 't1', count: 8, removed: [[2, 2]], inserted: [[0, 1]], moved: [],
    changed: [], items: { indexes: [], columns: { localIdentifier: [] }, isComplete: false }, sections: null });
  assert.deepEqual(grid.selection.ranges, [[6, 7]]);
  finish();
  await settled();
  assert.deepEqual(grid.selection.ranges, [[6, 7]]);
  // One that leaves its photos in the list, as favourites do, unselects them and no others.
  button.click();
  await settled();
  grid.selection.toggle(1);
  grid.list.take({ fetch: 'f', before: 't1', after: 't2', count: 9, removed: [], inserted: [[0, 1]], moved: [],
    changed: [], items: { indexes: [], columns: { localIdentifier: [] }, isComplete: false }, sections: null });
  finish();
  await settled();
  assert.deepEqual(grid.selection.ranges, [[2, 3]]);
  grid.selection.set(2, 3, false);
  grid.close();
});

test('an undo that fails is offered again, from where it failed', async () => {
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open: async () => ({}) } });
  const said = [];
  app.notices.show = (sentence, options = {}) => said.push([sentence, options]);
  const asked = [];
  let problem = new Problem(0, 'not-reached', 'Not reached.');
  app.client.undo = async ({ commit, plan }) => {
    asked.push(commit);
    if (plan) return { records: [], isComplete: true, summary: { token: null, isRefused: true, commits: ['t1'],
      changeCount: 1, conflictCount: 1, alreadyCount: 0 } };
    if (commit === 't1' && problem) throw problem;
    return { summary: { token: 'u' } };
  };
  await app.undo('t2', 't1', 't0');
  assert.deepEqual(said.map(([sentence]) => sentence), ['Part of it was undone before the error.', 'Not reached.']);
  problem = null;
  await said[1][1].onAction();
  assert.deepEqual([asked, said[2][0]], [['t2', 't1', 't1', 't0'], 'Undone']);
  problem = new Problem(409, 'conflict', 'It was changed since.');
  await app.undo('t1');
  said.at(-1)[1].onAction();
  for (let turn = 0; turn < 20; turn += 1) await settled();
  assert.equal(document.body.querySelector('dialog').querySelector('.undo-scope').textContent, 'This change');
  await dismiss();
});

test('a download leaves the page as it is', async (context) => {
  const { run } = await load('views/actions.js');
  const { click } = Element.prototype;
  context.after(() => { Element.prototype.click = click; });
  const saved = [];
  Element.prototype.click = function () { saved.push([this.getAttribute('href'), this.hasAttribute('download')]); };
  location.assign = () => assert.fail('the page is left');
  const app = frame(1, async () => ({ url: '/v1/downloads/x' }));
  assert.equal(await run(app, 'download', ['a'], {}), true);
  assert.deepEqual([saved, document.body.querySelectorAll('a').length], [[['/v1/downloads/x', true]], 0]);
});

test('a download says how many files are missing, and goes on without their photos', async (context) => {
  const { run } = await load('views/actions.js');
  const { click } = Element.prototype;
  context.after(() => { Element.prototype.click = click; });
  const [asked, saved] = [[], []];
  Element.prototype.click = function () {
    if (this.hasAttribute('download')) saved.push(this.getAttribute('href'));
    else click.call(this);
  };
  const [lost, all] = [['b', 'd'], ['a', 'b', 'c', 'd']];
  const app = frame(1, async (method, path, { json }) => {
    asked.push(json.assets);
    const named = json.assets.filter((id) => lost.includes(id)).slice(0, 1);
    if (named.length > 0) throw new Problem(404, 'missing-resource', 'Files are missing.', 0, named);
    return { url: '/v1/downloads/x' };
  });
  /** Answers the dialog by one of its buttons; gives what it says. */
  const answer = async (name) => {
    for (let turn = 0; turn < 20; turn += 1) await settled();
    const dialog = document.body.querySelector('dialog');
    const said = dialog.querySelector('p').textContent;
    [...dialog.querySelectorAll('.dialog-actions button')].find((button) => button.textContent === name).click();
    return said;
  };
  const going = run(app, 'download', all, {});
  // The server names one at a time here.
  assert.equal(await answer('Download'), 'The file of 1 of 4 photos is missing. Download the others?');
  assert.equal(await answer('Download'), 'The files of 2 of 4 photos are missing. Download the others?');
  assert.equal(await going, true);
  assert.deepEqual([asked, saved], [[all, ['a', 'c', 'd'], ['a', 'c']], ['/v1/downloads/x']]);
  const left = run(app, 'download', all, {});
  await answer('Cancel');
  assert.deepEqual([await left, saved.length, app.failures], [false, 1, []]);
  assert.equal(await run(app, 'download', ['b'], {}), false);
  assert.deepEqual(app.failures.map((error) => error.message), ['The file of this photo is missing.']);
});

test('an undo that finds nothing to undo says so', async () => {
  const app = new App(new PhotoLedger(), { scopes: [] }, { first: { open: async () => ({}) } });
  const said = [];
  app.notices.show = (sentence) => said.push(sentence);
  const tokens = [null, 't2', null];
  app.client.undo = async () => ({ summary: { token: tokens.shift() } });
  await app.undo('t1');
  await app.undo('t1', 't0');
  assert.deepEqual(said.map((one) => one.slice(0, 8)), ['There is', 'Undone']);
});

test('whether a camera link was copied is said in its dialog', async () => {
  const { showCameraLink } = await load('views/camera-link.js');
  const app = frame(0, async () => ({ secret: 'abc' }));
  app.client.commit = async () => ({});
  app.notices.show = () => assert.fail('behind the dialog');
  document.execCommand = () => false;
  location.origin = 'http://gallery';
  const done = showCameraLink(app);
  await settled();
  const dialog = document.body.querySelector('dialog');
  assert.equal(dialog.querySelector('input').value, 'http://gallery/camera#abc');
  dialog.querySelectorAll('.dialog-actions button')[0].click();
  await settled();
  assert.match(dialog.textContent, /did not allow copying/);
  await dismiss();
  await done;
});

test('requests that are said again stay as they are, and the one that has the focus keeps it', async (context) => {
  const say = streams(context);
  const { start } = await load('views/requests.js');
  const app = Object.assign(frame(), { watch: () => {} });
  document.body.replaceChildren();
  start(app, document.body);
  const said = (...clients) => say({
    requests: clients.map((client) => ({ client, level: 'readWrite', usage: null, date: '2026-01-01T00:00:00Z' })),
  });
  const lines = () => app.requests.element.querySelectorAll('.request');
  const names = () => lines().map((one) => one.dataset.client);
  let changes = 0;
  app.requests.addEventListener('change', () => { changes += 1; });
  said('one', 'two');
  assert.deepEqual(names(), ['one', 'two']);
  const [, second] = lines();
  second.querySelector('button').focus();
  said('one', 'two');
  assert.equal(lines()[1], second, 'nothing is drawn anew');
  assert.equal(changes, 2);
  said('two', 'three');
  assert.deepEqual(names(), ['two', 'three']);
  assert.equal(document.activeElement, lines()[0].querySelector('button'));
  // Its request is answered: the focus goes to no other one.
  said('three');
  assert.equal(document.activeElement, document.body);
  // A share link's title may be learned later; an app that is called like a link is not one.
  const lists = {
    '/v1/shares': { shares: [{ client: 'share#1' }] },
    '/v1/clients': { clients: ['share#1', 'share#2'].map((name) => ({ name,
      usageDescription: { readWrite: 'For the club' }, authorizationStatus: { readWrite: 'notDetermined' } })) },
  };
  let learn = () => {};
  const learned = new Promise((resolve) => { learn = () => resolve(undefined); });
  app.client.ask = async (method, path) => {
    await learned;
    return lists[path];
  };
  said('share#1', 'share#2');
  const asks = () => lines().map((one) => one.querySelector('p').textContent);
  assert.match(asks()[0], /share#1/, 'what is not known yet is called by its whole name');
  learn();
  await settled();
  assert.match(asks()[0], /Share link: For the club/);
  assert.match(asks()[1], /share#2/);
  // An app that is called as the page calls the link.
  said('share#1', 'Share link: For the club#QX7R');
  assert.match(asks()[0], /Share link: For the club[^#]*would/);
  assert.match(asks()[1], /Share link: For the club#QX7R/);
  said('share#3');
  await settled();
  assert.match(asks()[0], /share#3/, 'what no list has is called by its whole name');
  assert.deepEqual(app.failures, []);
  said();
  assert.deepEqual(names(), []);
  app.requests.watched.close();
});

test('a visitor who asks for more sees that, whether the answer or the stream says it first', async (context) => {
  const say = streams(context);
  const { start } = await load('views/visitor.js');
  const state = (more) => ({ client: 'friends', authorizationStatus: { readWrite: 'limited', addOnly: 'limited' },
    waiting: [], mayRequestMore: true, more: { state: more, added: [] } });
  let answer = () => {};
  const app = Object.assign(frame(0, () => new Promise((resolve) => { answer = resolve; })), {
    watch: () => {}, isOther: () => false, renew: () => {}, session: { scopes: ['read'], ...state('none') },
  });
  document.body.replaceChildren();
  start(app, document.body);
  const text = () => document.body.querySelector('.visitor').textContent;
  // What the stream says of a later moment stays: the owner has answered already.
  for (const [said, shown] of [[[], /has not answered yet/], [['waiting'], /has not answered yet/],
    [['waiting', 'answered'], /Request more photos/]]) {
    say(state('none'));
    document.body.querySelector('.visitor button').click();
    for (const more of said) say(state(more));
    answer(state('waiting'));
    await settled();
    assert.deepEqual(app.failures, [], `${said}`);
    assert.match(text(), shown, `${said}`);
  }
});

test('more photos are offered only to those who may request them', async (context) => {
  const say = streams(context);
  const { start } = await load('views/visitor.js');
  const state = (mayRequestMore) => ({ client: 'share#1', waiting: [], more: null, mayRequestMore,
    authorizationStatus: { readWrite: 'limited', addOnly: 'notDetermined' } });
  const app = Object.assign(frame(), {
    watch: () => {}, isOther: () => false, renew: () => {}, session: { scopes: ['read'], ...state(false) },
  });
  document.body.replaceChildren();
  start(app, document.body);
  const banner = () => document.body.querySelector('.visitor');
  for (const may of [false, true, false]) {
    say(state(may));
    assert.match(banner().textContent, /You can see a selection/);
    assert.equal(banner().querySelectorAll('button').length, may ? 1 : 0);
  }
});

test('hidden photos that could not be read are asked for again with a button, and nothing is said that is not known',
  async (context) => {
    const { open } = await load('views/hidden.js');
    context.mock.timers.enable({ apis: ['setInterval'] });
    const { fetch } = globalThis;
    context.after(() => { globalThis.fetch = fetch; });
    globalThis.fetch = async () => new Response(null, { status: 204 });
    context.after(() => { delete document.querySelectorAll; });
    document.querySelectorAll = (selector) => document.body.querySelectorAll(selector);
    const refused = new Set(['/v1/people']);
    const app = frame(0, async (method, path) => {
      if (refused.has(path)) throw new Error('Not reached.');
      return path === '/v1/people' ? { people: [{ name: 'ada', client: 'owner', hasPassword: true }] }
        : { secret: 's', client: 'owner' };
    });
    Object.assign(app.session, { person: 'ada', client: 'owner' });
    Object.assign(app, { routes: {}, noteFocus: () => {}, giveFocus: () => {} });
    app.client.openFetch = async () => {
      if (refused.has('/v1/fetches')) throw new Error('Not reached.');
      return { fetch: 'f', token: 't', count: 0 };
    };
    const view = await open(app);
    document.body.replaceChildren(view.element);
    const again = async () => {
      view.element.querySelector('.failure').querySelector('button').click();
      for (let turn = 0; turn < 20; turn += 1) await settled();
    };
    assert.doesNotMatch(view.element.textContent, /have no password/);
    await again();
    assert.equal(view.element.querySelectorAll('.failure').length, 1, 'it failed again');
    refused.clear();
    await again();
    const [form] = view.element.querySelectorAll('.lock-form');
    assert.match(form.textContent, /ada/);
    refused.add('/v1/fetches');
    form.dispatchEvent(new Event('submit'));
    for (let turn = 0; turn < 20; turn += 1) await settled();
    assert.match(view.element.querySelector('.failure').textContent, /Not reached/);
    refused.clear();
    await again();
    assert.match(view.element.textContent, /No hidden photos/);
    view.element.querySelector('[data-tool="lock"]').click();
    view.close();
  });

test('duplicates are followed and read again after a failure, which is not shown any longer, and not at each commit',
  async (context) => {
    const say = streams(context);
    const { open } = await load('views/duplicates.js');
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const turns = async () => { for (let turn = 0; turn < 20; turn += 1) await settled(); };
    const after = async (time) => {
      context.mock.timers.tick(time);
      await turns();
    };
    let isAway = true;
    let readings = 0;
    const app = Object.assign(frame(0, async (method, path) => {
      if (path !== '/v1/duplicates/groups') return { token: 't', collections: [] };
      readings += 1;
      if (isAway) throw new Problem(503, '', 'Not now.');
      return { groups: [], next: null };
    }), { watch: () => {} });
    app.client.openFetch = async () => {
      if (isAway) throw new Error('Not followed.');
      return { fetch: 'f', token: 't', count: 0 };
    };
    let follower = null;
    app.feed.follow = (fetch, token, one) => {
      follower = one;
      return () => {};
    };
    const view = await open(app);
    const problem = view.element.querySelector('.problem');
    say({ state: 'ready', search: 's', done: 1, total: 1, groups: 1, compared: 1, problem: null });
    await turns();
    assert.deepEqual([problem.hidden, follower, readings], [false, null, 1]);
    isAway = false;
    await after(4000);
    assert.notEqual(follower, null, 'it is followed');
    assert.equal(problem.hidden, true);
    await after(2000);
    const before = readings;
    for (let commit = 0; commit < 20; commit += 1) {
      follower.onChange({});
      await turns();
    }
    await after(2000);
    assert.equal(readings, before + 2, 'the first commit and the others');
    await after(10_000);
    assert.equal(readings, before + 2);
    // What a person asked for and did not get is said until they ask again.
    app.client.ask = async () => { throw new Error('No.'); };
    view.element.querySelector('[data-tool="search"]').click();
    await turns();
    app.client.ask = async () => ({ groups: [], next: null, collections: [] });
    follower.onChange({});
    await turns();
    assert.equal(problem.textContent, 'No.');
    assert.equal(problem.hidden, false);
    view.close();
  });

test('duplicates that may not be followed say so once, also while they are read', async (context) => {
  const say = streams(context);
  const { open } = await load('views/duplicates.js');
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const app = Object.assign(frame(0, async () => ({ groups: [], next: null, collections: [] })), { watch: () => {} });
  let isRefused = true;
  let attempts = 0;
  app.client.openFetch = async () => {
    attempts += 1;
    if (isRefused) throw new Problem(403, 'access-denied', 'Not yours.');
    return { fetch: 'f', token: 't', count: 0 };
  };
  const view = await open(app);
  const problem = view.element.querySelector('.problem');
  const after = async (time) => {
    context.mock.timers.tick(time);
    for (let turn = 0; turn < 20; turn += 1) await settled();
  };
  await after(0);
  const [said] = problem.childNodes;
  for (let done = 1; done <= 3; done += 1) {
    say({ state: 'ready', search: 's', done, total: 3, groups: 1, compared: 1, problem: null });
    await after(4000);
    assert.deepEqual([problem.hidden, problem.textContent], [false, 'Not yours.']);
    assert.equal(problem.childNodes[0], said);
  }
  assert.equal(attempts, 4);
  isRefused = false;
  await after(4000);
  assert.equal(problem.hidden, true);
  view.close();
});

test('looking back is led along after following has failed', async (context) => {
  const { open } = await load('views/moment.js');
  const app = frame(0, async () => ({ records: [] }));
  let isAway = true;
  let follower = null;
  app.client.openFetch = async () => {
    if (isAway) throw new Error('Not followed.');
    return { fetch: 'f', token: 't', count: 0 };
  };
  app.feed.follow = (fetch, token, one) => {
    follower = one;
    return () => {};
  };
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const view = await open(app, at('#/moment', app));
  const again = async () => {
    context.mock.timers.tick(4000);
    for (let turn = 0; turn < 10; turn += 1) await settled();
  };
  await again();
  await again();
  assert.deepEqual([follower, app.failures.length], [null, 1], 'it is said once');
  isAway = false;
  await again();
  assert.notEqual(follower, null);
  view.close();
});

test('a view of duplicates that is left leaves no listener behind', async (context) => {
  streams(context);
  const { open } = await load('views/duplicates.js');
  const signals = [];
  for (const target of [document, globalThis]) {
    const { addEventListener } = target;
    context.after(() => { target.addEventListener = addEventListener; });
    target.addEventListener = (name, listener, options) => {
      signals.push(options?.signal);
      return addEventListener.call(target, name, listener, options);
    };
  }
  const app = Object.assign(frame(), { watch: () => {} });
  const view = await open(app);
  await settled();
  assert.equal(signals.length, 4);
  assert.deepEqual(signals.map((one) => one?.aborted), [false, false, false, false]);
  view.close();
  assert.deepEqual(signals.map((one) => one.aborted), [true, true, true, true]);
});

test('the card in the place of one that goes has the focus', async () => {
  const { Cards, Covers } = await load('views/album-cards.js');
  const app = frame();
  const cards = new Cards(app, new Covers(app), { onMenu: () => {}, onMove: () => {}, onInto: () => {} });
  document.body.replaceChildren(cards.element);
  const show = (...ids) => cards.show(ids.map((id) => (
    { id, kind: 'album', title: id, count: 1, predicate: null, parent: null, cover: null, modified: '' })));
  show('A', 'B', 'C');
  const focused = () => document.activeElement.closest('.card')?.dataset.id;
  cards.known.get('B').menu.focus();
  show('A', 'C');
  assert.equal(focused(), 'C');
  assert.equal(document.activeElement, cards.known.get('C').link);
  show('A');
  assert.equal(focused(), 'A', 'the last one, where none follows');
  show('B', 'A');
  assert.equal(focused(), 'A', 'what stays keeps it');
  const other = h('button');
  document.body.append(other);
  other.focus();
  show('B');
  assert.equal(document.activeElement, other, 'what is outside of the cards keeps it');
  cards.close();
});

test('a cover is read once however often its photos change meanwhile', async () => {
  const { Cards, Covers } = await load('views/album-cards.js');
  let asked = 0;
  let go = () => {};
  const held = new Promise((done) => { go = done; });
  const app = frame(0, async () => {
    asked += 1;
    await held;
    return { total: 1, columns: { localIdentifier: [] } };
  });
  const covers = new Covers(app);
  const cards = new Cards(app, covers, null);
  cards.show(Array.from({ length: 10 }, (_, place) => (
    { id: `A${place}`, kind: 'album', title: 'A', count: 1, predicate: null, parent: null, cover: null })));
  for (const card of cards.order) card.look();
  for (let round = 0; round < 3; round += 1) cards.look();
  assert.deepEqual([covers.waiting.size, covers.isBusy], [10, true], 'four are on their way, and changed since');
  go();
  for (let turn = 0; turn < 100 && covers.isBusy; turn += 1) await settled();
  assert.deepEqual([asked, covers.waiting.size, covers.isBusy], [14, 0, false]);
  cards.close();
});

test('an import has the covers read again only after they were read, and while they are looked at', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { open } = await load('views/albums.js');
  const app = treeFrame(() => []);
  let held = Promise.resolve();
  let asked = 0;
  const { ask } = app.client;
  app.client.ask = async (method, path, options) => {
    if (!path.endsWith('/items')) return ask(method, path, options);
    asked += 1;
    await held;
    return { token: 't0', total: 1, columns: { localIdentifier: [] } };
  };
  const turns = async () => { for (let turn = 0; turn < 200; turn += 1) await settled(); };
  const pass = async () => {
    context.mock.timers.tick(2000);
    await turns();
  };
  const view = await open(app, { name: 'albums', argument: '', query: new URLSearchParams() });
  await turns();
  const kinds = view.element.querySelectorAll('[data-smart]').length;
  assert.equal(asked, kinds);
  let go = () => {};
  held = new Promise((done) => { go = done; });
  await app.changed();
  await app.changed();
  await pass();
  await pass();
  go();
  await turns();
  assert.equal(asked, 2 * kinds, 'nothing is read again before it was read');
  await pass();
  assert.equal(asked, 3 * kinds, 'what came meanwhile');
  document.hidden = true;
  context.after(() => { document.hidden = false; });
  await app.changed();
  await pass();
  assert.equal(asked, 3 * kinds);
  document.hidden = false;
  await pass();
  assert.equal(asked, 4 * kinds);
  view.close();
});

test('the keyboard stays at its line when people and keys are drawn anew', async () => {
  const { open } = await load('views/people.js');
  const person = (name) => ({ name, client: 'family', hasPassword: true, created: '2026-01-01T00:00:00Z' });
  const share = {
    name: 's1', title: 'Sea', album: null, hasPassword: false, upload: false, originals: false, expires: null,
  };
  let people = ['anna', 'ben', 'cleo'].map(person);
  let shares = [share];
  const app = frame(0, async (method, path) => {
    if (method === 'DELETE') people = people.filter(({ name }) => !path.endsWith(`/people/${name}`));
    if (method === 'DELETE') shares = shares.filter(({ name }) => !path.endsWith(`/shares/${name}`));
    return { people, keys: [], shares, clients: [] };
  });
  const view = await open(app);
  document.body.replaceChildren(view.element);
  const end = async (label) => {
    const button = view.element.querySelectorAll('button').find((one) => one.getAttribute('aria-label') === label);
    button.focus();
    button.click();
    document.body.querySelector('dialog .grave').click();
    for (let turn = 0; turn < 10; turn += 1) await settled();
    return document.activeElement;
  };
  assert.equal((await end('Remove ben?')).closest('li')?.dataset.person, 'cleo');
  assert.equal((await end('Remove cleo?')).closest('li')?.dataset.person, 'anna');
  assert.equal((await end('End the link “Sea”')).textContent, 'Share links');
  view.close();
});

/** A page around a tree of collections that is set by a test, which says when it changed. */
function treeFrame(records) {
  let state = 0;
  const followers = new Set();
  const app = frame(3, async (method, path, { query: { folder } = {} } = {}) =>
    path !== '/v1/collections' ? { token: `t${state}`, index: null, total: 0, columns: {} }
      : { token: `t${state}`, collections: folder ? [] : records() });
  app.client.openFetch = async () => ({ fetch: 'f', token: `t${state}`, count: 3 });
  app.feed.follow = (fetch, after, follower) => {
    followers.add(follower);
    return () => followers.delete(follower);
  };
  app.renew = () => {
    app.renewed += 1;
    app.view.close();
  };
  const changed = async () => {
    state += 1;
    for (const one of [...followers]) one.onState({ fetch: 'f', token: `t${state}` });
    for (let turn = 0; turn < 20; turn += 1) await settled();
  };
  return Object.assign(app, { renewed: 0, changed, followers });
}

test('an album or folder that is deleted and restored elsewhere is there again', async () => {
  const { open } = await load('views/albums.js');
  let isThere = true;
  const record = (id, kind) => ({ kind, localIdentifier: `${id}/L0/040`, localizedTitle: id, estimatedAssetCount: 3 });
  const records = () => isThere ? [record('F', 'folder'), record('A', 'album')] : [];
  for (const id of ['F', 'A']) {
    isThere = true;
    const app = treeFrame(records);
    const view = app.view = await open(app, { name: 'albums', argument: id, query: new URLSearchParams() });
    document.body.replaceChildren(view.element);
    const isGone = () => /no longer exists/.test(view.element.textContent);
    const isShown = () => view.element.querySelector(id === 'F' ? '.cards' : '.grid') !== null;
    assert.deepEqual([isGone(), isShown()], [false, true], id);
    isThere = false;
    await app.changed();
    assert.deepEqual([isGone(), isShown(), app.renewed], [true, false, 0], id);
    await app.changed();
    assert.deepEqual([isGone(), app.renewed], [true, 0], id);
    isThere = true;
    await app.changed();
    // An album is opened anew; a folder has kept its cards.
    if (id === 'A') assert.equal(app.renewed, 1);
    else assert.deepEqual([isGone(), isShown(), app.renewed], [false, true, 0]);
    view.close();
    assert.equal(app.followers.size, 0, `${id} is followed no longer`);
  }
});

test('an album that is renamed elsewhere is called so, its list too', async () => {
  const { open } = await load('views/albums.js');
  let title = 'Sea';
  const app = treeFrame(() => [{ kind: 'album', localIdentifier: 'A/L0/040', localizedTitle: title,
    estimatedAssetCount: 3 }]);
  const view = app.view = await open(app, { name: 'albums', argument: 'A', query: new URLSearchParams() });
  document.body.replaceChildren(view.element);
  const called = () => [view.element, view.element.querySelector('.grid-scroll')]
    .map((one) => one.getAttribute('aria-label'));
  assert.deepEqual(called(), ['Sea', 'Sea']);
  title = 'Shore';
  await app.changed();
  assert.deepEqual(called(), ['Shore', 'Shore']);
  view.close();
});

test('an album that was deleted before it is opened is opened as soon as it is restored', async () => {
  const { open } = await load('views/albums.js');
  let found = [];
  const app = treeFrame(() => found);
  const view = app.view = await open(app, { name: 'albums', argument: 'A', query: new URLSearchParams() });
  assert.match(view.element.textContent, /no longer exists/);
  await app.changed();
  assert.equal(app.renewed, 0);
  found = [{ kind: 'album', localIdentifier: 'A/L0/040', localizedTitle: 'Sea', estimatedAssetCount: 3 }];
  await app.changed();
  assert.equal(app.renewed, 1);
  view.close();
  assert.equal(app.followers.size, 0);
});

test('more photos that were given are said to be given, also if the log cannot be read then', async () => {
  const { giveMore } = await load('views/requests.js');
  const said = [];
  let log = async () => ({ records: [{ token: 't1', objects: ['television', 'a/L0/001'] }] });
  const app = frame(0, (method) => method === 'POST' ? Promise.resolve({}) : log());
  app.notices.show = (sentence, { action } = {}) => said.push([sentence, action]);
  await giveMore(app, 'television', ['a']);
  log = async () => { throw new Problem(503, 'closed', 'Closed.'); };
  await giveMore(app, 'television', ['a']);
  assert.deepEqual(said, [['1 photo shared with “television”', 'Undo'], ['1 photo shared with “television”', undefined]]);
});

test('an upload is said to be all done only if every file is there, and in its album', async () => {
  const { Uploads } = await load('model/uploads.js');
  const { UploadPanel } = await load('views/upload-panel.js');
  const sum = (states, held = []) => {
    const uploads = new Uploads(new PhotoLedger());
    uploads.entries = states.map((state, id) => ({ id: `${id}`, name: `${id}`, path: '', size: 1, sent: 1, state }));
    uploads.heldAlbums = new Map(held);
    const panel = new UploadPanel(uploads);
    panel.close();
    return panel.sentence.textContent;
  };
  assert.equal(sum(['taken', 'there']), 'All done · 1 added · 1 already in the library');
  assert.equal(sum(['taken', 'refused']), 'Finished with problems · 1 added · 1 not accepted');
  assert.equal(sum(['failed']), 'Finished with problems · 1 failed');
  assert.equal(sum(['taken'], [['album', 'Sea']]), 'Finished with problems · 1 added');
});
