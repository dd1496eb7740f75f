// The camera page: takes photos and films and adds them. It shows nothing of the library.
//
//   preview ─┬─ shutter ─▶ look at it ─▶ keep ─▶ upload
//            └─ record ──▶      │
//                               └──────▶ discard
//
// The key is that of `/camera#KEY`, which may be good for adding and nothing else, or the session's cookie.
// All that the page asks of the server is whether it may add, whose session it is, and to add.
//
// What was taken is only in the page's memory. When the session ends it waits, and goes on after the same person has
// signed in in another tab; never in the name of another.

import { PhotoLedger, Problem, sessionChannel, signInAddress } from '../client/photoledger.js';
import { datedJPEG, stamps } from '../model/dated-jpeg.js';
import { Uploads } from '../model/uploads.js';
import { t } from '../text/text.js';
import { fill, h } from './dom.js';
import { reason, sayOnly } from './guest.js';
import { icon } from './icons.js';
import { Notices } from './notice.js';
import { clock } from './tile.js';
import { UploadPanel, guardLeaving } from './upload-panel.js';

const place = /** @type {HTMLElement} */ (document.getElementById('app'));
const key = location.hash.slice(1) || undefined;
const client = new PhotoLedger({ key });
const notices = new Notices();

/** What recorders may write, the form that most players have first. */
const filmTypes = ['video/mp4;codecs=avc1.42E01E,mp4a.40.2', 'video/mp4;codecs=avc1.42E01E,opus', 'video/mp4',
  'video/webm'];

/**
 * Why the camera is not there.
 * @param {unknown} error
 */
function cameraReason(error) {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError') return t('camera.denied');
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return t('camera.none');
  if (name === 'NotReadableError' || name === 'AbortError') return t('camera.busy');
  return reason(error);
}

/** @typedef {{ client: string, person: string | null }} Session */

/**
 * Looks whether photos may be added.
 * @returns {Promise<Session | null>} the session; null where a key stands for itself
 * @throws {Problem} if nothing may be added
 */
async function look() {
  await client.ask('POST', '/v1/uploads:check', { json: { sha256: [] } });
  return key ? null : client.ask('GET', '/v1/session');
}

/** Why nothing is sent after the session has ended. */
const ended = () => t(key ? 'camera.endedKey' : 'session.ended');

class Camera {
  /** @param {Session | null} session that with which the page began */
  constructor(session) {
    this.session = session;
    this.uploads = new Uploads(client);
    guardLeaving(this.uploads, () => this.recorder !== null || this.hasChosen);
    this.panel = new UploadPanel(this.uploads,
      key ? {} : { onSignIn: () => window.open('/sign-in', '_blank', 'noopener') });
    /** Whether the queue is resumed because the session was found to be that with which the page began. */
    this.isSame = false;
    /** How often the session was asked for; only the last answer counts. */
    this.lookCount = 0;
    this.uploads.addEventListener('signedout', () => this.uploads.signOut(ended()));
    this.uploads.addEventListener('resume', () => { if (!this.isSame) this.comeBack(); });
    if (session) {
      new BroadcastChannel(sessionChannel).onmessage = ({ data }) => {
        if (this.uploads.isSignedOut || this.isOther(data)) this.comeBack();
      };
    }
    /** @type {MediaStream | null} */
    this.stream = null;
    /** @type {'environment' | 'user'} */
    this.facing = 'environment';
    /** @type {MediaRecorder | null} */
    this.recorder = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.isStarting = false;
    /** Whether a still is being made or a film is about to be recorded. */
    this.isTaking = false;
    /** Whether the new picture or film is shown, to be kept or discarded. */
    this.hasChosen = false;
    this.video = h('video', { class: 'camera-live', autoplay: true, playsinline: true, '.muted': true,
      'aria-label': t('camera.live') });
    this.view = h('div', { class: 'camera-view' });
    this.controls = h('div', { class: 'camera-controls' });
    this.time = h('p', { class: 'camera-time', role: 'timer', hidden: true });
    this.own = h('input', {
      type: 'file', accept: 'image/*,video/*', capture: 'environment', hidden: true, 'aria-label': t('camera.app'),
      onchange: () => {
        this.uploads.add([...this.own.files ?? []].map((file) => ({ file })));
        this.own.value = '';
      },
    });
    document.addEventListener('visibilitychange', () => {
      if (this.hasChosen || this.recorder) return;
      if (document.hidden) this.stop();
      else this.start();
    });
  }

