// People who sign in, keys of programs, and share links. None of them is in the log: a password and a key are secrets.

import { instant, t } from '../text/text.js';
import { App } from './app.js';
import { clientName, learnNames } from './client-names.js';
import { confirmed } from './dialog.js';
import { fill, h } from './dom.js';
import { field, formDialog, make } from './forms.js';
import { icon } from './icons.js';
import { end } from './privacy-client.js';
import { secretDialog } from './secret.js';

const scopes = ['read', 'originals', 'add', 'change', 'owner'];
const firstScopes = new Set(['read', 'originals', 'add', 'change']);

/**
 * @param {App} app
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app) {
  const abort = new AbortController();
  const body = h('div');
  const load = async () => {
    const ask = (/** @type {string} */ path) => app.client.ask('GET', path, { signal: abort.signal });
    const [{ people }, { keys }, { shares }] = await Promise.all([ask('/v1/people'), ask('/v1/keys'),
      ask('/v1/shares')]);
    await learnNames(app, [...people, ...keys].map(({ client }) => client), abort.signal);
    draw(body, peoplePart(app, people, reload), keysPart(app, keys, reload), sharesPart(app, shares, reload));
  };
  const reload = async () => {
    try {
      await load();
    } catch (error) {
      if (!abort.signal.aborted) app.notices.fail(error);
    }
  };
  await load();
  const element = h('section', { class: 'view people' }, h('header', { class: 'view-head' },
    h('h1', null, t('nav.people'))), body);
  return { title: t('nav.people'), element, close: () => abort.abort() };
}

/**
 * Draws the parts anew. The button in the place of the one that had the focus gets it, or the heading of its part.
 * @param {HTMLElement} body
 * @param {...HTMLElement} parts
 */
function draw(body, ...parts) {
  const { activeElement } = document;
  const former = body.contains(activeElement) ? activeElement?.closest('section') : null;
  const buttons = (/** @type {HTMLElement} */ part) => [...part.querySelectorAll('button')];
  const place = former ? buttons(former).findIndex((one) => one === activeElement) : -1;
  fill(body, ...parts);
  const part = parts.find((one) => one.dataset.part === former?.dataset.part);
  if (!former || !part) return;
  const next = buttons(part);
  (next[Math.min(place, next.length - 1)] ?? part.querySelector('h2'))?.focus();
}

/** @param {boolean} isRequired */
const passwordInput = (isRequired) =>
  h('input', { type: 'password', autocomplete: 'new-password', minlength: 8, maxlength: 256, required: isRequired });

/**
 * @param {App} app
 * @param {any[]} people
 * @param {() => Promise<void>} changed
 */
function peoplePart(app, people, changed) {
  const add = async () => {
    const name = h('input', { required: true, maxlength: 64, autocomplete: 'off', autofocus: true });
    const client = h('input', { required: true, maxlength: 256, autocomplete: 'off', '.value': 'family' });
    const password = passwordInput(false);
    const made = await formDialog(t('people.add'), t('people.add.act'), [field(t('people.name'), name),
      field(t('people.client'), client, t('people.client.hint')), field(t('people.password'), password,
        t('people.password.hint'))], async () => {
      const json = { name: name.value.trim(), client: client.value.trim(),
        ...(password.value === '' ? {} : { password: password.value }) };
      return app.client.ask('POST', '/v1/people', { json });
    });
    if (!made) return;
    app.notices.show(t('people.added', { name: made.name }));
    await changed();
  };
  const setPassword = async (/** @type {any} */ person) => {
    const password = passwordInput(true);
    const path = `/v1/people/${encodeURIComponent(person.name)}/password`;
    const done = await formDialog(t('people.setPassword.title', { name: person.name }), t('people.setPassword'),
      [h('p', null, t('people.setPassword.sentence')), field(t('people.password'), password)], async () => {
        await app.client.ask('PUT', path, { json: { password: password.value } });
        return true;
      });
    if (!done) return;
    app.notices.show(t('people.passwordSet', { name: person.name }));
    await changed();
  };
  const remove = async (/** @type {any} */ person) => {
    const isSure = await confirmed(t('people.remove.title', { name: person.name }), t('people.remove.sentence'),
      t('people.remove'), { isGrave: true });
    if (isSure) await end(app, `/v1/people/${encodeURIComponent(person.name)}`,
      t('people.removed', { name: person.name }), changed);
  };
  const link = async () => {
    try {
      const made = await app.client.ask('POST', '/v1/links', { json: {} });
      await secretDialog(t('people.link'), t('people.link.sentence'), location.origin + made.url);
    } catch (error) {
      app.notices.fail(error);
    }
  };
  return h('section', { 'data-part': 'people' }, h('header', { class: 'view-head' },
    h('h2', { tabindex: '-1' }, t('people.people')), h('div', { class: 'view-actions' },
    h('button', { class: 'button', onclick: link }, icon('link'), t('people.link')),
    h('button', { class: 'button', onclick: add }, icon('plus'), t('people.add')))),
  people.length === 0 ? h('p', { class: 'soft' }, t('people.none')) : h('ul', { class: 'entries' },
    ...people.map((person) =>
    h('li', { class: 'entry', 'data-person': person.name }, h('h3', { dir: 'auto' }, person.name),
      h('p', { class: 'soft', dir: 'auto' }, t('people.actsAs', { client: clientName(person.client) }), ' ',
        t(person.hasPassword ? 'people.hasPassword' : 'people.noPassword'), ' ',
          t('people.since', { date: instant(person.created) })),
      h('div', { class: 'entry-actions' },
        h('button', { class: 'button', 'aria-label': t('people.setPassword.title', { name: person.name }),
          onclick: () => setPassword(person) },
          t('people.setPassword')),
        h('button', { class: 'button', 'aria-label': t('people.remove.title', { name: person.name }),
          onclick: () => remove(person) },
          t('people.remove')))))));
}

