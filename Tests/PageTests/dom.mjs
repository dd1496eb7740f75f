// Elements as far as the page's views need them, for tests without a browser: a tree with attributes, listeners and the
// focus. Nothing is drawn, so every size is 0, and events do not bubble.

/** A name of an attribute as `dataset` has it. */
const dashed = (name) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export class Node extends EventTarget {
  parentElement = null;

  get isConnected() { return this.parentElement?.isConnected ?? this === document.documentElement; }

  remove() {
    const { parentElement } = this;
    if (!parentElement) return;
    parentElement.childNodes.splice(parentElement.childNodes.indexOf(this), 1);
    this.parentElement = null;
  }

  replaceWith(other) {
    const { parentElement } = this;
    const place = parentElement.childNodes.indexOf(this);
    this.remove();
    parentElement.put(place, [other]);
  }
}

class Text extends Node {
  constructor(text) {
    super();
    this.textContent = text;
  }
}

export class Element extends Node {
  constructor(tag) {
    super();
    this.tag = tag;
    this.attributes = new Map();
    this.childNodes = [];
    this.style = {};
    this.dataset = new Proxy({}, {
      get: (_, name) => this.getAttribute(dashed(name)) ?? undefined,
      set: (_, name, value) => this.setAttribute(dashed(name), value) ?? true,
      deleteProperty: (_, name) => this.removeAttribute(dashed(name)) ?? true,
    });
    const names = () => (this.getAttribute('class') ?? '').split(' ').filter((name) => name !== '');
    this.classList = {
      contains: (name) => names().includes(name),
      toggle: (name, isIn = !names().includes(name)) => {
        this.setAttribute('class', [...names().filter((one) => one !== name), ...isIn ? [name] : []].join(' '));
        return isIn;
      },
      add: (name) => this.classList.toggle(name, true), remove: (name) => this.classList.toggle(name, false),
    };
    Object.assign(this, { value: '', clientWidth: 0, clientHeight: 0, offsetHeight: 0, scrollTop: 0 });
  }

  get hidden() { return this.hasAttribute('hidden'); }

  set hidden(is) { this.toggle('hidden', is); }

  get disabled() { return this.hasAttribute('disabled'); }

  set disabled(is) { this.toggle('disabled', is); }

  toggle(name, is) {
    if (is) this.setAttribute(name, '');
    else this.removeAttribute(name);
  }

  get id() { return this.getAttribute('id') ?? ''; }

  getAttribute(name) { return this.attributes.get(name) ?? null; }

  setAttribute(name, value) { this.attributes.set(name, String(value)); }

  hasAttribute(name) { return this.attributes.has(name); }

  removeAttribute(name) { this.attributes.delete(name); }

  get children() { return this.childNodes.filter((one) => one instanceof Element); }

  get childElementCount() { return this.children.length; }

  get firstElementChild() { return this.children[0] ?? null; }

  get lastElementChild() { return this.children.at(-1) ?? null; }

  hasChildNodes() { return this.childNodes.length > 0; }

  put(place, nodes) {
    const made = nodes.map((one) => one instanceof Node ? one : new Text(String(one)));
    for (const one of made) one.remove();
    this.childNodes.splice(place, 0, ...made);
    for (const one of made) one.parentElement = this;
  }

  append(...nodes) { this.put(this.childNodes.length, nodes); }

  prepend(...nodes) { this.put(0, nodes); }

  before(...nodes) { this.parentElement.put(this.parentElement.childNodes.indexOf(this), nodes); }

  insertBefore(node, other) {
    node.remove();
    this.put(other ? this.childNodes.indexOf(other) : this.childNodes.length, [node]);
  }

  replaceChildren(...nodes) {
    for (const one of [...this.childNodes]) one.remove();
    this.append(...nodes);
  }

  get textContent() { return this.childNodes.map((one) => one.textContent).join(''); }

