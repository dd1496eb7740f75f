// The page of a share link: what was shared, and nothing else.
//
//   /share#SECRET ─▶ POST /v1/shares:open ─▶ a key of the visit ─▶ grid, viewer, downloads, uploads
//
// The key stands for itself and is sent with each request; the page neither reads nor sets the cookie. So a session
// stays signed in, and the page shows what every visitor sees. The key lies in the tab's own storage, so that a reload
// asks for no password again; it ends with the tab, and with the link. It ends after a day, too: the page then opens the
// link again, and what is being uploaded goes on with the new key.

import { PhotoLedger, Problem, downloadLimit } from '../client/photoledger.js';
import { readBytes } from '../client/pictures.js';
import { Uploads } from '../model/uploads.js';
import { isolated, t } from '../text/text.js';
import { preparedDownload } from './dialog.js';
import { fill, h, once } from './dom.js';
import { takeDrops } from './dropped.js';
import { Grid } from './grid.js';
import { openGuestViewer } from './guest-viewer.js';
import { Guest, reason, sayOnly } from './guest.js';
import { icon } from './icons.js';
import { UploadPanel, chooseButtons, guardLeaving } from './upload-panel.js';

/**
 * @typedef {object} Visit
 * @property {string} label the title of the share
 * @property {string[]} scopes
 * @property {string} secret
 */

const place = /** @type {HTMLElement} */ (document.getElementById('app'));
const storage = 'photoledger.share';
const link = location.hash.slice(1);

/**
 * What is uploaded into the share, by one visit after the other; null before anything may be.
 * @type {Uploads | null}
 */
let uploads = null;

/**
 * The visit of before a reload.
 * @returns {Visit | null}
 */
function formerVisit() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storage) ?? 'null');
    return kept?.link === link ? kept.visit : null;
  } catch {
    // What is not readable is not there: the link is opened again.
    return null;
  }
}

/** @param {Visit | null} visit */
function keepVisit(visit) {
  try {
    if (visit) sessionStorage.setItem(storage, JSON.stringify({ link, visit }));
    else sessionStorage.removeItem(storage);
  } catch {
    // A browser that stores nothing asks again after a reload.
  }
}

/**
 * Opens the link, with a password if it wants one.
 * @param {string} [password]
 * @returns {Promise<void>}
 */
async function openLink(password) {
  fill(place, h('p', { class: 'loading', role: 'status' }, t('state.loading')));
  if (link === '') {
    sayOnly(place, t('share.incomplete'), t('share.incomplete.sentence'));
    return;
  }
  const former = password === undefined ? formerVisit() : null;
  try {
    const visit = former ?? await new PhotoLedger().ask('POST', '/v1/shares:open', {
      json: password === undefined ? { secret: link } : { secret: link, password },
    });
    keepVisit(visit);
    await showShare(visit);
  } catch (error) {
    const type = error instanceof Problem ? error.type : '';
    if (former && error instanceof Problem && (error.status === 401 || error.status === 403)) {
      // The key of before a reload has ended, and the link may have not.
      keepVisit(null);
      await openLink();
    } else if (type === 'password-required') askPassword(password !== undefined);
    else if (error instanceof Problem && error.status === 401) showEnd();
    else {
      sayOnly(place, t('error.title'), reason(error),
        h('button', { class: 'button main', onclick: () => openLink(password) }, t('action.retry')));
    }
  }
}

function showEnd() {
  keepVisit(null);
  sayOnly(place, t('share.ended'), t('share.ended.sentence'));
}

/** @param {boolean} wasWrong */
function askPassword(wasWrong) {
  const title = t('share.password.title');
  document.title = `${isolated(title)} – ${t('app.name')}`;
  const input = h('input', {
    type: 'password', required: true, autocomplete: 'current-password', autofocus: true,
    'aria-describedby': wasWrong ? 'wrong' : null, 'aria-invalid': wasWrong ? 'true' : null,
  });
  fill(place, h('main', { class: 'saying' }, h('h1', null, title),
    h('form', { onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    openLink(input.value);
  } }, h('label', { class: 'field' }, t('share.password'), input),
  wasWrong && h('p', { id: 'wrong', class: 'wrong', role: 'alert' }, t('share.password.wrong')),
  h('button', { class: 'button main', type: 'submit' }, t('share.open')))));
  input.focus();
}

/**
 * Gives bytes to the person as a file.
 * @param {Blob} blob
 * @param {string} name
 */
function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const anchor = h('a', { href: url, download: name, hidden: true });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * Downloads originals: the file itself of one that has one, else an archive.
 * @param {Guest} guest
 * @param {() => Promise<string[]>} identify gives the identifiers, which takes a while if there are many
 * @param {string} title
 */