  /**
   * Whether a session is another's than that with which the page began.
   * @param {Session | null} session
   */
  isOther(session) {
    return session?.client !== this.session?.client || (session?.person ?? null) !== (this.session?.person ?? null);
  }

  /** Goes on with what is sent, if the session is that with which the page began. */
  async comeBack() {
    const { uploads } = this;
    // Before anything is sent again.
    uploads.pause();
    const turn = this.lookCount += 1;
    try {
      const session = await look();
      if (turn !== this.lookCount) return;
      if (this.isOther(session)) {
        uploads.signOut(t('session.other'));
        return;
      }
      this.isSame = true;
      uploads.resume();
    } catch (error) {
      if (turn !== this.lookCount) return;
      if (error instanceof Problem && error.status === 401) uploads.signOut(ended());
      else uploads.pause(reason(error));
    } finally {
      this.isSame = false;
    }
  }

  /** Shows the page. */
  open() {
    document.title = `${t('camera.title')} – ${t('app.name')}`;
    fill(place, h('main', { class: 'camera' }, h('h1', { class: 'visually-hidden' }, t('camera.title')),
      this.view, this.time, this.controls, this.own, h('div', { class: 'camera-list' }, this.panel.element)),
        notices.element);
    this.start();
  }

  /** A button for the device's own camera, which needs no permission of the browser. */
  appButton() {
    return h('button', { class: 'button', onclick: () => this.own.click() }, icon('camera'), t('camera.app'));
  }

  /** @param {'environment' | 'user'} facing the camera that is wanted */
  async start(facing = this.facing) {
    if (this.isStarting) return;
    this.isStarting = true;
    this.facing = facing;
    this.hasChosen = false;
    this.stop();
    try {
      if (!navigator.mediaDevices?.getUserMedia) {
        this.fail(t(globalThis.isSecureContext ? 'camera.none' : 'camera.insecure'));
        return;
      }
      this.stream = await navigator.mediaDevices.getUserMedia({
        video: { facingMode: { ideal: this.facing }, width: { ideal: 3840 }, height: { ideal: 2160 } },
      });
      // While the browser asked for permission, the tab may have been hidden (the camera starts when it is shown
      // again), or a still may have been finished, which is shown now.
      if (document.hidden || this.hasChosen) {
        this.stop();
        return;
      }
      this.video.srcObject = this.stream;
      this.video.classList.toggle('mirrored', this.facing === 'user');
      fill(this.view, this.video);
      this.showControls();
    } catch (error) {
      if (!this.hasChosen) this.fail(cameraReason(error));
    } finally {
      this.isStarting = false;
    }
  }

  /** @param {string} sentence */
  fail(sentence) {
    fill(this.view, h('div', { class: 'camera-failure', role: 'alert' }, h('p', null, sentence)));
    fill(this.controls, h('button', { class: 'button main', onclick: () => this.start() }, t('action.retry')),
      this.appButton());
  }

  stop() {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.stream = null;
    this.video.srcObject = null;
  }

  showControls() {
    const turn = h('button', { class: 'icon-button', 'aria-label': t('camera.turn'),
      onclick: () => this.start(this.facing === 'user' ? 'environment' : 'user') }, icon('undo'));
    const shutter = h('button', { class: 'shutter', 'aria-label': t('camera.take'),
      onclick: () => this.alone(() => this.take()) });
    const record = h('button', { class: 'icon-button record', 'aria-label': t('camera.record'),
      onclick: () => this.record() }, icon('video'));
    fill(this.controls, turn, shutter, 'MediaRecorder' in globalThis && record, h('span', { class: 'camera-break' }),
      this.appButton());
  }

