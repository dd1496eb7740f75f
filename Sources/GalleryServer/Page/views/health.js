// Health: what the server says of itself, and, for what it does not know, the command that would tell.
//
// Reading every record of the log is only done when somebody asks for it.

import { Problem, readBody } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { instant, number, size, t } from '../text/text.js';
import { fill, h } from './dom.js';

/** @typedef {import('./app.js').App} App */

/**
 * The figures of Prometheus' text form, by name; those with labels are added up.
 * @param {string} text
 * @returns {Map<string, number>}
 */
export function figures(text) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const line of text.split('\n')) {
    const parts = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)/.exec(line);
    if (!parts || !Number.isFinite(Number(parts[2]))) continue;
    found.set(parts[1], (found.get(parts[1]) ?? 0) + Number(parts[2]));
  }
  return found;
}

/**
 * How many requests failed on the server's side.
 * @param {string} text
 */
function failures(text) {
  let count = 0;
  for (const [, status, value] of text.matchAll(/^photoledger_requests_total\{status="(\d+)"\} (\S+)/gm)) {
    if (Number(status) >= 500) count += Number(value);
  }
  return count;
}

/**
 * @typedef {object} Care What the commands noted when they were done.
 * @property {string} date
 * @property {number} eventCount
 *
 * @typedef {object} Health See /v1/health in the API's description.
 * @property {{ eventCount: number, commitCount: number, storeBytes: number, resourceBytes: number }} statistics
 * @property {{ freeBytes: number, totalBytes: number } | null} disk
 * @property {{ missingPrograms: string[] }} renditions
 * @property {{ backup: Care | null, verification: Care | null, checkpoint: Care | null }} care
 */

/**
 * @param {App} app
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app) {
  const abort = new AbortController();
  const now = h('div');
  const unknown = h('div');
  const refresh = h('button', { class: 'button', onclick: () => load() }, t('health.refresh'));
  const load = async () => {
    refresh.disabled = true;
    try {
      const [ready, health, text] = await Promise.all([store(app, abort.signal), healthOf(app, abort.signal),
        app.client.response('GET', '/metrics', { headers: { Accept: 'text/plain' }, signal: abort.signal })
          .then((answer) => readBody(() => answer.text(), abort.signal))]);
      fill(now, h('dl', { class: 'figures' },
        ...figure('store', ready.isReady ? t('health.ready') : t('health.notReady', { problem: ready.problem }),
          ready.isReady ? 'good' : 'bad'),
        ...known(health), ...measured(text)),
      h('p', { class: 'soft', role: 'status' }, t('health.asOf', { date: instant(Date.now(),
        { timeStyle: 'medium' }) })));
      fill(unknown, ...unknowns(health));
    } catch (error) {
      if (!abort.signal.aborted) fill(now, h('p', { class: 'problem', role: 'alert' }, messageOf(error)));
    } finally {
      refresh.disabled = false;
    }
  };
  await load();
  const element = h('section', { class: 'view health' },
    h('header', { class: 'view-head' }, h('h1', null, t('nav.health')), h('div', { class: 'view-actions' }, refresh)),
    h('h2', null, t('health.now')), now, checkpointPart(app, abort.signal), unknown);
  return { title: t('nav.health'), element, close: () => abort.abort() };
}

/**
 * What the server knows of the library; null from a server that has no such answer.
 * @param {App} app
 * @param {AbortSignal} signal
 * @returns {Promise<Health | null>}
 */
