// The files in what was dropped, with those of its folders, and with handles where the browser gives them.
//
// A drop's items are good only until the listener returns, so all of them are asked before anything is awaited.

/** @typedef {import('../model/uploads.js').Chosen} Chosen */

/** What systems leave in folders. */
const litter = /^(\.|~\$)|^(thumbs\.db|desktop\.ini|ehthumbs\.db|icon\r|@eaDir|__MACOSX)$/i;

/**
 * Whether a file is worth looking at.
 * @param {string} path
 */
export const isWanted = (path) => !path.split('/').some((part) => litter.test(part));

/**
 * @param {DataTransfer} transfer
 * @returns {Promise<{ chosen: Chosen[], problems: string[] }>} `problems`: what could not be read
 */
export async function dropped(transfer) {
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
  /** @type {{ chosen: Chosen[], problems: string[] }} */
  const found = { chosen: [], problems: [] };
  for (const { handle, entry, file } of sources) {
    const held = await handle;
    if (held) await walkHandle(held, '', found);
    else if (entry) await walkEntry(entry, '', found);
    else if (file) found.chosen.push({ file });
  }
  return found;
}

/**
 * The files of a file or folder handle.
 * @param {any} handle
 * @param {string} folder
 * @param {{ chosen: Chosen[], problems: string[] }} found
 */
async function walkHandle(handle, folder, found) {
  const path = folder + handle.name;
  if (!isWanted(path)) return;
  try {
    if (handle.kind === 'file') found.chosen.push({ file: await handle.getFile(), handle, path });
    else for await (const child of handle.values()) await walkHandle(child, `${path}/`, found);
  } catch (error) {
    found.problems.push(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * The files of an entry as all browsers have them.
 * @param {any} entry
 * @param {string} folder
 * @param {{ chosen: Chosen[], problems: string[] }} found
 */
async function walkEntry(entry, folder, found) {
  const path = folder + entry.name;
  if (!isWanted(path)) return;
  try {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.chosen.push({ file, path });
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

/**
 * Takes drops of files on a whole page, and shows meanwhile that it does.
 * @param {string} sentence
 * @param {(found: { chosen: Chosen[], problems: string[] }) => void} take
 * @returns {() => void} ends it
 */
export function takeDrops(sentence, take) {
  const veil = document.createElement('div');
  veil.className = 'drop-veil';
  veil.textContent = sentence;
  const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files') ?? false;
  const over = (/** @type {DragEvent} */ event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (!veil.isConnected) document.body.append(veil);
  };
  const leave = (/** @type {DragEvent} */ event) => { if (!event.relatedTarget) veil.remove(); };
  const drop = (/** @type {DragEvent} */ event) => {
    veil.remove();
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    dropped(event.dataTransfer).then(take);
  };
  addEventListener('dragenter', over);
  addEventListener('dragover', over);
  addEventListener('dragleave', leave);
  addEventListener('drop', drop);
  return () => {
    veil.remove();
    removeEventListener('dragenter', over);
    removeEventListener('dragover', over);
    removeEventListener('dragleave', leave);
    removeEventListener('drop', drop);
  };
}