/**
 * @param {App} app
 * @param {any[]} keys
 * @param {() => Promise<void>} changed
 */
function keysPart(app, keys, changed) {
  const add = async () => {
    const client = h('input', { required: true, maxlength: 256, autocomplete: 'off', autofocus: true });
    const label = h('input', { maxlength: 200, autocomplete: 'off' });
    const days = h('input', { type: 'number', min: 1, max: 3650, required: true, '.value': '30' });
    const boxes = scopes.map((scope) => h('input', { type: 'checkbox', value: scope,
      '.checked': firstScopes.has(scope) }));
    const made = await formDialog(t('people.key.add'), t('people.key.add.act'),
      [field(t('people.client'), client, t('people.client.hint')),
      field(t('people.key.label'), label),
      h('fieldset', { class: 'option-set' }, h('legend', null, t('people.key.scopes')), ...boxes.map((box) =>
        h('label', { class: 'choice' }, box, h('span', null, t(`scope.${box.value}`))))),
      field(t('people.key.days'), days)], async () => {
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      if (chosen.length === 0) throw new Error(t('people.key.noScope'));
      return make(app, '/v1/keys', { client: client.value.trim(), label: label.value.trim(), scopes: chosen,
        days: Number(days.value) }, 'nav.people');
    });
    if (made) await secretDialog(t('people.key.made', { client: made.client }), t('people.key.once'), made.secret);
    // Also without an answer: the key may be there.
    await changed();
  };
  // Visits of a share link end with it, and stand under it.
  const lasting = keys.filter((key) => key.share === null);
  const isSession = (/** @type {any} */ key) => key.person !== null || key.isBrowser;
  const programs = lasting.filter((key) => !isSession(key));
  const sessions = lasting.filter(isSession);
  const line = (/** @type {any} */ key) => {
    const name = key.label || clientName(key.client);
    return h('li', { class: 'entry', 'data-key': key.name }, h('h3', { dir: 'auto' }, isSession(key)
      ? t('people.key.session', { person: key.person ?? clientName(key.client) }) : name),
      key.isOwn && h('p', null, t('people.key.own')),
      h('p', { class: 'soft', dir: 'auto' }, t('people.actsAs', { client: clientName(key.client) }), ' ',
        key.scopes.map((/** @type {string} */ scope) => scopes.includes(scope) ? t(`scope.${scope}`)
          : scope).join(', ')),
      h('p', { class: 'soft' }, t('people.key.dates', { created: instant(key.created),
        expires: instant(key.expires) })),
      h('div', { class: 'entry-actions' }, h('button', { class: 'button',
        'aria-label': t('people.key.withdrawOf', { name }), onclick: () => withdraw(key) },
        t('people.withdraw'))));
  };
  const withdraw = async (/** @type {any} */ key) => {
    const isSure = await confirmed(t('people.key.withdrawOf', { name: key.label || clientName(key.client) }),
      t(key.isOwn ? 'people.key.withdraw.own' : 'people.key.withdraw.sentence'),
      t('people.withdraw'), { isGrave: true });
    if (isSure) await end(app, `/v1/keys/${encodeURIComponent(key.name)}`, t('people.key.withdrawn'), changed);
  };
  return h('section', { 'data-part': 'keys' }, h('header', { class: 'view-head' }, h('h2', { tabindex: '-1' }, t('people.keys')),
    h('div', { class: 'view-actions' },
    h('button', { class: 'button', onclick: add }, icon('key'), t('people.key.add')))),
      h('p', { class: 'soft' }, t('people.keys.sentence')),
  h('ul', { class: 'entries' }, ...programs.map(line)), sessions.length === 0 ? null : h('h3', null,
    t('people.sessions')),
  sessions.length === 0 ? null : h('ul', { class: 'entries' }, ...sessions.map(line)));
}

/**
 * @param {App} app
 * @param {any[]} shares
 * @param {() => Promise<void>} changed
 */
function sharesPart(app, shares, changed) {
  return h('section', { 'data-part': 'shares' }, h('h2', { tabindex: '-1' }, t('people.shares')),
    shares.length === 0 ? h('p', { class: 'soft' }, t('people.shares.none')) : h('ul', { class: 'entries' },
      ...shares.map((share) =>
      h('li', { class: 'entry', 'data-share': share.name }, h('h3', { dir: 'auto' }, share.title),
        share.album && h('p', null, h('a', { href: App.href('albums', share.album.split('/')[0]) },
          t('people.share.album'))),
        h('p', { class: 'soft' }, [share.hasPassword && t('people.share.password'), share.upload
          && t('people.share.upload'),
          share.originals && t('people.share.originals'),
          share.expires ? t(share.isExpired ? 'people.share.expired' : 'people.share.until',
            { date: instant(share.expires) }) : t('people.share.forever')].filter(Boolean).join(' · ')),
        h('div', { class: 'entry-actions' }, h('button', { class: 'button',
          'aria-label': t('people.share.endOf', { title: share.title }),
          onclick: async () => {
            const isSure = await confirmed(t('people.share.endOf', { title: share.title }),
              t('people.share.end.sentence'), t('people.share.end'), { isGrave: true });
            if (isSure) await end(app, `/v1/shares/${encodeURIComponent(share.name)}`, t('people.share.ended'),
              changed);
          } }, t('people.share.end')))))));
}
