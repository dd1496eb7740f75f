// The time machine: a slider over everything that happened, and the gallery as it was at the place of its handle.
//
//   slider, date, buttons ─▶ index ─▶ what was committed there ─▶ token, in the address ─▶ the photos of then
//                                                                                      └─▶ what changed since
//
// A slider that is moved asks for the commit under it after a short pause, and one question at a time; the photos
// follow when it rests. What was asked before is aborted, so moving it costs the server no more than resting it.

import { messageOf } from '../model/failures.js';
import { openMoments } from '../model/moments.js';
import { instant, t } from '../text/text.js';
import { App } from './app.js';
import { clientName, clientsIn, learnNames } from './client-names.js';
import { fill, h } from './dom.js';
import { icon } from './icons.js';
import { later } from './later.js';
import { eventSentence } from './log-sentences.js';
import { causeWords } from './log-words.js';
import { gridView } from './photos.js';

/** @typedef {import('../model/moments.js').Moment} Moment */

/** How long the slider rests before the commit is asked for, and the photos, milliseconds. */
const labelPause = 120;
const gridPause = 350;
/** How long following that failed waits before it is tried again, milliseconds. */
const retryPause = 4000;

/**
 * Looking back.
 * @param {App} app
 * @param {import('./app.js').Address} address
 * @returns {Promise<import('./app.js').View>}
 */
export async function open(app, address) {
  const moments = await openMoments(app.client, app.session.authorizationStatus.readWrite === 'authorized');
  const machine = new TimeMachine(app, moments);
  await machine.begin(address);
  machine.follow();
  return {
    title: t('nav.moment'), element: machine.element,
    update: (to) => machine.update(to), close: () => machine.close(),
  };
}

class TimeMachine {
  /**
   * @param {App} app
   * @param {import('../model/moments.js').Moments} moments
   */
  constructor(app, moments) {
    this.app = app;
    this.moments = moments;
    /** @type {Moment | null} */
    this.moment = null;
    /** Whether the address names the moment; one without a moment opens that of then. */
    this.isInAddress = false;
    /**
     * What is shown below: the view, and of which state.
     * @type {import('./app.js').View & Partial<import('./photos.js').GridView> | null}
     */
    this.view = null;
    this.shown = '';
    this.mode = 'photos';
    this.asked = new AbortController();
    this.isClosed = false;
    this.isShowing = false;
    this.hasNews = false;
    this.isRefreshing = false;
    this.closing = new AbortController();
    this.end = () => {};
    this.slider = h('input', {
      type: 'range', class: 'moment-slider', min: 1, max: Math.max(1, moments.count), step: 1,
      'aria-label': t('moment.slider'),
      oninput: () => this.slide(Number(this.slider.value)),
    });
    this.date = h('input', {
      type: 'datetime-local', 'aria-label': t('moment.date'), onchange: () => {
        const wanted = new Date(this.date.value);
        // A minute is meant whole.
        if (!Number.isNaN(wanted.getTime())) this.find(new Date(wanted.getTime() + 59_999).toISOString());
      },
    });
    this.label = h('div', { class: 'moment-label', role: 'status' });
    this.earlier = h('button', { class: 'icon-button', 'aria-label': t('moment.earlier'),
      onclick: () => this.step(-1) }, icon('back'));
    this.later = h('button', { class: 'icon-button', 'aria-label': t('moment.later'), onclick: () => this.step(1) },
      icon('forward'));
    this.photos = h('button', { class: 'button', 'aria-pressed': 'true', onclick: () => this.setMode('photos') },
      t('moment.photos'));
    this.changes = h('button', { class: 'button', 'aria-pressed': 'false', onclick: () => this.setMode('changes') },
      t('moment.changes'));
    this.place = h('div', { class: 'moment-place' });
    this.element = h('section', { class: 'view moment', 'aria-label': t('nav.moment') },
      h('header', { class: 'view-head' }, h('h1', null, t('nav.moment')),
        h('div', { class: 'view-actions' }, this.photos, this.changes)),
      h('div', { class: 'moment-bar' }, this.earlier, this.slider, this.later, this.date), this.label, this.place);
  }

  /** @param {import('./app.js').Address} address */
  async begin(address) {
    const at = address.query.get('at');
    const moment = at ? await this.moments.find(at) : await this.moments.read(this.moments.count);
    if (!moment) {
      fill(this.place, h('p', { class: 'empty' }, t(this.moments.count === 0 ? 'moment.none' : 'moment.unknown')));
      this.slider.disabled = this.moments.count === 0;
      return;
    }
    this.take(moment, at !== null);
    await this.show();
  }

  /**
   * Follows what is committed, so that the slider reaches it; where that fails, after a while.
   * @param {boolean} [isAgain] whether it failed before, which was said
   */
  async follow(isAgain = false) {
    const { client, feed, session } = this.app;
    try {
      const isWhole = session.authorizationStatus.readWrite === 'authorized';
      const state = await client.openFetch(isWhole ? { log: true } : { allBursts: true });
      if (this.isClosed) return;
      const refresh = () => { this.refresh(); };
      this.end = feed.follow(state.fetch, state.token, { onChange: refresh, onState: refresh });
      // What was committed since the last moment was read.
      refresh();
    } catch (error) {
      if (this.isClosed) return;
      if (!isAgain) this.app.notices.fail(error);
      this.following = setTimeout(() => this.follow(true), retryPause);
    }
  }

  /** Learns of what was committed; of what comes meanwhile, after that. */
  async refresh() {
    this.hasNews = true;
    if (this.isRefreshing) return;
    this.isRefreshing = true;
    try {
      while (this.hasNews && !this.isClosed) {
        this.hasNews = false;
        await this.moments.refresh(this.closing.signal);
        this.slider.max = String(Math.max(1, this.moments.count));
        if (this.moment) this.later.disabled = this.moment.index >= this.moments.count;
      }
    } catch (error) {
      if (!this.isClosed) this.app.notices.fail(error);
    } finally {
      this.isRefreshing = false;
    }
  }

