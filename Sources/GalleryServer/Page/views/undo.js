// Undoing with the plan shown first: what changes, what is in the way, what stays.
//
//   choice ─▶ plan ─▶ what to do with conflicts ─▶ plan ─▶ undo ─▶ a notice that undoes the undo
//
// The plan is the server's, made anew for each choice. Between the plan and the undo somebody may change something: the
// server judges again, and a conflict that is new then is shown as a plan.

import { Problem } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { isolated, phraseOf, t } from '../text/text.js';
import { learnNames } from './client-names.js';
import { showDialog } from './dialog.js';
import { fill, h, uniqueName } from './dom.js';
import { statusWords } from './log-words.js';
import { ObjectNames } from './object-names.js';
import { nameOf, objectIn, shown } from './property-words.js';

/** @typedef {import('./app.js').App} App */

/**
 * @typedef {object} Choice What is undone.
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
const kinds = new Set(['property', 'trash', 'restoration', 'creation', 'purge', 'membership', 'permission', 'history']);

/**
 * Shows what an undo would do, and executes it if that is confirmed.
 * @param {App} app
 * @param {string} title
 * @param {Choice[]} choices
 * @returns {Promise<boolean>} whether something was undone
 */
export async function undoDialog(app, title, choices) {
  const names = new ObjectNames(app);
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
        names.load(found.records.flatMap(objectsOf), abort.signal);
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
 * @param {ObjectNames} names
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
      one.container ? names.of(one.container) : '', values(one, names))));
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
function changeWords({ kind = '', property = '', object, current, restored }) {
  if (kind === 'property') return t('undo.kind.property', { property: nameOf(property) });
  if (!kinds.has(kind)) return kind;
  if (kind === 'permission') {
    // A place in the selection of a client.
    if (property === 'orderKey' && restored === null) return t('undo.kind.permission.withdrawn');
    if (property === 'orderKey') return t(current === null ? 'undo.kind.permission.granted' : 'undo.kind.membership');
    return phraseOf(`undo.kind.permission.${property}`) ?? t('undo.kind.permission');
  }
  const isCollection = /\/L0\/0[24]0$/.test(object ?? '');
  if (kind === 'membership') return t(restored === null ? 'undo.kind.removed' : 'undo.kind.membership');
  return t(isCollection && (kind === 'restoration' || kind === 'creation') ? `undo.kind.${kind}.collection`
    : `undo.kind.${kind}`);
}

/**
 * The values of a change, where they say something to a person.
 * @param {PlanRecord} record
 * @param {ObjectNames} names
 */
function values({ kind, property = '', current, restored }, names) {
  if (property === 'orderKey' || kind !== 'property' && kind !== 'permission') return null;
  const [before, after] = [current, restored].map((value) => {
    const named = objectIn(property, value);
    return named === null ? isolated(words(value, property)) : names.of(named);
  });
  return h('span', { class: 'soft', dir: 'auto' }, ' (', before, ' → ', after, ')');
}

/**
 * @param {any} value
 * @param {string} property
 */
const words = (value, property) => value && (property === 'readWrite' || property === 'addOnly')
  ? statusWords(String(value)) : shown(property, value);

/**
 * The objects that a line of a plan names.
 * @param {PlanRecord} record
 */
const objectsOf = ({ object, container, property = '', current, restored }) =>
  [object, container, objectIn(property, current), objectIn(property, restored)];
