// Taking back with the plan shown first: what changes, what is in the way, what stays.
//
//   choice ─▶ plan ─▶ what to do with conflicts ─▶ plan ─▶ carried out ─▶ a notice that takes the undo back
//
// The plan is the server's, made anew for each choice. Between the plan and the undo somebody may change something: the
// server judges again, and a conflict that is new then is shown as a plan.

import { Problem } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { isolated, t } from '../text/text.js';
import { clientName, learnNames } from './client-names.js';
import { showDialog } from './dialog.js';
import { fill, h, uniqueName } from './dom.js';
import { statusWords } from './log-words.js';
import { shown } from './viewer-history.js';

/** @typedef {import('./app.js').App} App */

/**
 * @typedef {object} Choice What is taken back.
 * @property {string} label
 * @property {Record<string, unknown>} request see UndoRequest in the API's description
 *
 * @typedef {object} PlanRecord
 * @property {'change' | 'conflict' | 'kept'} line
 * @property {string} [kind]
 * @property {string | null} [object]
 * @property {string | null} [container]
 * @property {string} [property]
 * @property {any} [current]
 * @property {any} [restored]
 * @property {string} [reason]
 * @property {string} [outcome]
 * @property {string} [sentence]
 *
 * @typedef {object} Plan
 * @property {PlanRecord[]} records
 * @property {boolean} isComplete
 * @property {{ token: string | null, isRefused: boolean, commits: string[], changeCount: number, conflictCount: number,
 *   alreadyCount: number }} summary
 */

/** How many changes are shown one by one; of more, how often each kind occurs is shown first. */
const openLimit = 5;
/** How many lines of a plan are shown. */
const lineLimit = 50;
/** How many objects of a plan are asked for their names. */
const nameLimit = 24;
const kinds = new Set(['property', 'trash', 'restoration', 'creation', 'purge', 'membership', 'permission', 'history']);
/** Properties with a phrase of their own. */
const properties = new Set(['isFavorite', 'isHidden', 'rating', 'caption', 'keywords', 'creationDate',
  'localCreationDate', 'location',
  'timeZoneOffset', 'localizedTitle', 'resources', 'cover']);

/**
 * Shows what an undo would do, and carries it out if that is wanted.
 * @param {App} app
 * @param {string} title
 * @param {Choice[]} choices
 * @returns {Promise<boolean>} whether something was taken back
 */
export async function undoDialog(app, title, choices) {
  const names = new Names(app);
  const abort = new AbortController();
  /** An undo is said also if the dialog was dismissed meanwhile. @type {Promise<string | undefined>} */
  let sent = Promise.resolve(undefined);
  const closed = await showDialog(title, (close) => {
    const plan = h('div', { class: 'undo-plan', 'aria-live': 'polite' });
    const policies = h('fieldset', { class: 'option-set', hidden: true }, h('legend', null, t('undo.policy')));
    const act = h('button', { class: 'button main', disabled: true }, t('undo.act'));
    const groups = uniqueName('undo');
    let [chosen, policy, asked] = [choices[0], 'refuse', 0];
    const show = async () => {
      const number = asked += 1;
      act.disabled = true;
      plan.setAttribute('aria-busy', 'true');
      if (plan.childElementCount === 0) fill(plan, h('p', null, t('undo.planning')));
      try {
        /** @type {Plan} */
        const found = await app.client.undo({ ...chosen.request, onConflict: policy, plan: true });
        if (number !== asked) return;
        policies.hidden = found.summary.conflictCount === 0;
        act.disabled = found.summary.isRefused || found.summary.changeCount === 0;
        await learnNames(app, found.records.map(({ object }) => object), abort.signal);
        if (number !== asked) return;
        fill(plan, ...planLines(found, names));
        names.load(found, abort.signal);
      } catch (error) {
        if (number === asked) fill(plan, h('p', { role: 'alert', class: 'problem' }, messageOf(error)));
      } finally {
        if (number === asked) plan.removeAttribute('aria-busy');
      }
    };
    act.addEventListener('click', async () => {
      act.disabled = true;
      try {
        sent = app.client.undo({ ...chosen.request, onConflict: policy }).then(({ summary }) => summary.token ?? '');
        close(await sent);
      } catch (error) {
        if (error instanceof Problem && error.status === 409) await show();
        else act.disabled = false;
        plan.prepend(h('p', { role: 'alert', class: 'problem' }, messageOf(error)));
        // Said here; after the dialog was dismissed a notice says it.
        if (act.isConnected) sent = Promise.resolve(undefined);
      }
    });
    const radio = (/** @type {string} */ group, /** @type {string} */ label, /** @type {boolean} */ checked,
      /** @type {() => void} */ onchange) =>
      h('label', { class: 'choice' }, h('input', { type: 'radio', name: `${groups}-${group}`, '.checked': checked,
        onchange }), h('span', null, label));
    for (const name of ['refuse', 'skip', 'force']) {
      policies.append(radio('policy', t(`undo.${name}`), name === 'refuse', () => {
        policy = name;
        show();
      }));
    }
    const scope = choices.length < 2 ? null : h('fieldset', { class: 'option-set' }, h('legend', null, t('undo.scope')),
      ...choices.map((one) => radio('scope', one.label, one === chosen, () => {
        chosen = one;
        plan.replaceChildren();
        show();
      })));
    show();
    return [scope ?? h('p', { class: 'undo-scope', dir: 'auto' }, chosen.label), plan, policies,
      h('div', { class: 'dialog-actions' },
      h('button', { class: 'button', onclick: () => close() }, t('action.cancel')), act)];
  });
  abort.abort();
  const token = closed ?? await sent.catch((error) => { app.notices.fail(error); });
  if (token === undefined) return false;
  const options = token === '' ? {} : { action: t('action.undo'), onAction: () => app.undo(token) };
  app.notices.show(t(token === '' ? 'undo.nothing' : 'notice.undone'), options);
  return token !== '';
}

