// Signing in with a name and a password. A one-time link needs no page: the server takes it and sends the browser on.

import { PhotoLedger, Problem, addressAfterSignIn, sessionChannel } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { fill, h } from './dom.js';

const client = new PhotoLedger();
const place = /** @type {HTMLElement} */ (document.getElementById('app'));
document.title = `${t('signIn.title')} – ${t('app.name')}`;

const name = h('input', { name: 'name', autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false',
  required: true, maxlength: 64,
  autofocus: true });
const password = h('input', { name: 'password', type: 'password', autocomplete: 'current-password', required: true,
  maxlength: 256 });
const problem = h('p', { class: 'problem', role: 'alert' });
const submit = h('button', { class: 'button main', type: 'submit' }, t('signIn.act'));

/**
 * Why it failed, as the reader says it.
 * @param {unknown} error
 */
function words(error) {
  if (error instanceof Problem) {
    if (error.status === 401) return t('signIn.wrong');
    if (error.status === 429) return t('signIn.tooMany', { count: Math.max(1, error.retryAfter) });
    if (error.status === 0) return t('signIn.offline');
  }
  return messageOf(error);
}

/** @param {Event} event */
async function signIn(event) {
  event.preventDefault();
  submit.disabled = true;
  problem.textContent = '';
  try {
    const session = await client.ask('POST', '/v1/sessions', { json: { name: name.value.trim(),
      password: password.value, cookie: true, label: navigator.userAgent.slice(0, 200) } });
    new BroadcastChannel(sessionChannel).postMessage({ client: session.client, person: session.person });
    location.replace(addressAfterSignIn(location));
  } catch (error) {
    problem.textContent = words(error);
    submit.disabled = false;
    password.select();
  }
}

fill(place, h('main', { class: 'sign-in' }, h('h1', null, t('app.name')), h('form', { onsubmit: signIn },
  h('label', { class: 'field' }, t('signIn.name'), name), h('label', { class: 'field' }, t('signIn.password'),
    password), problem, submit),
h('p', { class: 'soft' }, t('signIn.link')), h('p', { class: 'soft' }, h('code', null, 'photoledger serve'))));
name.focus();
if (location.hash.startsWith('#%2F')) {
  // A page left for here whose session another sign-in in this browser had just replaced: it goes on with the new one.
  client.ask('GET', '/v1/session').then(() => location.replace(addressAfterSignIn(location)), () => {});
} else if (location.hash === '#ended') {
  problem.textContent = t('signIn.ended');
  // A link in another site or program leads here without the cookie, which this page's own requests have.
  client.ask('GET', '/v1/session').then((session) => {
    if (session.client === 'owner') location.replace('/');
  }, () => {});
}
