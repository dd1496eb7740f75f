// A page around a view, for tests without a browser: a document, a history of addresses, a server, and grids and
// viewers of its photos.

import { makeDocument } from './dom.mjs';

process.env.TZ = 'America/New_York';
const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
export const document = makeDocument();
export const load = (path) => import(new URL(path, page));
export const settled = () => new Promise((resolve) => setImmediate(resolve));

const { PhotoLedger } = await load('client/photoledger.js');
const { List } = await load('model/list.js');
const { h } = await load('views/dom.js');
const { Grid } = await load('views/grid.js');

/** An item as a window has it. */
export const item = (id, more = {}) => ({
  id, mediaType: 1, mediaSubtypes: 0, sha256: `hash-${id}`, width: 3, height: 2, duration: 0, rendition: 'ready',
  placeholder: null, isFavorite: false, isStackTop: false, date: Date.parse('2024-01-31T12:00:00Z'), offset: null,
  hasClock: true, ...more,
});

/** A page around views, with a server of as many photos as are wanted. */
export function frame(count = 0, ask = async () => ({})) {
  const client = Object.assign(new PhotoLedger(), {
    ask, openFetch: async () => ({ fetch: 'f', token: 't', count }),
    sections: async () => [{ key: '2024-01', count }],
    window: async (fetch, token, start, length) => ({
      items: Array.from({ length: Math.min(length, count - start) }, (_, place) => item(`a${start + place}`)),
    }),
    response: async () => ({ arrayBuffer: async () => new ArrayBuffer(2 * count) }),
  });
  const feed = Object.assign(new EventTarget(), { isOpen: true, follow: () => () => {} });
  const failures = [];
  const notices = { fail: (error) => failures.push(error), show: () => {}, element: h('div') };
  const session = { scopes: ['owner'], authorizationStatus: { readWrite: 'authorized' } };
  const app = { client, feed, notices, session, isOwner: true, address: null, failures, emptyWords: () => null,
    unsavedCaptions: new Map() };
  app.read = () => {
    const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
    return { name: path, argument: '', query: new URLSearchParams(query ?? '') };
  };
  return app;
}

/** A grid of a list in the document. */
export async function gridOf(app, options = {}) {
  const list = await List.open(app.client, {}, { isLaidOut: true });
  const grid = new Grid(app, list, { question: {}, ...options });
  document.body.replaceChildren(grid.element);
  return grid;
}

/** What hears that the history of the browser went to another entry. */
export const popped = new Set();
const { addEventListener, removeEventListener } = globalThis;
globalThis.addEventListener = (name, listener, options) => {
  if (name === 'popstate') popped.add(listener);
  else addEventListener(name, listener, options);
};
globalThis.removeEventListener = (name, listener, options) => {
  if (name === 'popstate') popped.delete(listener);
  else removeEventListener(name, listener, options);
};

/** Goes to an address as the history of a browser does, and says which that is. */
globalThis.location = { hash: '' };
globalThis.history = {
  state: null,
  replaceState: (state, _, address = location.hash) => {
    history.state = state;
    location.hash = address;
  },
  pushState: (state, _, address) => {
    const [before, hash] = [history.state, location.hash];
    history.back = () => {
      history.replaceState(before, '', hash);
      for (const listener of popped) listener();
    };
    history.replaceState(state, '', address);
  },
};
export const at = (hash, app) => {
  location.hash = hash;
  return app.read();
};

/** A key that is pressed, on what has the focus. */
export const keyOn = (target, key) => Object.defineProperty(
  Object.assign(new Event('keydown', { cancelable: true }), { key }), 'target', { value: target });

/** A viewer of a grid of three photos, at one of them. */
export async function viewerAt(context, index) {
  const { Viewing } = await load('views/viewing.js');
  const app = frame(3);
  app.notices.element = h('div');
  const grid = await gridOf(app);
  const viewing = new Viewing(app, grid, { question: {}, address: at('#/photos', app) });
  const viewer = await viewing.open(grid, index);
  context.after(async () => {
    viewer.close();
    await settled();
    viewing.close();
    grid.close();
  });
  return viewer;
}

/** Has streams of states come from the test, which says a state on the one that was opened last. */
export function streams(context) {
  const { EventSource } = globalThis;
  context.after(() => { globalThis.EventSource = EventSource; });
  let source = null;
  globalThis.EventSource = class extends EventTarget {
    constructor() {
      super();
      source = this;
    }

    close() {}
  };
  return (state) => source.dispatchEvent(new MessageEvent('state', { data: JSON.stringify(state) }));
}