/**
 * A plan for people.
 * @param {Plan} plan
 * @param {Names} names
 */
function planLines({ records, isComplete, summary }, names) {
  // The instant of a photo follows its clock, which says the same to a person.
  const clocks = new Set(records.filter((one) => one.property === 'localCreationDate').map(({ object }) => object));
  const changed = records.filter((one) => one.line === 'change');
  const changes = changed.filter((one) => one.property !== 'creationDate' || !clocks.has(one.object));
  const conflicts = records.filter((one) => one.line === 'conflict');
  const kept = records.filter((one) => one.line === 'kept');
  const lines = [];
  if (summary.changeCount === 0 && summary.conflictCount === 0) {
    lines.push(h('p', null, t(summary.commits.length === 0 ? 'undo.noCommits' : 'undo.nothing')));
  }
  if (summary.changeCount > 0) {
    const each = h('ul', { class: 'plan-each' }, ...changes.slice(0, lineLimit).map((one) => h('li', null,
      names.of(one.object), ': ', changeWords(one), one.container ? ' – ' : '',
      one.container ? names.of(one.container) : '', values(one))));
    lines.push(h('h3', null, t('undo.changes', { count: summary.changeCount - changed.length + changes.length })),
      ...isComplete && changes.length <= openLimit ? [each] : [
        h('ul', { class: 'plan-changes' }, ...grouped(changes).map(([words, count]) => h('li', null,
          t('undo.times', { count, words })))),
        h('details', null, h('summary', null, t('undo.details')), each,
          changes.length > lineLimit || !isComplete ? h('p', { class: 'soft' }, t('undo.notAll')) : null)]);
  }
  if (summary.conflictCount > 0) {
    lines.push(h('h3', { class: 'problem' }, t('undo.conflicts', { count: summary.conflictCount })),
      h('ul', { class: 'plan-conflicts' }, ...conflicts.slice(0, lineLimit).map((one) => h('li', null,
        names.of(one.object), ': ', changeWords(one), '. ', t(`undo.reason.${one.reason}`), ' ',
        h('strong', null, t(`undo.outcome.${one.outcome}`))))));
    if (summary.isRefused) lines.push(h('p', { class: 'problem' }, t('undo.refused')));
  }
  if (summary.alreadyCount > 0) lines.push(h('p', { class: 'soft' }, t('undo.already',
    { count: summary.alreadyCount })));
  if (kept.length > 0) {
    lines.push(h('h3', null, t('undo.kept')),
      h('ul', { lang: 'en' }, ...kept.slice(0, lineLimit).map((one) => h('li', { dir: 'auto' }, one.sentence))));
  }
  return lines;
}

