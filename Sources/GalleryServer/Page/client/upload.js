// Sends one file to the library so that a cut costs only what was on its way.
//
//   POST /v1/uploads (nothing yet) ─▶ place ─┬─▶ PATCH part … PATCH last part ─▶ the asset
//                                            └─ after a cut: GET place ─▶ offset, or the asset
//
// The upload is made before its first byte is sent, because browsers do not show the answer that names it meanwhile.
// What finished an upload is answered the same each time it is asked, so a file becomes one asset, however often it is
// cut.
//
// A connection may die without a word. What is silent for a while is given up and asked again, which costs nothing.
//
// Rejected: one request for a small file. A client that only adds would make a second asset when it sends it again.

import { Problem, notReached, secondsOf } from './photoledger.js';

/** @typedef {import('./photoledger.js').PhotoLedger} PhotoLedger */

/**
 * @typedef {object} Uploaded
 * @property {string} asset
 * @property {string} sha256
 * @property {'created' | 'completed' | 'duplicate'} outcome `completed`: it became a part of an asset that was there
 *
 * @typedef {object} SendOptions
 * @property {string} name what the file is called
 * @property {string} [sha256] the hash that the server compares the bytes with
 * @property {string} [place] the path of the upload, where it was begun before
 * @property {AbortSignal} [signal]
 * @property {(bytes: number) => void} [onProgress] how much of the file is there
 * @property {(place: string) => void} [onPlace] the upload has a path now
 */

/** How many bytes are sent at once; the server takes 50 MB. */
const partSize = 16 << 20;
/** How long a request may be silent, milliseconds. */
const silence = 60_000;
/** How long the answer to the last part may take, in which the server finishes the file. */
const finishing = 600_000;

/** A file of the person's that cannot be read any more: it was changed, moved, or its medium is gone. */
export class FileGone extends Error {}

/**
 * A name as the server takes it: without controls and what turns text around, at most 255 bytes, the ending kept.
 * @param {string} name
 */
export function fileName(name) {
  const plain = name.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu, '').replace(/[/\\]/g, '_').trim();
  const length = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
  const dot = plain.lastIndexOf('.');
  const ending = dot > 0 && plain.length - dot <= 10 ? plain.slice(dot) : '';
  let letters = [...plain.slice(0, plain.length - ending.length)];
  if (length(plain) > 255) {
    let room = 255 - length(ending);
    letters = letters.filter((letter) => (room -= length(letter)) >= 0);
  }
  return letters.join('') + ending || 'file';
}

/** @param {string} name */
function disposition(name) {
  const escape = (/** @type {string} */ sign) => `%${sign.charCodeAt(0).toString(16)}`;
  const spelled = encodeURIComponent(fileName(name)).replace(/['()*]/g, escape);
  return `attachment; filename*=UTF-8''${spelled}`;
}

/**
 * Sends a request, and gives it up if it is not answered for a while.
 * @template Value
 * @param {(signal: AbortSignal) => Promise<Value>} ask
 * @param {AbortSignal} [signal]
 * @returns {Promise<Value>}
 */
async function inTime(ask, signal) {
  const limit = new AbortController();
  const abort = () => limit.abort(signal?.reason);
  const timer = setTimeout(abort, silence);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  try {
    return await ask(limit.signal);
  } catch (error) {
    throw limit.signal.aborted && !signal?.aborted ? notReached() : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** @param {string} hex */
function digest(hex) {
  const bytes = (hex.match(/../g) ?? []).map((two) => Number.parseInt(two, 16));
  return `sha-256=:${btoa(String.fromCharCode(...bytes))}:`;
}

/**
 * Sends a part, with progress, which `fetch` does not have for what is sent.
 * @param {PhotoLedger} client
 * @param {string} path
 * @param {Blob} part
 * @param {Record<string, string>} fields
 * @param {{ signal?: AbortSignal, onProgress: (bytes: number) => void }} options
 * @returns {Promise<Uploaded | null>} the asset; null if more has to come
 */
function patch(client, path, part, fields, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const stop = (/** @type {unknown} */ error) => {
      end();
      reject(error);
    };
    const expect = (/** @type {number} */ limit) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        stop(notReached());
        abort();
      }, limit);
    };
    request.open('PATCH', client.base + path);
    request.setRequestHeader('Content-Type', 'application/partial-upload');
    if (client.key) request.setRequestHeader('Authorization', `Bearer ${client.key}`);
    for (const [name, value] of Object.entries(fields)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      expect(silence);
      onProgress(event.loaded);
    };
    request.upload.onload = () => expect(fields['Upload-Complete'] === '?1' ? finishing : silence);
    request.onabort = () => stop(signal?.reason ?? new DOMException('Aborted', 'AbortError'));
    request.onerror = () => stop(notReached());
    request.onload = () => {
      end();
      try {
        const json = request.responseText === '' ? null : JSON.parse(request.responseText);
        if (request.status >= 200 && request.status < 300) resolve(json);
        else {
          reject(new Problem(request.status, String(json?.type ?? 'unknown').split(':').pop() ?? '',
            json?.detail ?? `The server answered with status ${request.status}.`,
            secondsOf(request.getResponseHeader('Retry-After'))));
        }
      } catch {
        // What stands in front of the server answered in its place, as proxies do while the server is gone.
        const status = request.status >= 200 && request.status < 300 ? 502 : request.status;
        reject(new Problem(status, 'unknown', `The server answered with status ${request.status}.`));
      }
    };
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    signal?.addEventListener('abort', abort);
    expect(silence);
    request.send(part);
  });
}

