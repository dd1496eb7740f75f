// The buttons of the viewer: the bar above the picture, previous and next.

import { t } from '../text/text.js';
import { isAllowed } from './actions.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';

/** How long a press may last that plays a Live Photo to its end, milliseconds. */
const tapTime = 300;

/**
 * A button with an icon.
 * @param {string} label
 * @param {string | Node} image
 * @param {() => void} action
 * @param {Record<string, any>} [more]
 */
function button(label, image, action, more = {}) {
  return h('button', {
    class: 'icon-button', type: 'button', 'aria-label': t(label), title: t(label), onclick: action, ...more,
  }, typeof image === 'string' ? icon(image) : image);
}

export class Bar {
  /** @param {import('./viewer.js').Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    const { picture, zoomStep, canChange } = viewer;
    this.position = h('p', { class: 'viewer-position' });
    this.percent = h('span', { class: 'viewer-percent' });
    this.previous = button('viewer.previous', 'back', () => viewer.step(-1),
      { class: 'icon-button viewer-previous', 'aria-keyshortcuts': 'ArrowLeft PageUp' });
    this.next = button('viewer.next', 'forward', () => viewer.step(1),
      { class: 'icon-button viewer-next', 'aria-keyshortcuts': 'ArrowRight PageDown' });
    this.smaller = button('viewer.smaller', 'minus', () => viewer.enlarge(1 / zoomStep), { 'aria-keyshortcuts': '-' });
    this.larger = button('viewer.larger', 'plus', () => viewer.enlarge(zoomStep), { 'aria-keyshortcuts': '+' });
    this.whole = button('viewer.whole', this.percent, () => picture.toggle(),
      { 'aria-keyshortcuts': 'z', class: 'icon-button viewer-whole' });
    this.live = button('viewer.live', 'live', () => {},
      { hidden: true, 'aria-pressed': 'false', 'aria-keyshortcuts': 'l', class: 'icon-button viewer-play' });
    this.holdToPlay();
    this.burst = button('viewer.burst', 'stack', () => viewer.burst.toggle(),
      { hidden: true, 'aria-expanded': 'false', class: 'icon-button viewer-burst-button' });
    this.favorite = button('action.favorite', 'heart', () => viewer.toggleFavorite(),
      { 'aria-pressed': 'false', 'aria-keyshortcuts': 'f', class: 'icon-button viewer-favorite', hidden: !canChange });
    this.download = h('a', {
      class: 'icon-button viewer-download', hidden: true, download: true, 'aria-label': t('action.download'),
      title: t('action.download'),
    }, icon('download'));
    this.trash = button('action.trash', 'trash', () => viewer.trash(),
      { 'aria-keyshortcuts': 'Delete', class: 'icon-button viewer-trash', hidden: !canChange });
    this.info = button('viewer.info', 'info', () => viewer.togglePanel(), {
      'aria-expanded': 'false', 'aria-controls': viewer.panel.element.id, 'aria-keyshortcuts': 'i',
      class: 'icon-button viewer-info',
    });
    this.element = h('div', { class: 'viewer-bar', role: 'toolbar', 'aria-label': t('viewer.bar') },
      button('viewer.close', 'close', () => viewer.close(), { class: 'icon-button viewer-close' }), this.position,
      h('div', { class: 'viewer-tools' }, this.live, this.burst,
        h('div', { class: 'viewer-zoom' }, this.smaller, this.whole, this.larger),
        this.favorite, this.download, this.trash, this.info));
  }

  /** The button of Live Photos plays while it is pressed, and to the end if it is only tapped. */
  holdToPlay() {
    const { live, viewer } = this;
    let since = 0;
    const begin = () => {
      since = performance.now();
      viewer.picture.playLive();
    };
    const end = () => {
      if (since > 0 && performance.now() - since > tapTime) viewer.picture.stopLive();
      since = 0;
    };
    live.addEventListener('pointerdown', (event) => { if (event.button === 0) begin(); });
    for (const name of ['pointerup', 'pointercancel', 'pointerleave']) live.addEventListener(name, end);
    live.addEventListener('keydown', (event) => {
      if (event.key !== ' ' && event.key !== 'Enter') return;
      event.preventDefault();
      if (!event.repeat) begin();
    });
    live.addEventListener('keyup', (event) => {
      if (event.key !== ' ' && event.key !== 'Enter') return;
      event.preventDefault();
      end();
    });
    live.addEventListener('blur', () => {
      if (since > 0) viewer.picture.stopLive();
      since = 0;
    });
    live.addEventListener('contextmenu', (event) => event.preventDefault());
    // Screen readers press with a click alone; a pointer's click has a count.
    live.addEventListener('click', (event) => { if (event.detail === 0) viewer.picture.playLive(); });
  }

  showPosition() {
    const { index, list } = this.viewer;
    const { count } = list;
    this.position.textContent = count > 1 ? t('viewer.position', { index: index + 1, count }) : '';
    this.previous.disabled = index <= 0;
    this.next.disabled = index >= count - 1;
    this.previous.hidden = this.next.hidden = count < 2;
  }

  /** Shows what can be done with what is shown. */
  show() {
    const { shown, asset, picture, app, canChange } = this.viewer;
    if (!shown) return;
    this.showPosition();
    this.favorite.setAttribute('aria-pressed', String(this.viewer.isFavorite));
    this.live.hidden = picture.liveResource === null || shown.mediaType !== 1;
    this.trash.hidden = !canChange || (asset !== null && asset.trashedDate !== null);
    const file = picture.shown;
    this.download.hidden = !file || !isAllowed(app, 'download');
    if (file && picture.item) {
      this.download.href = app.client.resourceURL(picture.item.id, file.sha256, true);
      this.download.download = file.originalFilename ?? '';
    }
    this.showZoom();
  }

  showZoom() {
    const { picture, stage } = this.viewer;
    for (const one of [this.smaller, this.whole, this.larger]) one.hidden = !picture.canZoom;
    // A button that goes out of use takes the focus with it.
    if (!picture.isEnlarged && document.activeElement === this.smaller) this.larger.focus();
    this.smaller.disabled = !picture.isEnlarged;
    const label = t(picture.isEnlarged ? 'viewer.fit' : 'viewer.whole');
    fill(this.percent, `${picture.percent} %`);
    this.whole.setAttribute('aria-label', label);
    this.whole.title = label;
    stage.classList.toggle('enlarged', picture.isEnlarged);
  }
}