/**
 * How often each sentence holds, the most frequent first.
 * @param {PlanRecord[]} changes
 * @returns {[string, number][]}
 */
function grouped(changes) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const one of changes) counts.set(changeWords(one), (counts.get(changeWords(one)) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

/** @param {PlanRecord} record */
function changeWords({ kind = '', property = '', object, restored }) {
  if (kind === 'property') {
    return t('undo.kind.property', { property: properties.has(property) ? t(`undo.property.${property}`) : property });
  }
  if (!kinds.has(kind)) return kind;
  const isCollection = /\/L0\/0[24]0$/.test(object ?? '');
  if (kind === 'membership') return t(restored === null ? 'undo.kind.removed' : 'undo.kind.membership');
  return t(isCollection && (kind === 'restoration' || kind === 'creation') ? `undo.kind.${kind}.collection`
    : `undo.kind.${kind}`);
}

/**
 * The values of a change, where they say something to a person.
 * @param {PlanRecord} record
 */
function values({ kind, property, current, restored }) {
  if (kind !== 'property' && kind !== 'permission') return null;
  return h('span', { class: 'soft', dir: 'auto' }, ` (${isolated(value(current, property))} → ${isolated(value(restored, property))})`);
}

/**
 * @param {any} one
 * @param {string} [property]
 */
function value(one, property = '') {
  return one && (property === 'readWrite' || property === 'addOnly') ? statusWords(String(one)) : shown(property, one);
}

/** What objects are called: a file's name, an album's title; until that is known, their kind. */
class Names {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, string>} */
    this.known = new Map();
    /** @type {Map<string, HTMLElement[]>} */
    this.places = new Map();
  }

  /**
   * An element that holds an object's name as soon as it is known.
   * @param {string | null | undefined} id
   */
  of(id) {
    const place = h('bdi', { class: 'object-name', title: id ?? '' }, this.known.get(id ?? '') ?? this.kind(id));
    if (id) this.places.set(id, [...this.places.get(id) ?? [], place]);
    return place;
  }

  /** @param {string | null | undefined} id */
  kind(id) {
    if (!id) return t('undo.object.library');
    if (id.endsWith('/L0/001')) return t('undo.object.asset');
    return /\/L0\/0[24]0$/.test(id) ? t('undo.object.collection') : clientName(id);
  }

  /**
   * @param {string} id
   * @param {string} name
   */
  set(id, name) {
    this.known.set(id, name);
    for (const place of this.places.get(id) ?? []) place.textContent = name;
  }

  /**
   * Asks for the names of what a plan shows first. What has none keeps its kind.
   * @param {Plan} plan
   * @param {AbortSignal} signal
   */
  async load(plan, signal) {
    const ids = new Set(plan.records.flatMap(({ object, container }) => [object, container]));
    /** @type {string[]} */
    const unknown = [];
    for (const id of ids) if (id && id.includes('/L0/') && !this.known.has(id)) unknown.push(id);
    const tasks = unknown.slice(0, nameLimit).map(async (id) => {
      const query = id.endsWith('/L0/001') ? { asset: id, kind: 'asset.created', limit: 1 }
        : { album: id, kind: 'collection', limit: 50, reverse: true };
      /** @type {{ records: import('../model/log.js').LogEvent[] }} */
      const { records } = await this.app.client.ask('GET', '/v1/log', { query, signal });
      const name = nameIn(records, id);
      if (name) this.set(id, name);
    });
    for (const outcome of await Promise.allSettled(tasks)) {
      if (outcome.status === 'fulfilled' || signal.aborted) continue;
      this.app.notices.fail(outcome.reason);
      return;
    }
  }
}

/**
 * The name of an object according to events about it, the newest first.
 * @param {import('../model/log.js').LogEvent[]} events
 * @param {string} id
 */
function nameIn(events, id) {
  for (const { details } of events) {
    if (details?.asset !== id && details?.collection !== id) continue;
    const title = details.localizedTitle?.new ?? details.localizedTitle;
    if (typeof title === 'string') return title;
    const file = Array.isArray(details.resources) ? details.resources.find((/** @type {any} */ one) =>
      one?.originalFilename) : null;
    if (file) return String(file.originalFilename);
  }
  return null;
}
