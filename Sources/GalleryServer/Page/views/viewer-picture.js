// One asset that fills the place it is given: a picture that can be enlarged, a film, or a sound.
//
//   placeholder ─▶ small ─▶ large ─▶ original      each lies on the one before and covers it when it is there
//
// The frame has the size at which the picture fits. What is enlarged is the frame, by a transform: `scale` is
// relative to the fitting size, `x` and `y` are where the frame's corner is moved to. The original is asked for when
// more pixels are shown than the large picture has, if the browser can show its type and the key may read it.
//
// A picture that the server has not made yet is asked for again; one that it cannot make is explained in its words.

import { Problem } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { t } from '../text/text.js';
import { fill, h } from './dom.js';
import { placeholderURL } from './placeholder.js';
import { spoken } from './tile.js';

/** @typedef {import('../client/photoledger.js').Item} Item */

/** Types that browsers show, by their identifier. */
const showable = new Set(['public.jpeg', 'public.png', 'org.webmproject.webp', 'com.compuserve.gif', 'public.avif']);
/** Types of originals that move by themselves. */
const moving = new Set(['com.compuserve.gif']);
/** How often the same picture is asked for again after the server said that it is there. */
const repetitions = 2;
/** After how many milliseconds without a picture the page says that it is on its way. */
const patience = 500;
/** How far a small picture is enlarged to fit. */
const fitLimit = 4;