  /** Takes a still. */
  async take() {
    const { videoWidth: width, videoHeight: height } = this.video;
    const canvas = h('canvas', { width, height });
    const date = new Date();
    canvas.getContext('2d')?.drawImage(this.video, 0, 0);
    /** @type {Blob | null} */
    const jpeg = width === 0 ? null : await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.92));
    if (!jpeg) {
      notices.show(t('camera.notReady'), { isError: true });
      return;
    }
    this.look(new File([datedJPEG(jpeg, date)], `IMG_${stamps(date).name}.jpg`, { type: 'image/jpeg' }));
  }

  /**
   * Makes a still or begins a film; nothing else is begun meanwhile.
   * @param {() => Promise<void>} action
   */
  async alone(action) {
    if (this.isTaking) return;
    this.isTaking = true;
    const { activeElement } = document;
    const buttons = [...this.controls.querySelectorAll('button')];
    for (const one of buttons) one.disabled = true;
    try {
      await action();
    } finally {
      this.isTaking = false;
      for (const one of buttons) one.disabled = false;
      // What is switched off loses the focus.
      if (activeElement instanceof HTMLElement && document.activeElement === document.body) activeElement.focus();
    }
  }

  /** Records a film, as soon as there is sound. */
  async record() {
    const { stream } = this;
    if (stream && !this.recorder) await this.alone(() => this.beginFilm(stream));
  }

  /** @param {MediaStream} stream */
  async beginFilm(stream) {
    const date = new Date();
    try {
      // Few devices encode more than this while they record.
      await stream.getVideoTracks()[0].applyConstraints({ width: { ideal: 1920 }, height: { ideal: 1080 } });
      const sound = await navigator.mediaDevices.getUserMedia({ audio: true });
      for (const track of sound.getAudioTracks()) stream.addTrack(track);
    } catch {
      notices.show(t('camera.silent'), { isError: true });
    }
    // The tab was left meanwhile, and the camera with it: the microphone is not to stay on.
    if (stream !== this.stream) {
      for (const track of stream.getTracks()) track.stop();
      return;
    }
    const mimeType = filmTypes.find((type) => MediaRecorder.isTypeSupported(type));
    /** @type {Blob[]} */
    const parts = [];
    try {
      const recorder = new MediaRecorder(stream, { mimeType, videoBitsPerSecond: 8_000_000 });
      this.recorder = recorder;
      recorder.ondataavailable = (event) => { if (event.data.size > 0) parts.push(event.data); };
      recorder.onerror = () => {
        notices.show(t('camera.notRecorded'), { isError: true });
        this.end();
      };
      recorder.onstop = () => {
        const type = (recorder.mimeType || mimeType || 'video/webm').split(';')[0];
        this.end();
        const ending = type === 'video/mp4' ? 'mp4' : 'webm';
        if (parts.length === 0) {
          notices.show(t('camera.notRecorded'), { isError: true });
          this.start();
        } else this.look(new File(parts, `VID_${stamps(date).name}.${ending}`, { type }));
      };
      recorder.start(1000);
    } catch (error) {
      this.recorder = null;
      notices.show(reason(error), { isError: true });
      return;
    }
    const began = Date.now();
    const tick = () => { this.time.textContent = clock((Date.now() - began) / 1000); };
    tick();
    this.time.hidden = false;
    this.timer = setInterval(tick, 500);
    const stop = h('button', { class: 'shutter recording', 'aria-label': t('camera.stop'),
      onclick: () => this.recorder?.stop() });
    fill(this.controls, stop);
    stop.focus();
  }

  end() {
    clearInterval(this.timer);
    this.recorder = null;
    this.time.hidden = true;
  }

  /**
   * Shows what was taken, before it is kept.
   * @param {File} file
   */
  look(file) {
    this.hasChosen = true;
    this.stop();
    const url = URL.createObjectURL(file);
    const isFilm = file.type.startsWith('video/');
    const shown = isFilm ? h('video', { src: url, controls: true, playsinline: true, 'aria-label': t('camera.taken') })
      : h('img', { src: url, alt: t('camera.taken'), draggable: 'false' });
    const again = () => {
      URL.revokeObjectURL(url);
      // The camera may be starting already.
      this.hasChosen = false;
      this.start();
    };
    const keep = h('button', { class: 'button main keep', onclick: () => {
      this.uploads.add([{ file }]);
      again();
    } }, icon('check'), t('camera.keep'));
    fill(this.view, shown);
    fill(this.controls, h('button', { class: 'button', onclick: again }, icon('trash'), t('camera.discard')), keep);
    keep.focus();
  }
}

/** Looks whether photos may be added, and opens the camera. */
async function begin() {
  fill(place, h('p', { class: 'loading', role: 'status' }, t('state.loading')));
  try {
    new Camera(await look()).open();
  } catch (error) {
    const status = error instanceof Problem ? error.status : 0;
    const again = h('button', { class: 'button main', onclick: begin }, t('action.retry'));
    if (status === 401) {
      sayOnly(place, t('camera.noKey'), t(key ? 'camera.endedKey' : 'camera.noKey.sentence'),
        !key && h('a', { class: 'button main', href: signInAddress(location) }, t('upload.signIn')));
    } else if (status === 403) sayOnly(place, t('camera.noKey'), t('camera.notAllowed'));
    else sayOnly(place, t('error.title'), reason(error), again);
  }
}

addEventListener('hashchange', () => location.reload());
await begin();