async function download(guest, identify, title) {
  const { client, notices } = guest;
  const done = notices.show(t('share.downloading'), { seconds: 3600 });
  try {
    const ids = await identify();
    if (ids.length > downloadLimit) {
      notices.show(t('action.tooMany', { count: downloadLimit }), { isError: true });
      return;
    }
    const resources = ids.length === 1 ? (await client.asset(ids[0])).resources : [];
    if (resources.length === 1) {
      const { sha256, originalFilename } = resources[0];
      save(await readBytes(client, client.resourceURL(ids[0], sha256)), originalFilename || 'photo');
    } else {
      const made = await preparedDownload(client, ids);
      if (made) save(await readBytes(client, client.base + made.url), `${title.slice(0, 80)}.zip`);
    }
  } catch (error) {
    notices.show(reason(error), { isError: true });
  } finally {
    done();
  }
}

/** @param {Visit} visit */
async function showShare(visit) {
  const client = new PhotoLedger({ key: visit.secret });
  const guest = new Guest(client, place);
  const mayDownload = visit.scopes.includes('originals');
  const title = visit.label;
  const grid = await Grid.open(guest.app, {
    question: { sort: ['creationDate:desc'] }, isPlain: !mayDownload, label: title,
  }).catch((error) => {
    guest.feed.leave();
    throw error;
  });
  /** @type {HTMLDialogElement | null} */
  let viewer = null;
  guest.feed.addEventListener('signedout', () => {
    // The key of the visit has ended; whether the link has is for the link to say.
    viewer?.close();
    upload?.end();
    grid.close();
    guest.feed.leave();
    keepVisit(null);
    openLink();
  }, { once: true });
  document.title = `${isolated(title)} – ${t('app.name')}`;

  const count = h('p', { class: 'count', 'aria-live': 'polite' });
  const everything = async () => {
    const { fetch, token, count: total } = grid.list;
    const ids = [];
    for (let at = 0; at < total; at += 1000) {
      ids.push(...(await client.window(fetch, token, at, 1000)).items.map((item) => item.id));
    }
    return ids;
  };
  const all = h('button', { class: 'button', onclick: () => once(all, () => download(guest, everything, title)) },
    icon('download'), t('share.downloadAll'));
  const selected = h('button', { class: 'button main', hidden: true,
    onclick: () => once(selected, () => download(guest, () => grid.selectedIdentifiers(), title)) });
  const larger = h('button', { class: 'icon-button', 'aria-label': t('grid.larger'), onclick: () => grid.zoom(-1) },
    icon('plus'));
  const smaller = h('button', { class: 'icon-button', 'aria-label': t('grid.smaller'), onclick: () => grid.zoom(1) },
    icon('minus'));
  const empty = h('p', { class: 'empty', hidden: true },
    t(visit.scopes.includes('add') ? 'share.emptyUpload' : 'share.empty'));
  const upload = visit.scopes.includes('add') ? uploadPart(guest) : null;
  const head = h('header', { class: 'view-head' }, h('h1', null, h('bdi', null, title)), count,
    h('div', { class: 'view-actions' }, mayDownload && selected, mayDownload && all, smaller, larger));
  const draw = () => {
    count.textContent = t('photos.count', { count: grid.list.count });
    empty.hidden = grid.list.count > 0;
    grid.element.classList.toggle('is-empty', grid.list.count === 0);
    all.hidden = grid.list.count === 0 || grid.selection.count > 0;
    selected.hidden = grid.selection.count === 0;
    fill(selected, icon('download'), t('share.downloadSelected', { count: grid.selection.count }));
    smaller.disabled = !grid.canZoom(1);
    larger.disabled = !grid.canZoom(-1);
  };
  grid.addEventListener('count', draw);
  grid.addEventListener('zoom', draw);
  grid.selection.addEventListener('change', draw);
  grid.addEventListener('open', (event) => {
    viewer = openGuestViewer(grid, /** @type {import('./grid.js').OpenEvent} */ (event).index,
      mayDownload ? { onDownload: (id) => download(guest, async () => [id], title) } : {});
  });
  draw();
  guest.show(h('section', { class: 'view with-grid', 'aria-label': title }, head, upload?.element, empty,
    grid.element));
}

/**
 * Adding photos to the share. What a visit before this one left goes on.
 * @param {Guest} guest
 */
function uploadPart({ client, notices }) {
  const queue = uploads ?? new Uploads(client);
  if (!uploads) guardLeaving(queue);
  uploads = queue;
  queue.goOnWith(client);
  const panel = new UploadPanel(queue, { onSignIn: () => location.reload() });
  const list = h('div', { class: 'share-list' }, panel.element);
  const show = () => { list.hidden = queue.entries.length === 0; };
  show();
  queue.addEventListener('change', show);
  const add = (/** @type {import('../model/uploads.js').Chosen[]} */ chosen) => queue.add(chosen);
  const endDrops = takeDrops(t('upload.drop'), ({ chosen, problems }) => {
    for (const problem of problems.slice(0, 3)) notices.show(problem, { isError: true });
    add(chosen);
  });
  const element = h('div', { class: 'share-upload' },
    h('div', { class: 'upload-buttons' }, h('span', { class: 'share-hint' }, t('share.upload')),
      ...chooseButtons(add)), list);
  return { element, end: () => {
    endDrops();
    panel.close();
    queue.removeEventListener('change', show);
  } };
}

addEventListener('hashchange', () => location.reload());
await openLink();
