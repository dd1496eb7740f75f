// Scrolling through more than a browser can, with an element that scrolls as a browser's does.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Scroller, heightLimit } from '../../Sources/GalleryServer/Page/layout/scroll.js';
import { random } from './random.mjs';

/** An element that keeps whole pixels, between the beginning and the end of what is in it. */
class Element extends EventTarget {
  constructor(clientHeight, space) {
    super();
    Object.assign(this, { clientHeight, space });
    this.place = 0;
  }

  get limit() { return Math.max(0, parseFloat(this.space.style.height) - this.clientHeight); }

  get scrollTop() { return this.place; }

  set scrollTop(place) { this.place = Math.round(Math.min(Math.max(place, 0), this.limit)); }

  /** What a wheel, a key, a finger or the scrollbar does. */
  scroll(place) {
    this.scrollTop = place;
    this.dispatchEvent(new Event('scroll'));
  }
}

function made(height, view = 800) {
  const space = { style: { height: '0px' } };
  const element = new Element(view, space);
  const scroller = new Scroller(element, space, () => {});
  scroller.setHeight(height);
  return { element, scroller };
}

const heights = [500, 90_000, heightLimit - 1, heightLimit + 1, 50_000_000, 900_000_000];

for (const height of heights) {
  test(`both ends of ${height} pixels are reached by the wheel, by a jump and by the keys`, () => {
    const { element, scroller } = made(height);
    const isAt = (end) => {
      scroller.settle();
      assert.equal(scroller.top, end ? scroller.end : 0);
      assert.ok(Math.abs(scroller.dom - (end ? scroller.domEnd : 0)) <= 1, 'the scrollbar is where the list is');
    };
    element.scroll(Infinity);
    isAt(true);
    element.scroll(0);
    isAt(false);
    scroller.setTop(Infinity);
    scroller.commit();
    isAt(true);
    scroller.setTop(0);
    scroller.commit();
    isAt(false);
    // Turned without a rest, from three screens before the end.
    scroller.setTop(scroller.end - 2400);
    scroller.commit();
    for (let turn = 0; turn < 40; turn += 1) element.scroll(element.scrollTop + 120);
    isAt(true);
    scroller.setTop(2400);
    scroller.commit();
    for (let turn = 0; turn < 40; turn += 1) element.scroll(element.scrollTop - 120);
    isAt(false);
    clearTimeout(scroller.timer);
  });
}

test('a wheel moves the list as far as the element, also where the element ends and the list does not', () => {
  const chance = random(5);
  const { element, scroller } = made(50_000_000);
  scroller.setTop(45_000_000);
  scroller.commit();
  // The list is brought near the element's end by turning alone, without a rest.
  for (let turn = 0; turn < 60_000 && scroller.top < scroller.end; turn += 1) {
    const [before, way] = [scroller.top, 1 + chance(400)];
    const place = element.scrollTop;
    element.scroll(place + way);
    const went = Math.min(way, Math.max(0, scroller.domEnd - place));
    assert.ok(Math.abs(scroller.top - Math.min(before + went, scroller.end)) < 1.5, `${before} by ${way}`);
  }
  assert.equal(scroller.top, scroller.end, 'the last photo is reached');
  clearTimeout(scroller.timer);
});

test('a rest moves nothing on the screen', () => {
  const chance = random(9);
  const { element, scroller } = made(300_000_000);
  for (let round = 0; round < 2000; round += 1) {
    if (chance(10) === 0) element.scroll(chance(heightLimit));
    else element.scroll(element.scrollTop + chance(2000) - 1000);
    const { top } = scroller;
    scroller.settle();
    assert.equal(scroller.top, top);
    assert.equal(scroller.shift, scroller.dom - top, 'what is drawn is shifted by the difference');
  }
  clearTimeout(scroller.timer);
});
