// Pictures and films of the server in `img` and `video`, which send a cookie and cannot send a key.
//
// With a cookie the element reads the URL itself. With a key the bytes are read first, and the element shows them from
// the browser's memory, so that a page with a key never uses a session's cookie.

import { Problem, readBody } from './photoledger.js';

/** @typedef {import('./photoledger.js').PhotoLedger} PhotoLedger */

/**
 * What ends what an element shows or waits for.
 * @type {WeakMap<Element, () => void>}
 */
const loads = new WeakMap();

const attempts = 4;

/**
 * Shows a picture or film. As with `src`, the element has `load` or `error` later.
 * @param {PhotoLedger} client
 * @param {HTMLImageElement | HTMLVideoElement} element
 * @param {string} url
 */
export function setSource(client, element, url) {
  clearSource(element);
  if (!client.key) {
    element.src = url;
    return;
  }
  const abort = new AbortController();
  loads.set(element, () => abort.abort());
  readBytes(client, url, abort.signal).then((blob) => {
    if (abort.signal.aborted) return;
    const object = URL.createObjectURL(blob);
    loads.set(element, () => URL.revokeObjectURL(object));
    // A film is read on while it plays.
    if (element instanceof HTMLImageElement) {
      element.addEventListener('load', () => URL.revokeObjectURL(object), { once: true });
    }
    element.src = object;
  }, () => { if (!abort.signal.aborted) element.dispatchEvent(new Event('error')); });
}

/**
 * Ends what an element shows or waits for.
 * @param {HTMLImageElement | HTMLVideoElement} element
 */
export function clearSource(element) {
  loads.get(element)?.();
  loads.delete(element);
  element.removeAttribute('src');
}

/**
 * The bytes at a URL of the server. What is still being made is waited for.
 * @param {PhotoLedger} client
 * @param {string} url
 * @param {AbortSignal} [signal]
 */
export async function readBytes(client, url, signal) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const path = url.slice(client.base.length);
      const answer = await client.response('GET', path, { headers: { Accept: '*/*' }, signal });
      return await readBody(() => answer.blob(), signal);
    } catch (error) {
      if (!(error instanceof Problem) || !error.isPassing || attempt === attempts) throw error;
      const pause = Math.max(error.retryAfter * 1000, 500 * attempt);
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}
