// Server-sent events for a client with a key: `EventSource` sends cookies and nothing else.
//
// It has of EventSource what the streams of this client use: a listener for each kind, `onerror` at the end, `close`.
// It does not open itself again; its user does, from the state that was delivered last.

/** @typedef {import('./photoledger.js').PhotoLedger} PhotoLedger */

/**
 * What reads events, whichever way.
 * @typedef {EventTarget & { close: () => void, onerror: ((event: any) => any) | null }} EventReader
 */

/**
 * Opens a stream of events.
 * @param {PhotoLedger} client
 * @param {string} path
 * @returns {EventReader}
 */
export function openEvents(client, path) {
  return client.key ? new KeyedEvents(client, path) : new EventSource(client.base + path);
}

class KeyedEvents extends EventTarget {
  /**
   * @param {PhotoLedger} client
   * @param {string} path
   */
  constructor(client, path) {
    super();
    this.abort = new AbortController();
    /** @type {((event: Event) => void) | null} */
    this.onerror = null;
    this.read(client, path);
  }

  /**
   * @param {PhotoLedger} client
   * @param {string} path
   */
  async read(client, path) {
    const { signal } = this.abort;
    try {
      const answer = await client.response('GET', path, { headers: { Accept: 'text/event-stream' }, signal });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const part = await reader?.read();
        if (!part || part.done || signal.aborted) break;
        text += part.value;
        const events = text.split(/\r?\n\r?\n/);
        text = events.pop() ?? '';
        for (const event of events) this.deliver(event);
      }
    } catch {
      // The end of a stream and a stream that did not open are the same to a reader: `onerror` looks why.
    }
    if (!signal.aborted) this.onerror?.(new Event('error'));
  }

  /** @param {string} text */
  deliver(text) {
    let kind = 'message';
    const data = [];
    for (const line of text.split(/\r?\n/)) {
      if (line.startsWith('event:')) kind = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    }
    if (data.length > 0) this.dispatchEvent(new MessageEvent(kind, { data: data.join('\n') }));
  }

  close() {
    this.abort.abort();
  }
}
