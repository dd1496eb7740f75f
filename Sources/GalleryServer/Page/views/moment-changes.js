// What changed since a moment: photos that left, came or look different, albums, each with its way back.
//
// Positions are the server's, from the one difference between the state and now; what is shown of them is read as
// windows, of before for what left, of now for everything else. What left lies in the trash, is hidden or was deleted
// for ever: only the first can be restored as such; everything else goes back by an undo of the object, whose plan is
// shown.

import { t } from '../text/text.js';
import { fill, h } from './dom.js';
import { itemsOf, thumbChoice } from './thumbs.js';
import { spoken } from './tile.js';
import { undoDialog } from './undo.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {[number, number][]} Ranges */

/** How many photos are shown at once. */
const pageSize = 32;
/** How many objects an undo is asked about; its request has room for 64 KiB. */
const objectLimit = 1000;

/** @param {Ranges} ranges */
const sum = (ranges) => ranges.reduce((count, [, length]) => count + length, 0);

/**
 * A part of some ranges, counted from the beginning of the first.
 * @param {Ranges} ranges
 * @param {number} skip
 * @param {number} count
 */
function part(ranges, skip, count) {
  /** @type {Ranges} */
  const found = [];
  let [before, left] = [skip, count];
  for (const [start, length] of ranges) {
    const taken = Math.min(Math.max(length - before, 0), left);
    if (taken > 0) found.push([start + before, taken]);
    before = Math.max(before - length, 0);
    left -= taken;
  }
  return found;
}

/**
 * A view of what changed since a moment.
 * @param {App} app
 * @param {import('../model/moments.js').Moment} moment
 * @returns {Promise<import('./app.js').View>}
 */
export async function changesSince(app, moment) {
  const changes = new Changes(app, moment.token);
  await changes.load();
  return { title: t('moment.changes'), element: changes.element, close: () => changes.abort.abort() };
}

class Changes {
  /**
   * @param {App} app
   * @param {string} token
   */
  constructor(app, token) {
    this.app = app;
    this.token = token;
    this.abort = new AbortController();
    this.element = h('div', { class: 'moment-changes' });
  }

  /**
   * Which of some objects an undo would change. One that was undone has another modification date than then, so the
   * server lists it as changed though it is as it was.
   * @param {string[]} objects
   * @returns {Promise<Set<string>>}
   */
  async differing(objects) {
    // The undo of any client but the owner reverts only its own changes, and would say too little here.
    if (!this.app.isOwner || objects.length === 0 || objects.length > objectLimit) return new Set(objects);
    /** @type {import('./undo.js').Plan} */
    const plan = await this.app.client.undo({ objects, from: this.token, onConflict: 'skip', plan: true });
    if (!plan.isComplete) return new Set(objects);
    return new Set(plan.records.flatMap((one) => [one.object ?? '', one.container ?? '']));
  }

  /** @param {string[]} objects */
  undo(objects) {
    const label = t('moment.undo.scope', { count: objects.length });
    return this.take({ label, request: { objects, from: this.token } });
  }

  async reload() {
    try {
      await this.load();
    } catch (error) {
      if (!this.abort.signal.aborted) this.app.notices.fail(error);
    }
  }

  async load() {
    const { client } = this.app;
    const { signal } = this.abort;
    const { fetch } = await client.openFetch({ sort: ['creationDate:desc'] });
    const [photos, albums] = await Promise.all([
      client.ask('GET', `/v1/fetches/${encodeURIComponent(fetch)}/diff`, { query: { from: this.token }, signal }),
      client.ask('GET', '/v1/collections:diff', { query: { from: this.token }, signal }),
    ]);
    const [left, came, changed] = [sum(photos.removed), sum(photos.inserted), sum(photos.changed)];
    const parts = [
      left > 0 && await this.section('left', fetch, photos.before, photos.removed),
      changed > 0 && await this.section('changed', fetch, photos.after, photos.changed),
      came > 0 && await this.section('came', fetch, photos.after, photos.inserted), await this.albums(albums),
    ];
    fill(this.element, h('p', { class: 'moment-counts', role: 'status' },
      t('moment.commits', { count: photos.commits }), ' ',
      t('moment.counts', { left, came, changed })),
    photos.commits > 0 && this.app.session.authorizationStatus.readWrite === 'authorized'
      ? h('button', { class: 'button', onclick: () => this.undoAll() }, t('moment.undoAll')) : null);
    for (const one of parts) if (one) this.element.append(one);
    if (left + came + changed === 0 && parts[3] === null) {
      this.element.append(h('p', { class: 'empty' }, t('moment.same')));
    }
  }

  undoAll() {
    return this.take({ label: t('undo.scope.since'), request: { from: this.token } });
  }

  /**
   * Takes something back after its plan was shown.
   * @param {import('./undo.js').Choice} choice
   */
  async take(choice) {
    if (await undoDialog(this.app, t('undo.title'), [choice])) await this.reload();
  }