export class Picture {
  /** @param {import('./app.js').App} app */
  constructor(app) {
    this.app = app;
    this.frame = h('div', { class: 'viewer-frame' });
    this.status = h('div', { class: 'viewer-status', role: 'status' });
    this.element = h('div', { class: 'viewer-picture' }, this.frame, this.status);
    /** @type {Item | null} */
    this.item = null;
    /** @type {any} what the server knows of the asset; null until it is there */
    this.asset = null;
    this.fit = { x: 0, y: 0, width: 0, height: 0 };
    this.view = { scale: 1, x: 0, y: 0 };
    this.abort = new AbortController();
    /** @type {Set<ReturnType<typeof setTimeout>>} */
    this.timers = new Set();
    /** @type {Record<string, HTMLImageElement>} the layers that were asked for */
    this.layers = {};
    /** @type {HTMLMediaElement | null} */
    this.media = null;
    /** @type {HTMLVideoElement | null} */
    this.live = null;
    /** Called after the size of the picture changed. */
    this.onZoom = () => {};
    this.onLive = (/** @type {boolean} */ _isPlaying) => {};
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.element);
  }

  /** Whether the key may read original bytes. */
  get readsOriginals() {
    const { scopes } = this.app.session;
    return scopes.includes('owner') || scopes.includes('originals');
  }

  /** Whether the asset is a picture, which can be enlarged. */
  get isPicture() {
    return this.item !== null && this.item.mediaType === 1 && this.item.sha256 !== null;
  }

  /** Whether there is something to enlarge. */
  get canZoom() {
    return this.isPicture && (this.refused === null || (this.layers.original?.naturalWidth ?? 0) > 0);
  }

  /** The file that the asset shows. */
  get shown() {
    return this.asset?.resources.find((/** @type {any} */ one) => one.sha256 === this.item?.sha256) ?? null;
  }

  /** The film of a Live Photo that goes with what is shown; null if there is none to play. */
  get liveResource() {
    if (!this.asset || this.asset.isLivePhotoVideoPlaybackEnabled === false || !this.readsOriginals) return null;
    const { resources, mediaSubtypes } = this.asset;
    const of = (/** @type {string} */ type) => resources.find((/** @type {any} */ one) => one.type === type) ?? null;
    if (this.shown?.type !== 'fullSizePhoto') return of('pairedVideo');
    // An edit of the still alone shows a still.
    return of('fullSizePairedVideo') ?? (mediaSubtypes.includes('photoLive') ? of('pairedVideo') : null);
  }

  /**
   * Shows an asset. The same content stays as it is, enlarged or playing.
   * @param {Item} item
   */
  show(item) {
    const before = this.item;
    const isSame = before !== null && before.id === item.id && before.sha256 === item.sha256;
    this.item = item;
    if (isSame) {
      this.frame.setAttribute('aria-label', spoken(item));
      if (before.width !== item.width || before.height !== item.height) this.measure();
      const isFilmNew = (before.play ?? null) !== (item.play ?? null);
      if ((before.rendition !== item.rendition || isFilmNew) && this.isWaiting) this.load();
      return;
    }
    this.asset = null;
    this.clear();
    this.view = { scale: 1, x: 0, y: 0 };
    this.measure();
    this.load();
  }

  /**
   * Takes what the server knows of the asset that is shown.
   * @param {any} asset
   */
  setAsset(asset) {
    this.asset = asset;
    if (this.isPicture && moving.has(this.shown?.uniformTypeIdentifier)
      && !matchMedia('(prefers-reduced-motion: reduce)').matches) this.loadOriginal();
    if (this.item?.mediaType === 3 && !this.media) this.load();
    this.sharpen();
    if (!this.refused) return;
    this.refuse(this.refused);
    // Not once an original could not be played.
    if (this.attempts === 0) this.playOriginal('');
  }

  /** Ends what is on its way and takes everything out. */
  clear() {
    this.abort.abort();
    this.abort = new AbortController();
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    for (const layer of Object.values(this.layers)) layer.removeAttribute('src');
    this.layers = {};
    if (this.media) {
      this.media.pause();
      this.media.removeAttribute('src');
      this.media.load();
    }
    this.media = null;
    this.stopLive();
    this.isWaiting = false;
    this.refused = null;
    this.attempts = 0;
    this.frame.style.backgroundImage = '';
    fill(this.frame);
    fill(this.status);
  }

  isWaiting = false;
  attempts = 0;
  /**
   * Why there is no picture.
   * @type {Problem | null}
   */
  refused = null;

  close() {
    this.clear();
    this.observer.disconnect();
  }

  /** Asks for the picture or the film. */
  load() {
    const { item } = this;
    if (!item) return;
    this.isWaiting = false;
    this.refused = null;
    fill(this.status);
    const isFilm = item.mediaType !== 1;
    this.frame.classList.toggle('film', isFilm);
    if (isFilm) {
      this.frame.removeAttribute('role');
      this.frame.removeAttribute('aria-label');
    } else {
      this.frame.setAttribute('role', 'img');
      this.frame.setAttribute('aria-label', spoken(item));
    }
    if (item.mediaType === 3) {
      this.loadSound();
      return;
    }
    const background = item.placeholder ? placeholderURL(item.placeholder) : null;
    this.frame.style.backgroundImage = background ? `url(${background})` : '';
    const large = this.app.client.renditionURL(item, 'large');
    if (!large) {
      this.say(t('viewer.nothing'));
      return;
    }
    if (item.mediaType === 2) {
      this.loadFilm(item);
      return;
    }
    const small = this.app.client.renditionURL(item, 'small');
    if (small && item.rendition === 'ready') this.layer('small', small);
    this.later(patience, () => {
      const isSeen = this.layers.small?.complete || this.layers.large?.complete;
      if (!isSeen && !this.status.hasChildNodes()) this.say(t('state.loading'));
    });
    const image = this.layer('large', large);
    image.onload = () => {
      image.classList.add('there');
      fill(this.status);
      this.measure();
      this.sharpen();
    };
    image.onerror = () => this.explain(large, () => this.load());
  }

  /**
   * An image over those before.
   * @param {'small' | 'large' | 'original'} name
   * @param {string} url
   */
  layer(name, url) {
    this.layers[name]?.remove();
    const image = h('img', { class: `viewer-layer ${name}`, alt: '', draggable: 'false', decoding: 'async' });
    this.layers[name] = image;
    image.onload = () => image.classList.add('there');
    image.onerror = () => image.remove();
    image.src = url;
    this.frame.append(image);
    return image;
  }

  /**
   * @param {number} milliseconds
   * @param {() => void} action
   */
  later(milliseconds, action) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      action();
    }, milliseconds);
    this.timers.add(timer);
  }

  /**
   * Says why bytes did not come, and tries again where that helps.
   * @param {string} url
   * @param {() => void} again
   */
  async explain(url, again) {
    const { signal } = this.abort;
    try {
      const path = url.slice(this.app.client.base.length);
      const answer = await this.app.client.response('GET', path, { signal, headers: { Range: 'bytes=0-0' } });
      await answer.body?.cancel();
      if (signal.aborted) return;
      this.attempts += 1;
      if (this.attempts <= repetitions) again();
      else this.say(t('viewer.unreadable'), this.downloadLink());
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) {
        this.say(messageOf(error));
      } else if (error.isPassing) {
        this.isWaiting = true;
        this.say(error.status === 0 ? t('viewer.notReached') : t('viewer.preparing'));
        this.later(Math.max(2, error.retryAfter) * 1000, () => { if (this.isWaiting) again(); });
      } else this.refuse(error);
    }
  }

  /**
   * Says that there is no picture, and offers the original where that may help.
   * @param {Problem} problem
   */
  refuse(problem) {
    this.refused = problem;
    if (problem.status === 422 && this.isPicture && this.canShowOriginal && !this.layers.original) {
      const image = this.loadOriginal();
      if (image) {
        image.onload = () => {
          image.classList.add('there');
          fill(this.status);
          this.measure();
        };
        // What the server said stays.
        image.onerror = () => image.remove();
      }
    }
    const sentence = problem.status === 403 ? t('viewer.forbidden') : t('viewer.failed');
    this.say(sentence, h('p', { class: 'viewer-reason' }, messageOf(problem)), this.downloadLink(),
      problem.status !== 422 && h('button', { class: 'button', type: 'button', onclick: () => this.load() },
        t('action.retry')));
    this.onZoom();
  }

  /** A link to the file that the asset shows; null where the key may not read it. */
  downloadLink() {
    const { shown, item } = this;
    if (!shown || !item || !this.readsOriginals) return null;
    return h('a', {
      class: 'button', download: shown.originalFilename || true,
        href: this.app.client.resourceURL(item.id, shown.sha256, true),
    }, t('viewer.downloadOriginal'));
  }

  /**
   * @param {string} sentence
   * @param {...(Node | null | false)} more
   */
  say(sentence, ...more) {
    fill(this.status, h('p', null, sentence), ...more);
  }

  // MARK: Films and sounds

  /** @param {Item} item */
  loadFilm(item) {
    this.playFrom(this.film(item), this.app.client.renditionURL(item, 'play') ?? '');
  }

  /** @param {Item} item */
  film(item) {
    const poster = item.rendition === 'failed' ? null : this.app.client.renditionURL(item, 'large');
    return h('video', { controls: true, playsinline: true, preload: 'metadata', poster, 'aria-label': spoken(item) });
  }

  /**
   * Plays the original of a film, by ranges, where only the rendition cannot be made.
   * @param {string} tried what could not be played; empty without such a URL
   */
  playOriginal(tried) {
    const { item, shown } = this;
    if (item?.mediaType !== 2 || !shown || !this.readsOriginals) return;
    if (this.media || this.refused?.status !== 422) return;
    const url = this.app.client.resourceURL(item.id, shown.sha256);
    if (url !== tried) this.playFrom(this.film(item), url);
  }

  loadSound() {
    const { item, shown } = this;
    const file = shown ?? this.asset?.resources.find((/** @type {any} */ one) => one.type === 'audio');
    if (!item || !this.asset) return;
    if (!file || !this.readsOriginals) this.say(t(file ? 'viewer.forbidden' : 'viewer.nothing'));
    else this.playFrom(h('audio', { controls: true, 'aria-label': t('viewer.sound') }),
      this.app.client.resourceURL(item.id, file.sha256));
  }

  /**
   * @param {HTMLMediaElement} media
   * @param {string} url
   */
  playFrom(media, url) {
    this.media?.remove();
    this.media = media;
    media.onloadedmetadata = () => {
      // What plays is not refused, whatever was before it.
      this.refused = null;
      fill(this.status);
      this.measure();
    };
    media.onerror = () => {
      media.remove();
      this.media = null;
      const { item } = this;
      this.explain(url, () => this.load()).then(() => {
        // The same content may have got another item meanwhile.
        if (item?.id === this.item?.id && item?.sha256 === this.item?.sha256) this.playOriginal(url);
      });
    };
    media.src = url;
    this.frame.append(media);
  }

  /**
   * Plays the film of a Live Photo.
   * @returns {boolean} whether there is one
   */
  playLive() {
    const resource = this.liveResource;
    if (!resource || !this.item || this.live) return this.live !== null;
    const video = h('video', { class: 'viewer-layer viewer-live', playsinline: true, '.loop': false });
    this.live = video;
    video.onplaying = () => video.classList.add('there');
    video.onended = () => this.stopLive();
    video.onerror = () => {
      const isShown = this.live === video;
      this.stopLive();
      if (isShown) this.app.notices.show(t('viewer.liveUnplayable'), { isError: true });
    };
    video.src = this.app.client.resourceURL(this.item.id, resource.sha256);
    this.frame.append(video);
    this.onLive(true);
    // Without a gesture that browsers count, films play without their sound only.
    video.play().catch(() => {
      if (this.live !== video) return;
      video.muted = true;
      video.play().catch(() => { if (this.live === video) this.stopLive(); });
    });
    return true;
  }

  stopLive() {
    const { live } = this;
    if (!live) return;
    this.live = null;
    live.onerror = null;
    live.pause();
    live.removeAttribute('src');
    live.load();
    live.remove();
    this.onLive(false);
  }

  // MARK: Size

  /** The width and height of the asset; those of what was loaded if the library does not know them. */
  get size() {
    const { item, layers, media } = this;
    if (item && item.width > 0 && item.height > 0) return { width: item.width, height: item.height };
    const image = layers.large?.naturalWidth ? layers.large : layers.original?.naturalWidth ? layers.original
      : layers.small;
    if (image?.naturalWidth) return { width: image.naturalWidth, height: image.naturalHeight };
    if (media instanceof HTMLVideoElement && media.videoWidth > 0) return { width: media.videoWidth,
      height: media.videoHeight };
    return { width: 4, height: 3 };
  }

  /** Sets the frame to the place that there is. */
  measure() {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    if (width === 0 || height === 0) return;
    const { size, view, fit } = this;
    const isFilm = this.item !== null && this.item.mediaType !== 1;
    const factor = Math.min(width / size.width, height / size.height, isFilm ? Infinity : fitLimit);
    const old = { ...fit };
    this.fit = { width: size.width * factor, height: size.height * factor, x: 0, y: 0 };
    this.fit.x = (width - this.fit.width) / 2;
    this.fit.y = (height - this.fit.height) / 2;
    if (view.scale !== 1 && old.width > 0) {
      view.x *= this.fit.width / old.width;
      view.y *= this.fit.height / old.height;
    }
    const { style } = this.frame;
    style.left = `${this.fit.x}px`;
    style.top = `${this.fit.y}px`;
    style.width = `${this.fit.width}px`;
    style.height = `${this.fit.height}px`;
    this.place();
  }

  /** The scale at which a pixel of the picture is a pixel of the screen. */
  get wholeScale() {
    return this.fit.width === 0 ? 1 : this.size.width / devicePixelRatio / this.fit.width;
  }

  get isEnlarged() {
    return this.view.scale > 1.001;
  }

  /** The size of the picture on the screen in percent of its own. */
  get percent() {
    return Math.round(100 * this.view.scale / this.wholeScale);
  }

  /**
   * Makes the picture larger or smaller; the point stays where it is.
   * @param {number} scale
   * @param {number} [x]
   * @param {number} [y]
   */
  zoomTo(scale, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2) {
    if (!this.canZoom) return;
    const { view, fit } = this;
    const next = Math.min(Math.max(scale, 1), Math.max(4, 4 * this.wholeScale));
    const factor = next / view.scale;
    view.x = x - fit.x - (x - fit.x - view.x) * factor;
    view.y = y - fit.y - (y - fit.y - view.y) * factor;
    view.scale = next;
    this.place();
    this.sharpen();
  }

  /**
   * Enlarges to the picture's own pixels, at least to twice the size, or fits it again.
   * @param {number} [x]
   * @param {number} [y]
   */
  toggle(x, y) {
    this.zoomTo(this.isEnlarged ? 1 : Math.max(2, this.wholeScale), x, y);
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  pan(x, y) {
    this.view.x += x;
    this.view.y += y;
    this.place();
  }

  /** Puts the frame where it belongs; no edge of an enlarged picture comes inside the place. */
  place() {
    const { view, fit, element } = this;
    /** @type {(way: number, start: number, length: number, room: number) => number} */
    const within = (way, start, length, room) => length <= room
      ? (room - length) / 2 - start : Math.min(-start, Math.max(room - length - start, way));
    view.x = within(view.x, fit.x, fit.width * view.scale, element.clientWidth);
    view.y = within(view.y, fit.y, fit.height * view.scale, element.clientHeight);
    this.frame.style.transform = this.isEnlarged ? `translate(${view.x}px, ${view.y}px) scale(${view.scale})` : '';
    this.frame.classList.toggle('enlarged', this.isEnlarged);
    this.onZoom();
  }

  /** Whether the original can be put over the large picture. */
  get canShowOriginal() {
    return this.readsOriginals && showable.has(this.shown?.uniformTypeIdentifier);
  }

  /** Asks for the original if more is to be seen than the large picture has. */
  sharpen() {
    const { large } = this.layers;
    if (!this.isPicture || !this.isEnlarged || !large?.naturalWidth || !this.canShowOriginal) return;
    const shown = this.view.scale * this.fit.width * devicePixelRatio;
    if (shown > large.naturalWidth * 1.02 && this.size.width > large.naturalWidth) this.loadOriginal();
  }

  loadOriginal() {
    const { item, shown } = this;
    if (!item || !shown || this.layers.original || !this.canShowOriginal) return null;
    const url = this.app.client.resourceURL(item.id, shown.sha256);
    const image = this.layer('original', url);
    image.onerror = () => {
      image.remove();
      // The large picture stays; why there is nothing sharper is said once.
      this.app.client.response('GET', url.slice(this.app.client.base.length), { headers: { Range: 'bytes=0-0' } })
        .then((answer) => {
          answer.body?.cancel();
          this.app.notices.show(t('viewer.unreadable'), { isError: true });
        }, (error) => this.app.notices.fail(error));
    };
    return image;
  }
}
