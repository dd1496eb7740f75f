// Whether pages of an app may show the picker in a frame. A page can draw over a frame, and so have the owner press
// what the owner does not see. So the question is asked in windows of the server only, which no other page frames.

import { t } from '../text/text.js';
import { h } from './dom.js';
import { icon } from './icons.js';

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
    allow.disabled = true;
    try {
      await client.ask('PATCH', `/v1/clients/${encodeURIComponent(name)}/origins`, { json: { approve: asked } });
      question.remove();
    } catch (error) {
      allow.disabled = false;
      notices.fail(error);
    }
  } }, t('pick.frames.allow'));
  const question = h('div', { class: 'pick-note pick-frames', role: 'note' }, icon('privacy'),
    h('p', null, t('pick.frames', { app, origins: asked.join(', ') })), allow);
  return question;
}