async function healthOf(app, signal) {
  try {
    return await app.client.ask('GET', '/v1/health', { signal });
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/**
 * The figures of the library, and when it was last looked after.
 * @param {Health | null} health
 */
function known(health) {
  if (!health) return [];
  const { statistics, disk, renditions, care } = health;
  const isTight = disk !== null && disk.freeBytes < disk.totalBytes / 20;
  const done = (/** @type {Care | null} */ one) => one === null ? t('health.never')
    : t('health.done', { date: instant(one.date), behind: Math.max(0, statistics.eventCount - one.eventCount) });
  return [
    ...figure('backup', done(care.backup), care.backup ? undefined : 'bad'),
    ...figure('checkpoint', done(care.checkpoint), care.checkpoint ? undefined : 'bad'),
    ...figure('verification', done(care.verification), care.verification ? undefined : 'bad'),
    ...figure('disk', disk === null ? t('health.unknown')
      : t('health.free', { free: size(disk.freeBytes), total: size(disk.totalBytes) }), isTight ? 'bad' : 'good'),
    ...figure('stored', t('health.bytes', { log: size(statistics.storeBytes), files: size(statistics.resourceBytes) })),
    ...renditions.missingPrograms.length === 0 ? []
      : figure('programs', renditions.missingPrograms.join(', '), 'bad'),
  ];
}

/**
 * The figures that the server counts while it runs.
 * @param {string} metrics
 */
function measured(metrics) {
  const found = figures(metrics);
  const value = (/** @type {string} */ name, /** @type {(one: number) => string} */ words = number) => {
    const one = found.get(`photoledger_${name}`);
    return one === undefined ? t('health.unknown') : words(one);
  };
  const failed = failures(metrics);
  return [
    ...figure('commits', value('commits_total')), ...figure('waiting', value('renditions_waiting')),
    ...figure('renditions', value('renditions_bytes', size)), ...figure('feeds', value('feeds_open')),
    ...figure('requests', value('requests_total')), ...figure('failed', number(failed), failed > 0 ? 'bad' : 'good'),
    ...figure('pace', pace(found)),
  ];
}

/**
 * What the server does not know, with the commands that tell.
 * @param {Health | null} health
 */
function unknowns(health) {
  const names = health ? ['files', 'integrity'] : ['backup', 'checkpoint', 'disk', 'files', 'integrity'];
  const needed = health ? Object.entries({ backup: health.care.backup, checkpoint: health.care.checkpoint })
    .filter(([, one]) => one === null).map(([name]) => name) : [];
  const line = (/** @type {string} */ name, /** @type {string} */ words) =>
    h('li', null, h('strong', null, t(`health.${name}`)), ': ', words, ' ', h('code', null, commands[name]));
  return [h('h2', null, t('health.unknownTitle')), h('p', { class: 'soft' }, t('health.unknown.sentence')),
    h('ul', { class: 'unknowns' }, ...needed.map((name) => line(name, t('health.toMake'))),
      ...names.map((name) => line(name, t(`health.${name}.sentence`))))];
}

/** @type {Record<string, string>} */
const commands = {
  backup: 'photoledger backup FOLDER',
  checkpoint: 'photoledger verify --checkpoint NOTE',
  disk: 'df -h LIBRARY',
  files: 'photoledger resource check --hash',
  integrity: 'photoledger verify --content',
};

/**
 * @param {string} name
 * @param {string} value
 * @param {string} [state]
 */
const figure = (name, value, state) =>
  [h('dt', null, t(`health.${name}`)), h('dd', { 'data-figure': name, class: state }, value)];

/** @param {Map<string, number>} found */
function pace(found) {
  const [count, seconds] = [found.get('photoledger_requests_total') ?? 0,
    found.get('photoledger_request_seconds_total') ?? 0];
  return count === 0 ? t('health.unknown') : t('health.milliseconds', { count: Math.round(seconds / count * 1000) });
}

/**
 * Whether the store can be read.
 * @param {App} app
 * @param {AbortSignal} signal
 */
async function store(app, signal) {
  try {
    await app.client.ask('GET', '/readyz', { signal });
    return { isReady: true, problem: '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { isReady: false, problem: messageOf(error) };
  }
}

/**
 * The checkpoint of the log, made on request.
 * @param {App} app
 * @param {AbortSignal} signal
 */
function checkpointPart(app, signal) {
  const place = h('div', { 'aria-live': 'polite' });
  const button = h('button', { class: 'button', 'data-act': 'checkpoint', onclick: async () => {
    button.disabled = true;
    fill(place, h('p', null, t('health.recomputing')));
    try {
      const [found, note] = await Promise.all([app.client.ask('GET', '/v1/checkpoint', { signal }),
        app.client.response('GET', '/v1/checkpoint', { headers: { Accept: 'text/plain' }, signal }).then((answer) =>
          readBody(() => answer.blob(), signal))]);
      const url = URL.createObjectURL(note);
      fill(place, h('dl', { class: 'figures' }, ...figure('size', number(found.size)),
        ...figure('head', number(found.commit)),
        ...figure('root', found.root), ...figure('time', instant(found.time))),
      h('p', null, t('health.keepNote'), ' ', h('a', { class: 'button', href: url,
        download: `${found.time.slice(0, 10)}.note` }, t('health.saveNote'))));
      signal.addEventListener('abort', () => URL.revokeObjectURL(url));
    } catch (error) {
      if (!signal.aborted) fill(place, h('p', { class: 'problem', role: 'alert' }, messageOf(error)));
    } finally {
      button.disabled = false;
    }
  } }, t('health.recompute'));
  return h('section', null, h('h2', null, t('health.log')), h('p', { class: 'soft' }, t('health.recompute.sentence')),
    button, place);
}