  /**
   * Photos of one kind of change, a page at a time.
   * @param {'left' | 'changed' | 'came'} kind
   * @param {string} fetch
   * @param {string} token
   * @param {Ranges} ranges
   */
  async section(kind, fetch, token, ranges) {
    const count = sum(ranges);
    const act = h('button', { class: 'button main', disabled: true, 'data-act': kind,
      onclick: () => this.act(kind, [...choice.chosen]) },
      t(kind === 'left' ? 'action.restore' : 'moment.undo'));
    const chosenCount = h('span', { class: 'count', role: 'status' });
    const choice = thumbChoice(this.app, t(`moment.${kind}`, { count }), (chosen) => {
      act.disabled = chosen.size === 0;
      chosenCount.textContent = chosen.size === 0 ? '' : t('selection.count', { count: chosen.size });
    });
    let shown = 0;
    let choosable = 0;
    const button = h('button', { class: 'button', onclick: () => more() }, t('history.more'));
    const everything = h('button', { class: 'button', onclick: () => choice.all() }, t('moment.chooseAll'));
    const more = async () => {
      button.disabled = true;
      try {
        const items = [];
        for (const [start, length] of part(ranges, shown, pageSize)) {
          items.push(...(await this.app.client.window(fetch, token, start, length, this.abort.signal)).items);
        }
        const ids = items.map((item) => item.id);
        const trash = kind !== 'left' ? null
          : await itemsOf(this.app.client, ids, { question: { trash: true, hidden: true }, signal: this.abort.signal });
        const differing = kind === 'changed' ? await this.differing(ids) : null;
        for (const item of items) {
          const isElsewhere = trash !== null && !trash.has(item.id);
          const isAsThen = differing !== null && !differing.has(item.id);
          const isFixed = isElsewhere || isAsThen || kind === 'came';
          if (!isFixed) choosable += 1;
          choice.add(item, { isFixed,
            note: isElsewhere ? this.otherWay(item) : isAsThen ? t('moment.asThen') : undefined });
        }
        shown += pageSize;
        button.hidden = shown >= count;
        const hasActions = kind !== 'came' && choosable > 0;
        act.hidden = !hasActions;
        everything.hidden = !hasActions;
      } catch (error) {
        if (!this.abort.signal.aborted) this.app.notices.fail(error);
      } finally {
        button.disabled = false;
      }
    };
    await more();
    return h('section', { 'data-kind': kind }, h('h2', null, t(`moment.${kind}`, { count })), choice.element,
      h('div', { class: 'moment-actions' }, button, everything, act, chosenCount));
  }

  /**
   * The way back of a photo that left and is not in the trash.
   * @param {import('../client/photoledger.js').Item} item
   */
  otherWay(item) {
    if (this.app.session.authorizationStatus.readWrite !== 'authorized') return t('moment.notInTrash');
    return h('span', null, t('moment.notInTrash'), ' ', h('button', {
      class: 'button', 'aria-label': t('moment.undoOf', { title: spoken(item) }),
      onclick: () => this.undo([item.id]),
    }, t('moment.undo')));
  }

  /**
   * Takes photos back to now.
   * @param {'left' | 'changed' | 'came'} kind
   * @param {string[]} ids
   */
  async act(kind, ids) {
    const names = ids.map((id) => id.split('/')[0]);
    if (kind === 'changed') {
      await this.undo(ids);
      return;
    }
    const done = t('done.restore', { count: ids.length });
    if (await this.app.commit([{ op: 'asset.restore', assets: names }], done)) await this.reload();
  }

  /** @param {any} difference */
  async albums(difference) {
    const line = (/** @type {any} */ one, /** @type {string} */ kind) => h('li', { 'data-album': one.localIdentifier },
      h('bdi', null, one.localizedTitle || t('moment.untitled')), ' ', h('span', { class: 'soft' },
        t(`moment.album.${kind}`)), ' ',
      kind === 'came' || this.app.session.authorizationStatus.readWrite !== 'authorized' ? null
        : h('button', {
          class: 'button', 'aria-label': t('moment.undoOf', { title: one.localizedTitle || t('moment.untitled') }),
          onclick: () => this.undo([one.localIdentifier]) }, t('moment.undo')));
    /** Those of an object by position, in ranges. */
    const of = (/** @type {Record<string, any>} */ items, /** @type {Ranges} */ ranges) =>
      ranges.flatMap(([start, length]) =>
      Array.from({ length }, (_, index) => items[String(start + index)])).filter((one) => one !== undefined);
    const changed = of(difference.items, difference.changed);
    const differing = await this.differing(changed.map((one) => one.localIdentifier));
    const lines = [
      ...of(difference.removedItems, difference.removed).map((one) => line(one, 'left')),
      ...changed.filter((one) => differing.has(one.localIdentifier)).map((one) => line(one, 'changed')),
      ...of(difference.items, difference.inserted).map((one) => line(one, 'came')),
    ];
    if (lines.length === 0) return null;
    return h('section', { 'data-kind': 'albums' }, h('h2', null, t('moment.albums', { count: lines.length })),
      h('ul', { class: 'moment-albums' }, ...lines),
      difference.isComplete === false ? h('p', { class: 'soft' }, t('undo.notAll')) : null);
  }
}
