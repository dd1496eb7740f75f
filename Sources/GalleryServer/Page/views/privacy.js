// Privacy: every client of the library, what it may see and do, since when, and how to change that.
//
// A client is an app, a person's account or a share link. Decisions about them are commits like any other, so each has
// its Undo; only keys are outside of the log, and what ends them says so.

import { instant, t } from '../text/text.js';
import { App } from './app.js';
import { arrange, fill, h, once } from './dom.js';
import { field, formDialog, make } from './forms.js';
import { icon } from './icons.js';
import { clientDetails } from './privacy-client.js';
import { askerName, isShareLink, readClients } from './client-names.js';
import { drawRequests, requestLine } from './requests.js';
import { secretDialog } from './secret.js';

/**
 * @typedef {object} Client
 * @property {string} name
 * @property {'full' | 'limited' | 'addOnly' | 'picked' | 'none'} accessKind
 * @property {{ readWrite: string, addOnly: string }} authorizationStatus
 * @property {{ readWrite: string | null, addOnly: string | null }} usageDescription
 * @property {number} selectionCount
 * @property {number} pickCount
 * @property {string} registeredDate
 */

const accessKinds = ['full', 'limited', 'addOnly', 'picked', 'none'];
const statuses = ['authorized', 'limited', 'denied', 'restricted', 'notDetermined'];