/**
 * Where an upload stands.
 * @param {PhotoLedger} client
 * @param {string} place
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ offset: number, done: Uploaded | null } | null>} null if the server does not have it any more
 */
async function standing(client, place, signal) {
  try {
    const answer = await inTime((limited) => client.ask('GET', place, { signal: limited }), signal);
    return answer.outcome ? { offset: answer.size, done: answer } : { offset: answer.offset, done: null };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/**
 * Sends a file, or what is left of it.
 * @param {PhotoLedger} client
 * @param {Blob} file
 * @param {SendOptions} options
 * @returns {Promise<Uploaded>}
 * @throws {Problem} why it is not there; `isPassing` if a later call with the `place` may succeed
 * @throws {FileGone} if the file cannot be read
 */
export async function sendFile(client, file, options) {
  const { name, sha256, signal, onProgress = () => {}, onPlace = () => {} } = options;
  let { place } = options;
  const begun = place ? await standing(client, place, signal) : null;
  if (begun?.done) return begun.done;
  let offset = begun?.offset ?? 0;
  if (!place || !begun) {
    /** @type {Record<string, string>} */
    const headers = {
      'Upload-Complete': '?0', 'Upload-Length': String(file.size), 'Content-Disposition': disposition(name),
    };
    if (sha256) headers['Repr-Digest'] = digest(sha256);
    const answer = await inTime(
      (limited) => client.response('POST', '/v1/uploads', { headers, signal: limited }), signal);
    place = answer.headers.get('Location') ?? '';
    if (!place.startsWith('/v1/uploads/')) throw new Problem(502, 'unknown', 'The server did not name the upload.');
    onPlace(place);
  }
  for (let overtaken = 0; ;) {
    onProgress(offset);
    const from = offset;
    const end = Math.min(from + partSize, file.size);
    const fields = { 'Upload-Offset': String(from), 'Upload-Complete': end === file.size ? '?1' : '?0' };
    try {
      const done = await patch(client, place, file.slice(from, end), fields,
        { signal, onProgress: (bytes) => onProgress(from + Math.min(bytes, end - from)) });
      if (done) return done;
      offset = end;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 0) await checkReadable(file, from);
      if (error.status !== 409 || (overtaken += 1) > 5) throw error;
      const now = await standing(client, place, signal);
      if (!now) throw error;
      if (now.done) return now.done;
      offset = now.offset;
    }
  }
}

/**
 * Browsers say the same of a file that cannot be read and of a server that is not reached.
 * @param {Blob} file
 * @param {number} at
 */
async function checkReadable(file, at) {
  try {
    await file.slice(at, at + 1).arrayBuffer();
  } catch {
    throw new FileGone('The file cannot be read any more.');
  }
}

/**
 * @typedef {object} KnownFile What the library has of a content.
 * @property {string} asset
 * @property {boolean} isTrashed whether it is in the trash, as all that have the content are
 */

/**
 * Which of some files the library has, as far as the client sees it.
 * @param {PhotoLedger} client
 * @param {string[]} hashes SHA-256 in hexadecimal digits
 * @returns {Promise<Map<string, KnownFile>>} by hash
 */
export async function knownFiles(client, hashes) {
  const found = new Map();
  for (let at = 0; at < hashes.length; at += 500) {
    const json = { sha256: hashes.slice(at, at + 500) };
    const answer = await inTime((signal) => client.ask('POST', '/v1/uploads:check', { json, signal }));
    for (const { sha256, asset, isTrashed = false } of answer.found) found.set(sha256, { asset, isTrashed });
  }
  return found;
}

/** Hashes files in a worker. */
export class Hasher {
  constructor() {
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Map<number, { resolve: (sha256: string) => void, reject: (error: Error) => void }>} */
    this.waiting = new Map();
    this.next = 0;
  }

  /**
   * @param {Blob} file
   * @returns {Promise<string>}
   * @throws {FileGone}
   */
  hash(file) {
    if (!this.worker) {
      this.worker = new Worker(new URL('./hash-worker.js', import.meta.url), { type: 'module' });
      this.worker.onmessage = ({ data }) => {
        const one = this.waiting.get(data.id);
        this.waiting.delete(data.id);
        if (data.error === undefined) one?.resolve(data.sha256);
        else one?.reject(new FileGone(data.error));
      };
      this.worker.onerror = () => {
        // Without a worker files are not hashed beforehand; the server finds what it has by itself.
        for (const { reject } of this.waiting.values()) reject(new Error('The worker did not start.'));
        this.waiting.clear();
        this.worker = null;
      };
    }
    const id = this.next += 1;
    const { worker } = this;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      worker.postMessage({ id, file });
    });
  }

  /** Gives up what is being hashed: a worker reads a file to its end, so the next file has another one. */
  cancel() {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(new DOMException('Aborted', 'AbortError'));
    this.waiting.clear();
  }
}