  /**
   * Takes a new address of the view.
   * @param {import('./app.js').Address} address
   */
  update(address) {
    const at = address.query.get('at');
    if (!this.moment || (at === null && this.isInAddress)) return false;
    if (at !== null && at !== this.moment.token) {
      this.find(at);
      return true;
    }
    return this.view?.update?.(address) ?? true;
  }

  /**
   * Follows the slider.
   * @param {number} index
   */
  slide(index) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask((signal) => this.moments.read(index, signal)), labelPause);
  }

  /**
   * Goes to the state of a token, or of an instant.
   * @param {string} at
   */
  find(at) {
    clearTimeout(this.timer);
    return this.ask((signal) => this.moments.find(at, signal));
  }

  /**
   * Goes one commit earlier or later.
   * @param {1 | -1} direction
   */
  step(direction) {
    clearTimeout(this.timer);
    const { moment } = this;
    if (!moment) return undefined;
    return this.ask(async (signal) => {
      const index = direction > 0 ? moment.index + 1 : await this.moments.before(moment, signal);
      return index < 1 || index > this.moments.count ? moment : this.moments.read(index, signal);
    });
  }

  /**
   * Asks for a moment; whatever was asked before is given up.
   * @param {(signal: AbortSignal) => Promise<Moment | null>} question
   */
  async ask(question) {
    this.asked.abort();
    const abort = new AbortController();
    this.asked = abort;
    try {
      const moment = await question(abort.signal);
      if (abort.signal.aborted || this.isClosed) return;
      if (!moment) {
        fill(this.label, t('moment.unknown'));
        return;
      }
      await learnNames(this.app, [moment.client, ...moment.event ? clientsIn([moment.event]) : []], abort.signal);
      this.take(moment, true);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.show(), gridPause);
    } catch (error) {
      if (!abort.signal.aborted && !this.isClosed) this.app.notices.fail(error);
    }
  }

  /**
   * Shows what is known of a moment.
   * @param {Moment} moment
   * @param {boolean} isInAddress
   */
  take(moment, isInAddress) {
    this.moment = moment;
    this.isInAddress = isInAddress;
    // While it is held, the handle stays where the person has it.
    if (!this.slider.matches(':active')) this.slider.value = String(moment.index);
    const when = instant(moment.date, { dateStyle: 'long', timeStyle: 'medium' });
    this.slider.setAttribute('aria-valuetext', when);
    const local = new Date(Date.parse(moment.date) - new Date(moment.date).getTimezoneOffset() * 60_000);
    this.date.value = local.toISOString().slice(0, 16);
    this.earlier.disabled = moment.index <= 1;
    this.later.disabled = moment.index >= this.moments.count;
    fill(this.label, h('strong', null, when), ' ',
      moment.client === null ? null : h('bdi', { class: 'soft', title: moment.client }, clientName(moment.client)),
      moment.cause ? h('bdi', { class: 'soft' }, ` · ${causeWords(moment.cause)}`) : null,
      moment.event ? h('span', { class: 'moment-sentence soft', dir: 'auto' }, eventSentence(moment.event)) : null);
    if (!isInAddress || this.app.read().query.get('at') === moment.token) return;
    const query = Object.fromEntries(this.app.read().query);
    delete query.photo;
    history.replaceState(history.state, '', App.href('moment', '', { ...query, at: moment.token }));
    if (this.app.address) this.app.address = this.app.read();
    // If it is the moment that is shown, the view is not made anew.
    this.view?.stay?.(this.app.read());
  }

  /** @param {'photos' | 'changes'} mode */
  setMode(mode) {
    this.mode = mode;
    this.photos.setAttribute('aria-pressed', String(mode === 'photos'));
    this.changes.setAttribute('aria-pressed', String(mode === 'changes'));
    return this.show();
  }

  /** Shows the state, and after that the one that was wanted meanwhile. */
  async show() {
    if (this.isShowing || this.isClosed) return;
    this.isShowing = true;
    this.place.setAttribute('aria-busy', 'true');
    try {
      while (this.moment && !this.isClosed && this.shown !== `${this.mode} ${this.moment.token}`) {
        const { moment, mode } = this;
        const view = mode === 'photos' ? await this.photosOf(moment)
          : await (await later(this.app, () => import('./moment-changes.js'))).changesSince(this.app, moment);
        if (this.isClosed) {
          view.close?.();
          return;
        }
        this.view?.close?.();
        this.view = view;
        this.shown = `${mode} ${moment.token}`;
        fill(this.place, view.element);
      }
    } catch (error) {
      if (this.isClosed) return;
      if (!this.view) fill(this.place, h('p', { class: 'problem', role: 'alert' }, messageOf(error)));
      this.app.notices.fail(error);
    } finally {
      this.isShowing = false;
      this.place.removeAttribute('aria-busy');
    }
  }

  /** @param {Moment} moment */
  photosOf(moment) {
    const date = instant(moment.date, { dateStyle: 'medium', timeStyle: 'short' });
    return gridView(this.app, {
      title: t('moment.title', { date }), question: { sort: ['creationDate:desc'] }, at: moment.token,
      empty: () => h('p', null, t('moment.empty')),
    });
  }

  close() {
    this.isClosed = true;
    this.end();
    this.closing.abort();
    clearTimeout(this.timer);
    clearTimeout(this.following);
    this.asked.abort();
    this.view?.close?.();
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer = undefined;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  following = undefined;
}
