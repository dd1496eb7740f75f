// The files in what was dropped, with those of its folders, and with handles where the browser gives them.
//
// A drop's items are good only until the listener returns, so all of them are asked before anything is awaited.

/**
 * @typedef {import('../model/uploads.js').Chosen} Chosen
 *
 * @typedef {(found: { chosen: Chosen[], problems: string[] }) => void} Take `problems`: what could not be read
 */

/** What systems leave in folders. */
const litter = /^(\.|~\$)|^(thumbs\.db|desktop\.ini|ehthumbs\.db|icon\r|@eaDir|__MACOSX)$/i;

/**
 * Whether a file is worth looking at.
 * @param {string} path
 */
export const isWanted = (path) => !path.split('/').some((part) => litter.test(part));

/** How many files are handed over at once. */
const batchSize = 500;

/** The files that were found and not handed over yet. */
class Found {
  /** @param {Take} take */
  constructor(take) {
    this.take = take;
    /** @type {Chosen[]} */
    this.chosen = [];
    /** @type {string[]} */
    this.problems = [];
  }

  /** @param {Chosen} one */
  add(one) {
    if (this.chosen.push(one) >= batchSize) this.take({ chosen: this.chosen.splice(0), problems: [] });
  }
}

/**
 * Hands over the files of a drop as they are found: a folder on a network drive takes minutes to read.
 * @param {DataTransfer} transfer
 * @param {Take} take called at once without files, and with each batch
 */
export async function dropped(transfer, take) {
  /** @type {{ handle: Promise<any> | null, entry: any, file: File | null }[]} */
  const sources = [];
  for (const item of transfer.items) {
    if (item.kind !== 'file') continue;
    const given = /** @type {any} */ (item);
    sources.push({
      // Without a handle the entry or the file itself is taken.
      handle: given.getAsFileSystemHandle?.().catch(() => null) ?? null,
      entry: given.webkitGetAsEntry?.() ?? null, file: item.getAsFile(),
    });
  }
  const found = new Found(take);
  take({ chosen: [], problems: [] });
  for (const { handle, entry, file } of sources) {
    const held = await handle;
    if (held) await walkHandle(held, '', found);
    else if (entry) await walkEntry(entry, '', found);
    else if (file) found.add({ file });
  }
  const { chosen, problems } = found;
  if (chosen.length + problems.length > 0) take({ chosen, problems });
}

/**
 * The files of a file or folder handle.
 * @param {any} handle
 * @param {string} folder
 * @param {Found} found
 */
async function walkHandle(handle, folder, found) {
  const path = folder + handle.name;
  if (!isWanted(path)) return;
  try {
    if (handle.kind === 'file') found.add({ file: await handle.getFile(), handle, path });
    else for await (const child of handle.values()) await walkHandle(child, `${path}/`, found);
  } catch (error) {
    found.problems.push(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * The files of an entry as all browsers have them.
 * @param {any} entry
 * @param {string} folder
 * @param {Found} found
 */
async function walkEntry(entry, folder, found) {
  const path = folder + entry.name;
  if (!isWanted(path)) return;
  try {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.add({ file, path });
      return;
    }
    const reader = entry.createReader();
    // A reader gives a hundred at a time, and nothing at the end.
    for (;;) {
      const children = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (children.length === 0) return;
      for (const child of children) await walkEntry(child, `${path}/`, found);
    }
  } catch (error) {
    found.problems.push(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/** A type of what is dragged out of a page of the gallery. */
const ownType = 'application/x-photoledger';

/**
 * Takes drops of files on a whole page, and shows meanwhile that it does. Browsers give a picture of the page that is
 * dragged as a file, too: what a page shows is marked at the beginning of its drag, and no page takes it.
 * @param {string} sentence
 * @param {Take} take
 * @returns {() => void} ends it
 */
export function takeDrops(sentence, take) {
  const veil = document.createElement('div');
  veil.className = 'drop-veil';
  veil.textContent = sentence;
  const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files') ?? false;
  const mark = (/** @type {DragEvent} */ event) => event.dataTransfer?.setData(ownType, ownType);
  const isOwn = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes(ownType) ?? false;
  const over = (/** @type {DragEvent} */ event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (isOwn(event)) {
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
      return;
    }
    if (!veil.isConnected) document.body.append(veil);
  };
  const leave = (/** @type {DragEvent} */ event) => { if (!event.relatedTarget) veil.remove(); };
  const drop = (/** @type {DragEvent} */ event) => {
    veil.remove();
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    if (isOwn(event)) return;
    dropped(event.dataTransfer, take);
  };
  addEventListener('dragstart', mark);
  addEventListener('dragenter', over);
  addEventListener('dragover', over);
  addEventListener('dragleave', leave);
  addEventListener('drop', drop);
  return () => {
    veil.remove();
    removeEventListener('dragstart', mark);
    removeEventListener('dragenter', over);
    removeEventListener('dragover', over);
    removeEventListener('dragleave', leave);
    removeEventListener('drop', drop);
  };
}
