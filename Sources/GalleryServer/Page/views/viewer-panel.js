// What is known of a photo, with what can be changed about it, beside the picture.
//
// Each section is drawn anew only if what it shows is another, and never while a form in it is open, so what is
// committed elsewhere takes no text away that somebody is writing. The control that had the focus has it again
// afterwards.
//
//   change of the list ────────────────────────────────────────────────────┐
//   step of the log, if it names the photo or what a client may see at all ─┴▶ the viewer asks anew
//
// What is granted, withdrawn, picked or added to an album changes nothing of the list, so the owner's panel follows the
// log. It does so before it reads, so nothing that is committed meanwhile is missed.

import { Problem } from '../client/photoledger.js';
import { messageOf } from '../model/failures.js';
import { instant, number, size, t } from '../text/text.js';
import { actions, isAllowed } from './actions.js';
import { App } from './app.js';
import { learnNames } from './client-names.js';
import { arrange, fill, h, uniqueName } from './dom.js';
import { icon } from './icons.js';
import { ObjectNames } from './object-names.js';
import { clock } from './tile.js';
import { undoDialog } from './undo.js';
import { AlbumTitles, albumsHolding } from './viewer-albums.js';
import { cameraFacts } from './viewer-camera.js';
import { dateForm, dateInWords, placeForm, placeInWords } from './viewer-forms.js';
import { accessList, albumsIn, fullSince, historyList, recordsOf, spansIn, stackTopsIn } from './viewer-history.js';

/** Types of files and kinds of pictures that have a phrase. */
const resourceTypes = new Set(['photo', 'video', 'audio', 'alternatePhoto', 'fullSizePhoto', 'fullSizeVideo',
  'pairedVideo', 'fullSizePairedVideo', 'adjustmentData', 'adjustmentBasePhoto', 'adjustmentBaseVideo',
  'adjustmentBasePairedVideo']);
const subtypes = new Set(['photoPanorama', 'photoHDR', 'photoScreenshot', 'photoLive', 'photoDepthEffect',
  'photoAnimation', 'videoHighFrameRate', 'videoTimelapse', 'videoScreenRecording', 'videoCinematic']);
const sectionNames = ['caption', 'rating', 'date', 'place', 'keywords', 'commands', 'albums', 'files', 'details',
  'history', 'access'];
const folding = new Set(['history', 'access']);
const best = 5;

