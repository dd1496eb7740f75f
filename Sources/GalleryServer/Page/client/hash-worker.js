// Hashes files beside the page, one after the other: { id, file } ─▶ { id, sha256 } or { id, error }.

import { Sha256 } from './sha256.js';

/** What is hashed at once by the browser, which is fast and needs all of it in memory; larger files go in parts. */
const atOnce = 32 << 20;
const partSize = 4 << 20;

/** @param {Blob} file */
async function hash(file) {
  if (file.size <= atOnce && globalThis.crypto?.subtle) {
    const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }
  const sum = new Sha256();
  for (let at = 0; at < file.size; at += partSize) {
    sum.update(new Uint8Array(await file.slice(at, at + partSize).arrayBuffer()));
  }
  return sum.digest();
}

/** @type {Promise<void>} */
let last = Promise.resolve();
const worker = /** @type {any} */ (globalThis);
worker.onmessage = (/** @type {MessageEvent} */ { data: { id, file } }) => {
  last = last.then(async () => {
    try {
      worker.postMessage({ id, sha256: await hash(file) });
    } catch (error) {
      worker.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
};