/**
 * @param {App} app
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app) {
  await app.starting;
  const view = new PrivacyView(app);
  await view.load();
  return { title: t('nav.privacy'), element: view.element, close: () => view.close() };
}

class PrivacyView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.abort = new AbortController();
    this.waiting = h('div', { class: 'privacy-waiting' });
    this.list = h('div', { class: 'clients' });
    this.count = h('p', { class: 'count', role: 'status' });
    /**
     * The clients whose details are open.
     * @type {Set<string>}
     */
    this.opened = new Set();
    /**
     * The cards of clients, each with what it shows.
     * @type {Map<string, { drawn: string, element: HTMLElement }>}
     */
    this.cards = new Map();
    /**
     * The lists of cards, by kind of access.
     * @type {Map<string, { section: HTMLElement, list: HTMLElement }>}
     */
    this.kinds = new Map(accessKinds.map((kind) => {
      const list = h('ul', { class: 'entries' });
      return [kind, { list, section: h('section', null, h('h2', null, t(`privacy.kind.${kind}`)), list) }];
    }));
    this.none = h('p', { class: 'empty' }, t('privacy.none'));
    this.element = h('section', { class: 'view privacy' },
      h('header', { class: 'view-head' }, h('h1', null, t('nav.privacy')), this.count,
        h('div', { class: 'view-actions' },
        h('button', { class: 'button', onclick: () => this.register() }, icon('plus'), t('privacy.register')))),
      h('p', { class: 'soft' }, t('privacy.sentence')), this.waiting, this.list);
    this.changed = () => {
      this.showWaiting();
      this.reload();
    };
    app.requests?.addEventListener('change', this.changed);
  }

  showWaiting() {
    const waiting = this.app.requests?.waiting ?? [];
    drawRequests(this.waiting, waiting, () => [waiting.length > 0 && h('h2', null, t('privacy.waiting')),
      ...waiting.map((request) => requestLine(this.app, request))]);
  }

  async load() {
    this.showWaiting();
    const clients = await readClients(this.app, this.abort.signal);
    this.showWaiting();
    this.show(clients);
  }

  /**
   * Reads the clients again.
   * @param {string} [client] one whose card is drawn anew though its record may be the same: its keys are another thing
   */
  async reload(client) {
    if (client !== undefined) this.cards.delete(client);
    try {
      await this.load();
    } catch (error) {
      if (!this.abort.signal.aborted) this.app.notices.fail(error);
    }
  }

  /**
   * Shows clients. A card whose client is as before stays, with what was chosen in it.
   * @param {Client[]} clients
   */
  show(clients) {
    this.count.textContent = t('privacy.count', { count: clients.length });
    const focused = document.activeElement instanceof HTMLElement && this.list.contains(document.activeElement)
      ? document.activeElement.dataset.focus : undefined;
    const { cards } = this;
    this.cards = new Map(clients.map((client) => {
      const { name } = client;
      const drawn = JSON.stringify([client, askerName(name)]);
      const known = cards.get(name);
      return [name, known?.drawn === drawn ? known : { drawn, element: this.card(client) }];
    }));
    for (const [kind, { list }] of this.kinds) {
      const found = clients.filter((one) => one.accessKind === kind);
      arrange(list, ...found.map(({ name }) => this.cards.get(name)?.element));
    }
    arrange(this.list, ...[...this.kinds.values()].map(({ list, section }) => list.hasChildNodes() && section),
      clients.length === 0 && this.none);
    // A person who changed something with the keyboard goes on there.
    if (focused && !this.list.contains(document.activeElement)) {
      for (const one of this.list.querySelectorAll('[data-focus]')) {
        if (one instanceof HTMLElement && one.dataset.focus === focused) one.focus();
      }
    }
  }

  /** @param {Client} client */
  card(client) {
    const { name, authorizationStatus: status, usageDescription: usage } = client;
    const title = askerName(name);
    // Some browsers change the choice with every press of an arrow key, so the choice alone decides nothing.
    const select = h('select', { 'data-focus': `status ${name}`, 'aria-label': t('privacy.mayRead', { name: title }),
      onchange: () => { apply.hidden = select.value === status.readWrite; },
    }, ...statuses.map((one) => h('option', { value: one, '.selected': one === status.readWrite },
      t(`privacy.status.${one}`))));
    // The focus returns to the choice in the card that is drawn next.
    const apply = h('button', { class: 'button main', hidden: true, 'data-act': 'apply', 'data-focus': `status ${name}`,
      'aria-label': t('privacy.applyTo', { name: title }),
      onclick: () => once(apply, () => this.decide(client, 'readWrite', select.value)) }, t('privacy.apply'));
    const adds = h('input', { type: 'checkbox', 'data-focus': `adds ${name}`,
      '.checked': status.addOnly === 'authorized' || mayAdd(status),
      disabled: mayAdd(status), onchange: async () => {
        if (!await this.decide(client, 'addOnly', adds.checked ? 'authorized' : 'denied')) adds.checked = !adds.checked;
      } });
    const body = h('div', { class: 'client-details' });
    const details = h('details', { '.open': this.opened.has(name), ontoggle: () => {
      if (details.open) {
        this.opened.add(name);
        clientDetails(this.app, client, body, this.abort.signal, () => this.reload(name));
      } else {
        this.opened.delete(name);
        fill(body);
      }
    } }, h('summary', { 'data-focus': `details ${name}` }, t('privacy.details')), body);
    return h('li', { class: 'entry client', 'data-client': name },
      h('h3', { dir: 'auto' }, title), title === name ? null : h('p', { class: 'soft client-name', dir: 'auto' }, name),
      h('p', null, this.access(client), ' ', h('span', { class: 'soft' },
        t('privacy.since', { date: instant(client.registeredDate) }))),
      usage.readWrite && !isShareLink(name)
        ? h('p', { class: 'usage', dir: 'auto' }, t('said.name', { name: usage.readWrite })) : null,
      usage.addOnly ? h('p', { class: 'usage', dir: 'auto' }, t('privacy.addUsage', { usage: usage.addOnly })) : null,
      h('div', { class: 'entry-actions' }, h('label', { class: 'inline-field' }, t('privacy.may'), select), apply,
        h('label', { class: 'choice' }, adds, h('span', null, t('privacy.mayAdd'))),
        h('a', { class: 'button', href: App.href('history', '', { client: name }) }, icon('history'),
          t('privacy.did'))), details);
  }

  /** @param {Client} client */
  access({ accessKind, selectionCount, pickCount }) {
    const words = [t(`privacy.access.${accessKind}`, { count: selectionCount })];
    if (accessKind !== 'limited' && selectionCount > 0) {
      words.push(t('privacy.selectionKept', { count: selectionCount }));
    }
    if (pickCount > 0) words.push(t('privacy.picked', { count: pickCount }));
    return words.join(' ');
  }

  /**
   * Decides what a client may do.
   * @param {Client} client
   * @param {'readWrite' | 'addOnly'} level
   * @param {string} status
   */
  async decide({ name }, level, status) {
    const done = await this.app.commit([{ op: 'client.authorize', client: name, status, level }],
      t(`privacy.done.${level}`, { name: askerName(name), status: t(`status.${status}`) }), { cause: 'privacy page' });
    if (done) await this.reload();
    return done !== null;
  }

  async register() {
    const name = h('input', { required: true, maxlength: 128, autofocus: true, autocomplete: 'off' });
    const usage = h('textarea', { required: true, maxlength: 1000, rows: 3 });
    const made = await formDialog(t('privacy.register'), t('privacy.register.act'), [
      h('p', null, t('privacy.register.sentence')), field(t('privacy.register.name'), name),
      field(t('privacy.register.usage'), usage),
    ], () => make(this.app, '/v1/clients', { name: name.value.trim(), usage: usage.value.trim() }, 'nav.privacy'));
    if (made) await secretDialog(t('privacy.registered', { name: made.client }), t('people.key.once'), made.secret);
    // Also without an answer: the client may be there.
    await this.reload();
  }

  close() {
    this.abort.abort();
    this.app.requests?.removeEventListener('change', this.changed);
  }
}

/** @param {{ readWrite: string }} status */
const mayAdd = ({ readWrite }) => readWrite === 'authorized' || readWrite === 'limited';