export class Panel {
  /** @param {import('./viewer.js').Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.app = viewer.app;
    const name = uniqueName('panel');
    /** @type {Record<string, HTMLElement>} */
    this.sections = {};
    for (const section of sectionNames) {
      const isFolding = folding.has(section);
      if (isFolding && !this.app.isOwner) continue;
      this.sections[section] = isFolding
        ? h('div', { class: 'viewer-section' }) : h('section', { class: 'viewer-section', 'data-section': section });
    }
    const folds = sectionNames.filter((one) => folding.has(one) && this.app.isOwner).map((one) =>
      h('details', { class: 'viewer-fold', 'data-section': one }, h('summary', null, t(`viewer.${one}`)),
        this.sections[one]));
    this.problem = h('p', { class: 'viewer-problem', role: 'alert', hidden: true });
    this.element = h('aside', { class: 'viewer-panel', id: name, 'aria-label': t('viewer.info'), hidden: true,
      tabindex: '-1' },
      h('header', { class: 'viewer-panel-head' }, h('h2', null, t('viewer.info')),
        h('button', { class: 'icon-button', type: 'button', 'aria-label': t('viewer.closeInfo'),
          onclick: () => viewer.togglePanel() },
          icon('close'))),
      h('div', { class: 'viewer-panel-body' }, this.problem,
        ...sectionNames.filter((one) => !folding.has(one)).map((one) => this.sections[one]), ...folds));
    /** @type {any} */
    this.asset = null;
    /**
     * What each section shows.
     * @type {Record<string, string>}
     */
    this.drawn = {};
    /**
     * Which forms are open, each with what names this opening of it.
     * @type {Map<string, object>}
     */
    this.open = new Map();
    this.titles = new AlbumTitles(this.app, viewer.at);
    this.names = new ObjectNames(this.app);
    this.abort = new AbortController();
    this.isClosed = false;
    /**
     * The following of the log, from when it was begun; null before, and after it could not begin.
     * @type {Promise<void> | null}
     */
    this.following = null;
    /** @type {() => void} */
    this.endFollowing = () => {};
  }

  /** Whether what others commit matters to what is shown. */
  get isFollowing() {
    return !this.element.hidden && this.asset !== null;
  }

  get canChange() {
    return this.viewer.canChange;
  }

  /** Another asset is shown, of which nothing is known yet. */
  clear() {
    this.saveCaption();
    this.abort.abort();
    this.asset = null;
    this.drawn = {};
    this.open.clear();
    this.keywordForm = null;
    this.problem.hidden = true;
    const sections = Object.values(this.sections);
    const hadFocus = sections.some((section) => section.contains(document.activeElement));
    for (const section of sections) fill(section);
    if (hadFocus) this.element.focus();
    if (!this.element.hidden) fill(this.sections.caption, h('p', { class: 'soft' }, t('state.loading')));
  }

  close() {
    this.saveCaption();
    this.abort.abort();
    this.isClosed = true;
    this.endFollowing();
  }

  /** Follows the log, once; not while a moment that has passed is shown. */
  async followLog() {
    if (this.viewer.at !== undefined) return;
    this.following ??= this.beginFollowing();
    try {
      await this.following;
    } catch (error) {
      this.following = null;
      throw error;
    }
  }

  async beginFollowing() {
    const { fetch, token } = await this.app.client.openFetch({ log: true });
    if (this.isClosed) return;
    this.endFollowing = this.app.feed.follow(fetch, token, {
      onChange: (step) => { if (this.concerns(step)) this.viewer.askSoon(); },
      onState: () => { if (this.isFollowing) this.viewer.askSoon(); },
      // The feed follows again by itself.
      onProblem: (error) => this.fail(error),
    });
  }

  /**
   * Whether a step of the log may change what is shown.
   * @param {import('../client/photoledger.js').Change} step
   */
  concerns({ items: { records, isComplete } }) {
    if (!this.isFollowing) return false;
    const id = this.asset.localIdentifier;
    return !isComplete || !records
      || records.some(({ type, objects }) => type.startsWith('client.') || objects.includes(id));
  }

  /** @param {unknown} error */
  fail(error) {
    this.problem.hidden = false;
    const isForbidden = error instanceof Problem && error.status === 403;
    this.problem.textContent = isForbidden ? t('viewer.forbidden') : messageOf(error);
  }

  /**
   * Shows what the server knows of the asset.
   * @param {any} asset
   */
  show(asset) {
    this.asset = asset;
    if (this.element.hidden) return;
    this.problem.hidden = true;
    this.drawCaption(asset);
    this.drawRating(asset);
    this.drawDate(asset);
    this.drawPlace(asset);
    this.drawKeywords(asset);
    this.drawCommands(asset);
    this.drawFiles(asset);
    this.drawDetails(asset);
    this.askMore(asset);
  }

  /**
   * Draws a section if it shows something else than before.
   * @param {string} name
   * @param {unknown} key what it shows
   * @param {() => (Node | null | false)[]} content
   */
  draw(name, key, content) {
    const section = this.sections[name];
    const text = JSON.stringify([key, this.open.has(name)]);
    if (!section || this.drawn[name] === text) return;
    if (this.open.has(name) && this.drawn[name]?.endsWith(',true]')) return;
    this.drawn[name] = text;
    const focused = section.contains(document.activeElement)
      ? /** @type {HTMLElement} */ (document.activeElement).dataset.keep : null;
    arrange(section, ...content());
    if (focused === null || section.contains(document.activeElement)) return;
    const again = [...section.querySelectorAll('[data-keep]')].find((one) =>
      /** @type {HTMLElement} */ (one).dataset.keep === focused);
    const next = again ?? section.querySelector('button, input, a, textarea') ?? this.element;
    /** @type {HTMLElement} */ (next).focus();
  }

  /**
   * Opens or closes the form of a section.
   * @param {string} name
   * @param {boolean} isOpen
   */
  setOpen(name, isOpen) {
    if (isOpen) this.open.set(name, {});
    else this.open.delete(name);
    if (!this.asset) return;
    const section = this.sections[name];
    this.show(this.asset);
    if (isOpen) /** @type {HTMLElement | null} */ (section.querySelector('[autofocus]'))?.focus();
    else /** @type {HTMLElement | null} */ (section.querySelector('[data-keep=edit]'))?.focus();
  }

  // MARK: Sections

  /** @param {any} asset */
  drawCaption(asset) {
    const { field } = this;
    // What is being written stays, whatever was committed meanwhile.
    if (field && this.fieldOf === asset.localIdentifier && field.isConnected
      && field.value !== field.defaultValue) return;
    this.draw('caption', [asset.caption, asset.localIdentifier], () => {
      this.field = null;
      if (!this.canChange) {
        return [h('h3', null, t('viewer.caption')), h('p', { class: asset.caption ? 'viewer-text' : 'soft' },
          asset.caption || t('value.none'))];
      }
      const save = h('button', { class: 'button', type: 'button', hidden: true, 'data-keep': 'save' },
        t('viewer.save'));
      const input = h('textarea', {
        rows: 2, maxlength: 10_000, 'data-keep': 'caption', '.defaultValue': asset.caption ?? '', dir: 'auto',
        oninput: () => { save.hidden = input.value === input.defaultValue; },
        // Leaving the field saves it, and so does the button, which is outside of it.
        onchange: () => this.saveCaption(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === 'Escape' && input.value !== input.defaultValue) {
            event.preventDefault();
            input.value = input.defaultValue;
            save.hidden = true;
            this.app.unsavedCaptions.delete(asset.localIdentifier);
          } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            this.saveCaption();
          }
        },
      });
      this.field = input;
      this.fieldOf = asset.localIdentifier;
      this.fieldSave = save;
      this.putBack(input);
      return [h('label', { class: 'field' }, h('span', { class: 'viewer-label' }, t('viewer.caption')), input), save];
    });
  }

  /** @type {HTMLTextAreaElement | null} */
  field = null;
  /** @type {HTMLElement | null} */
  fieldSave = null;
  fieldOf = '';

  /** Saves the caption that somebody wrote. */
  async saveCaption() {
    const { field, fieldOf, fieldSave } = this;
    if (!field || field.value === field.defaultValue) return;
    const [before, caption] = [field.defaultValue, field.value.trim()];
    field.defaultValue = field.value;
    if (fieldSave) fieldSave.hidden = true;
    if (caption === before) {
      this.app.unsavedCaptions.delete(fieldOf);
      return;
    }
    // Until it is saved it keeps the page from being left.
    this.app.unsavedCaptions.set(fieldOf, field.value);
    const isDone = await this.viewer.commit(
      [{ op: 'asset.edit', assets: [fieldOf.split('/')[0]], caption: caption === '' ? null : caption }],
        t('done.caption'));
    if (isDone) {
      this.app.unsavedCaptions.delete(fieldOf);
      return;
    }
    // What was written is still there to be saved again, if only when the photo is shown again.
    field.defaultValue = before;
    const shown = this.fieldOf === fieldOf && this.field?.isConnected ? this.field : null;
    if (!shown) this.app.notices.show(t('viewer.captionKept'), { isError: true });
    else if (shown === field || shown.value === shown.defaultValue) this.putBack(shown);
  }

  /**
   * Puts what could not be saved into the field of its asset.
   * @param {HTMLTextAreaElement} field
   */
  putBack(field) {
    const kept = this.app.unsavedCaptions.get(this.fieldOf);
    // The answer of a commit can be lost after it was made.
    if (kept === field.defaultValue) this.app.unsavedCaptions.delete(this.fieldOf);
    if (kept === undefined || kept === field.defaultValue) return;
    field.value = kept;
    if (this.fieldSave) this.fieldSave.hidden = false;
  }

  /** @param {any} asset */
  drawRating(asset) {
    this.draw('rating', asset.rating, () => {
      const heading = h('h3', { id: uniqueName('rating') }, t('viewer.rating'));
      if (!this.canChange) return [heading, h('p', null, t('rating.of', { count: asset.rating }))];
      const stars = Array.from({ length: best }, (_, index) => h('button', {
        class: 'viewer-star', type: 'button', 'aria-pressed': String(index < asset.rating), 'data-keep': `star${index}`,
        'aria-label': t('rating.give', { count: index + 1 }), 'aria-keyshortcuts': String(index + 1),
          title: t('rating.give', { count: index + 1 }),
        // The star that says how many there are takes them all away.
        onclick: () => this.rate(index + 1 === asset.rating ? 0 : index + 1),
      }, index < asset.rating ? '★' : '☆'));
      return [heading, h('div', { class: 'viewer-stars', role: 'group', 'aria-labelledby': heading.id }, ...stars)];
    });
  }

  /** @param {number} rating */
  rate(rating) {
    if (this.asset?.rating === rating) return;
    this.viewer.edit({ rating }, t('done.rating', { count: rating }));
  }

  /**
   * The heading of a section, with the button that opens its form.
   * @param {string} name
   * @param {string} title
   * @param {string} label
   */
  heading(name, title, label) {
    return h('div', { class: 'viewer-heading' }, h('h3', null, title), this.canChange && !this.open.has(name)
      && h('button', { class: 'icon-button', type: 'button', 'data-keep': 'edit', 'aria-label': label, title: label,
        onclick: () => this.setOpen(name, true) }, icon('edit')));
  }

  /** @param {string} name */
  formOptions(name) {
    const opening = this.open.get(name);
    return {
      save: (/** @type {Record<string, unknown>} */ fields, /** @type {string} */ done) =>
        this.viewer.edit(fields, done),
      // The answer may come when the form of another photo is open, or this one for the second time.
      close: () => { if (this.open.get(name) === opening) this.setOpen(name, false); },
    };
  }

  /** @param {any} asset */
  drawDate(asset) {
    this.draw('date', [asset.creationDate, asset.localCreationDate], () => {
      const words = dateInWords(asset);
      return [this.heading('date', t('viewer.date'), t('date.edit')), ...this.open.has('date')
        ? [dateForm(asset, this.formOptions('date'))]
        : words ? [h('p', null, words.date), h('p', { class: 'soft' }, words.zone)]
          : [h('p', { class: 'soft' }, t('tile.undated'))]];
    });
  }

  /** @param {any} asset */
  drawPlace(asset) {
    this.draw('place', asset.location, () =>
      [this.heading('place', t('viewer.place'), t('place.edit')), this.open.has('place')
      ? placeForm(asset, this.formOptions('place'))
      : h('p', { class: asset.location ? null : 'soft' }, asset.location ? placeInWords(asset.location)
        : t('value.none'))]);
  }

  /** @param {any} asset */
  drawKeywords(asset) {
    this.draw('keywords', asset.keywords, () => {
      const chips = asset.keywords.map((/** @type {string} */ word) =>
        h('li', { class: 'viewer-chip' }, h('span', { dir: 'auto' }, word),
        this.canChange && h('button', {
          class: 'icon-button', type: 'button', 'aria-label': t('keywords.remove', { word }),
            'data-keep': `remove-${word}`,
          onclick: () => this.viewer.edit({ removedKeywords: [word] }, t('done.keywordRemoved', { word })),
        }, icon('close'))));
      return [h('h3', null, t('viewer.keywords')),
        chips.length > 0 ? h('ul', { class: 'viewer-chips' }, ...chips) : !this.canChange
          && h('p', { class: 'soft' }, t('value.none')),
        this.canChange && (this.keywordForm ??= this.formForKeyword())];
    });
  }

  /**
   * The form that adds a keyword, the same one for as long as the photo is shown: what is being written in it stays,
   * whatever was committed meanwhile.
   * @type {HTMLElement | null}
   */
  keywordForm = null;

  formForKeyword() {
    const input = h('input', { type: 'text', maxlength: 200, required: true, 'data-keep': 'keyword',
      autocomplete: 'off', dir: 'auto' });
    const add = async () => {
      const word = input.value.trim();
      // The next one may be written before the answer.
      input.value = '';
      if (word === '' || this.asset?.keywords.includes(word)) return;
      const isDone = await this.viewer.edit({ addedKeywords: [word] }, t('done.keywordAdded', { word }));
      if (!isDone && input.value === '') input.value = word;
    };
    return h('form', { class: 'viewer-row', onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      add();
    }, onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape' || input.value === '') return;
      event.preventDefault();
      input.value = '';
    } }, h('label', { class: 'viewer-grow' }, h('span', { class: 'visually-hidden' }, t('keywords.new')), input),
    h('button', { class: 'button', type: 'submit' }, t('keywords.add')));
  }

  /** @param {any} asset */
  drawCommands(asset) {
    this.draw('commands', [asset.isHidden, asset.trashedDate], () => {
      if (!this.canChange) return [];
      const { viewer } = this;
      const assets = [asset.localIdentifier.split('/')[0]];
      const button = (/** @type {string} */ label, /** @type {string} */ image, /** @type {() => void} */ action) =>
        h('button', { class: 'button', type: 'button', 'data-keep': label, onclick: action }, icon(image), t(label));
      const isTrashed = asset.trashedDate !== null;
      return [h('div', { class: 'viewer-buttons' },
        asset.isHidden
          ? button('action.unhide', 'hidden', () =>
            viewer.leave({ op: 'asset.edit', assets, isHidden: false }, t('done.unhide', { count: 1 })))
          : button('action.hide', 'hidden', () => viewer.leave({ op: 'asset.edit', assets, isHidden: true },
            t('done.hide', { count: 1 }))),
        'album' in actions && !isTrashed && isAllowed(this.app, 'album')
          && button('action.album', 'album', () => viewer.addToAlbum()),
        isTrashed
          ? button('action.restore', 'undo', () =>
            viewer.leave({ op: 'asset.restore', assets }, t('done.restore', { count: 1 })))
          : button('action.trash', 'trash', () => viewer.trash()))];
    });
  }

  /** @param {any} asset */
  drawFiles(asset) {
    this.draw('files', asset.resources, () => [h('h3', null, t('viewer.files')), h('ul', { class: 'viewer-list' },
      ...asset.resources.map((/** @type {any} */ file) => h('li', null,
        h('p', { class: 'viewer-name', dir: 'auto' }, file.originalFilename || t('file.unnamed')),
        h('p', { class: 'soft' }, [resourceTypes.has(file.type) ? t(`resource.${file.type}`) : file.type,
          size(file.dataSize),
          file.uniformTypeIdentifier].filter(Boolean).join(' · ')),
        this.copyable('SHA-256', file.sha256),
        isAllowed(this.app, 'download') && h('a', {
          class: 'button', download: file.originalFilename || true, 'data-keep': `file-${file.sha256}`,
          href: this.app.client.resourceURL(asset.localIdentifier, file.sha256, true),
          'aria-label': t('file.download', { name: file.originalFilename || t('file.unnamed') }),
        }, icon('download'), t('action.download')))))]);
  }

  /**
   * A value with a button that copies it.
   * @param {string} name
   * @param {string} value
   */
  copyable(name, value) {
    const code = h('code', null, value);
    return h('p', { class: 'viewer-copy' }, h('span', { class: 'soft' }, `${name} `), code,
      h('button', { class: 'button', type: 'button', 'data-keep': `copy-${value}`,
        'aria-label': t('value.copyWhat', { name }), onclick: async () => {
        try {
          await navigator.clipboard.writeText(value);
          this.app.notices.show(t('value.copied', { name }));
        } catch {
          // Without a secure connection pages may not copy; people still may.
          getSelection()?.selectAllChildren(code);
          this.app.notices.show(t('value.selected'));
        }
      } }, t('value.copy')));
  }

  /** @param {any} asset */
  drawDetails(asset) {
    this.draw('details', asset, () => {
      const kinds = asset.mediaSubtypes.map((/** @type {string} */ one) => subtypes.has(one) ? t(`subtype.${one}`)
        : one);
      const facts = [
        [t('fact.kind'), [['image', 'video', 'audio'].includes(asset.mediaType) ? t(`media.${asset.mediaType}`)
          : asset.mediaType,
          ...kinds, asset.isRaw && 'RAW'].filter(Boolean).join(', ')],
        asset.pixelWidth > 0 && [t('fact.size'), `${number(asset.pixelWidth)} × ${number(asset.pixelHeight)}`],
        asset.duration > 0 && [t('fact.duration'), clock(asset.duration)],
        [t('fact.added'), instant(asset.addedDate)],
        asset.modificationDate && [t('fact.modified'), instant(asset.modificationDate)],
        asset.trashedDate && [t('fact.trashed'), instant(asset.trashedDate)],
        asset.hasAdjustments && [t('fact.edited'), [asset.adjustmentTimestamp && instant(asset.adjustmentTimestamp),
          asset.adjustmentFormatIdentifier].filter(Boolean).join(', ') || t('value.yes')],
        asset.burstIdentifier && [t('fact.burst'), asset.burstIdentifier],
        asset.origin && [t('fact.origin'), asset.origin],
        ...cameraFacts(asset.fileMetadata),
      ].filter(Boolean);
      return [h('h3', null, t('viewer.details')), h('dl', { class: 'viewer-facts' }, ...facts.map((fact) => {
        const [name, value] = /** @type {string[]} */ (fact);
        return h('div', null, h('dt', null, name), h('dd', { dir: 'auto' }, value));
      })), this.copyable(t('fact.identifier'), asset.localIdentifier), this.logLink(asset)];
    });
  }

  /**
   * A link to the asset's history; null in a session that may not read it.
   * @param {any} asset
   */
  logLink(asset) {
    if (this.viewer.at !== undefined || this.app.session.authorizationStatus.readWrite !== 'authorized') return null;
    const href = App.href('history', '', { object: asset.localIdentifier.split('/')[0] });
    return h('a', { class: 'button', 'data-keep': 'log', href }, icon('history'), t('viewer.log'));
  }

  // MARK: What is asked for besides

  /**
   * Asks for albums, history and who can see the asset.
   * @param {any} asset
   */
  async askMore(asset) {
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    const { at } = this.viewer;
    const id = asset.localIdentifier;
    try {
      if (this.app.isOwner) {
        await this.followLog();
        if (signal.aborted) return;
        const [records, access] = await Promise.all([recordsOf(this.app, id, 'history', at, signal),
          recordsOf(this.app, id, 'access', at, signal)]);
        const albums = [...albumsIn(records)];
        const spans = spansIn(records);
        const [since] = await Promise.all([fullSince(this.app, access, signal), this.titles.load(albums, signal),
          this.names.load(stackTopsIn(records), signal),
          learnNames(this.app, [...records, ...access].flatMap(({ client, property, old, new: fresh }) =>
            /^(selections|picks)$/.test(property) ? [client, old, fresh] : [client]), signal)]);
        if (signal.aborted || this.asset !== asset) return;
        this.drawAlbums(albums.filter((one) => this.titles.has(one)));
        this.drawHistory(asset, records);
        this.draw('access', [access, spans, [...since]], () => [accessList(access, spans, since)]);
      } else {
        await this.titles.load(null, signal);
        const albums = await albumsHolding(this.app, id, this.titles, at, signal);
        if (signal.aborted || this.asset !== asset) return;
        this.drawAlbums(albums);
      }
    } catch (error) {
      if (!signal.aborted && this.asset === asset) this.fail(error);
    }
  }

  /** @param {string[]} albums identifiers */
  drawAlbums(albums) {
    const named = albums.map((id) => ({ id, title: this.titles.of(id) }));
    this.draw('albums', named, () => [h('h3', null, t('viewer.albums')), named.length === 0
      ? h('p', { class: 'soft' }, t('viewer.noAlbums'))
      : h('ul', { class: 'viewer-list' }, ...named.map(({ id, title }) => h('li', null,
        h('a', { class: 'viewer-album', dir: 'auto', 'data-keep': id, href: App.href('albums', id.split('/')[0]) },
          title))))]);
  }

  /**
   * @param {any} asset
   * @param {any[]} records
   */
  drawHistory(asset, records) {
    const id = asset.localIdentifier;
    const titleOf = (/** @type {string} */ album) => this.titles.of(album);
    const photoOf = (/** @type {string} */ photo) => this.names.quoted(photo);
    const undo = this.canChange ? async (/** @type {string} */ token, /** @type {string} */ what) => {
      const request = { commit: token, objects: [id.split('/')[0]] };
      if (await undoDialog(this.app, t('undo.title'), [{ label: what, request }])) this.viewer.ask();
    } : null;
    this.draw('history', [records.length, records[records.length - 1]?.token, stackTopsIn(records).map(photoOf)],
      () => [historyList(records, { titleOf, photoOf, undo })]);
  }
}
