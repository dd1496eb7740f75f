// Whether pages of an app may show the picker in a frame. A page can draw over a frame, and so have the owner press
// what the owner does not see. So the question is asked in windows of the server only, which no other page frames.

import { t } from '../text/text.js';
import { h } from './dom.js';
import { icon } from './icons.js';

/** For how long the window is in front before the question can be answered, in milliseconds. */
const lookTime = 1000;

/**
 * Switches a button on when its window has been in front for a while, and off whenever it comes or goes. A press that
 * was meant for another window, which an app closed or put behind this one, presses nothing.
 * @param {HTMLButtonElement} button
 * @returns {() => void} switches it off and ends this
 */
function switchedOnLater(button) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const ended = new AbortController();
  const look = () => {
    clearTimeout(timer);
    button.disabled = true;
    if (document.hidden || !document.hasFocus()) return;
    timer = setTimeout(() => { button.disabled = false; }, lookTime);
  };
  for (const name of ['focus', 'blur']) addEventListener(name, look, { signal: ended.signal });
  document.addEventListener('visibilitychange', look, { signal: ended.signal });
  look();
  return () => {
    clearTimeout(timer);
    ended.abort();
    button.disabled = true;
  };
}

/**
 * The question, for the owner, of the pages that a session names and that are not approved yet.
 * @param {import('./guest.js').Guest} guest
 * @param {string} app what the app is called
 * @param {import('./picked.js').Presentation} presentation
 */
export async function frameQuestion({ client, notices }, app, { client: name, origins, approvedOrigins }) {
  const asked = origins.filter((one) => !approvedOrigins.includes(one));
  if (asked.length === 0) return null;
  try {
    const { scopes } = await client.ask('GET', '/v1/session');
    if (!scopes.includes('owner')) return null;
  } catch (error) {
    notices.fail(error);
    return null;
  }
  const allow = h('button', { class: 'button', 'data-act': 'allow-frames', onclick: async () => {
    end();
    try {
      await client.ask('PATCH', `/v1/clients/${encodeURIComponent(name)}/origins`, { json: { approve: asked } });
      question.remove();
    } catch (error) {
      end = switchedOnLater(allow);
      notices.fail(error);
    }
  } }, t('pick.frames.allow'));
  let end = switchedOnLater(allow);
  const question = h('div', { class: 'pick-note pick-frames', role: 'note' }, icon('privacy'),
    h('p', null, t('pick.frames', { app, origins: asked.join(', ') })), allow);
  return question;
}
