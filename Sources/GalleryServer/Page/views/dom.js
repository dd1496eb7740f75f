// Elements without markup: text from the library is only ever text, so no name of a file can become a script.

/**
 * Makes an element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any> | null} [attributes] `class`, `on…` listeners, properties that begin with `.`, and
 *   attributes; false, null and undefined leave one out
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name.startsWith('.')) /** @type {any} */ (element)[name.slice(1)] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {(Node | string | number | null | undefined | false)[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Puts other children in place of an element's.
 * @param {Element} element
 * @param {...(Node | string | number | null | undefined | false)} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/**
 * Puts other children in place of an element's. Those that stay are not taken out, so they keep the focus, what is
 * written in them, and a choice that is open.
 * @param {Element} element
 * @param {...(Node | null | undefined | false)} children
 */
export function arrange(element, ...children) {
  const wanted = new Set(children.flatMap((one) => one instanceof Node ? [one] : []));
  for (const one of [...element.childNodes]) if (!wanted.has(one)) one.remove();
  [...wanted].forEach((one, at) => {
    const there = element.childNodes[at] ?? null;
    if (there !== one) element.insertBefore(one, there);
  });
}

/**
 * Does what a button is for once however often it is pressed before that has ended.
 * @param {Element} button
 * @param {() => Promise<unknown>} action
 */
export async function once(button, action) {
  if (button.hasAttribute('aria-busy')) return;
  button.setAttribute('aria-busy', 'true');
  try {
    await action();
  } finally {
    button.removeAttribute('aria-busy');
  }
}

/**
 * Until the browser has nothing to draw, at most a fifth of a second.
 * @returns {Promise<void>}
 */
export const idle = () => new Promise((resolve) => {
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: 200 });
  else setTimeout(resolve, 50);
});

/** A name for an element that labels another. */
let names = 0;
export const uniqueName = (prefix = 'e') => `${prefix}-${names += 1}`;