  set textContent(text) { this.replaceChildren(...text === '' ? [] : [text]); }

  contains(other) {
    for (let one = other; one; one = one.parentElement) if (one === this) return true;
    return false;
  }

  /** Whether a selector of a tag, classes, `#name` and attributes means the element; lists are separated by commas. */
  matches(selector) {
    return selector.split(',').some((one) => {
      const [, tag, rest] = /^\s*([\w-]*)(.*?)\s*$/.exec(one);
      return (tag === '' || tag === this.tag) && [...rest.matchAll(/\.([\w-]+)|#([\w-]+)|\[([\w-]+)(?:="([^"]*)")?\]/g)]
        .every(([, name, id, attribute, value]) => name ? this.classList.contains(name) : id ? this.id === id
          : value === undefined ? this.hasAttribute(attribute) : this.getAttribute(attribute) === value);
    });
  }

  closest(selector) {
    for (let one = this; one; one = one.parentElement) if (one.matches(selector)) return one;
    return null;
  }

  querySelectorAll(selector) {
    const found = this.children.flatMap((one) => [...one.matches(selector.split(' ').at(-1)) ? [one] : [],
      ...one.querySelectorAll(selector)]);
    const [outer] = selector.split(' ');
    return outer === selector ? found : found.filter((one) => one.parentElement.closest(outer));
  }

  querySelector(selector) { return this.querySelectorAll(selector)[0] ?? null; }

  getBoundingClientRect() { return { left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 }; }

  /** Whether the element can have the focus. */
  get isFocusable() {
    const isHidden = (one) => one !== null && (one.hidden || isHidden(one.parentElement));
    return this.isConnected && !this.disabled && !isHidden(this)
      && (this.hasAttribute('tabindex') || ['button', 'input', 'select', 'textarea', 'a'].includes(this.tag));
  }

  focus() { if (this.isFocusable) document.focused = this; }

  click() { this.dispatchEvent(new Event('click')); }

  select() {}

  setPointerCapture() {}

  showModal() { this.open = true; }

  /** The event comes in a task of its own, as in browsers. */
  close() {
    if (!this.open) return;
    this.open = false;
    setImmediate(() => this.dispatchEvent(new Event('close')));
  }

  // What films have.
  pause() {}

  load() {}
}

/** Puts a document and what belongs to it into the global object. */
export function makeDocument() {
  const root = new Element('html');
  const body = new Element('body');
  root.append(body);
  const document = Object.assign(new EventTarget(), {
    documentElement: root, body, hidden: false, title: '', focused: null, hasFocus: () => true,
    createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag),
  });
  // What is hidden, switched off or taken out loses the focus, as in browsers.
  Object.defineProperty(document, 'activeElement', {
    get: () => document.focused?.isFocusable ? document.focused : body,
  });
  class Observer {
    observe() {}

    unobserve() {}

    disconnect() {}
  }
  Object.assign(globalThis, {
    document, Node, Element, HTMLElement: Element, ResizeObserver: Observer, IntersectionObserver: Observer,
    window: globalThis, innerWidth: 1280, devicePixelRatio: 1, matchMedia: () => ({ matches: false }),
    requestAnimationFrame: (action) => setTimeout(action, 0),
    localStorage: { getItem: () => null, setItem: () => {} },
  });
  const events = new EventTarget();
  globalThis.addEventListener = events.addEventListener.bind(events);
  globalThis.removeEventListener = events.removeEventListener.bind(events);
  globalThis.dispatchEvent = events.dispatchEvent.bind(events);
  Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-GB'] }, configurable: true });
  const kinds = { HTMLImageElement: ['img'], HTMLVideoElement: ['video'], HTMLMediaElement: ['audio', 'video'] };
  for (const [name, tags] of Object.entries(kinds)) {
    globalThis[name] = class { static [Symbol.hasInstance](one) { return tags.includes(one?.tag); } };
  }
  return document;
}
