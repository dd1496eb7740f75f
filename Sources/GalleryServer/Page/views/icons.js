// The icons of the page: outlines on a square of 24, drawn in the colour of the text around.

/** @type {Record<string, string>} */
const paths = {
  album: 'M4 6h16v14H4zM7 3h10M8 16l3-4 3 3 2-2 2 3',
  back: 'M15 5l-7 7 7 7',
  camera: 'M4 8h4l2-3h4l2 3h4v11H4zM12 17a4 4 0 1 0 0-8 4 4 0 0 0 0 8z',
  check: 'M5 12l5 5 9-11',
  close: 'M6 6l12 12M18 6L6 18',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l4 2',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4',
  folder: 'M3 6h6l2 2h10v11H3z',
  forward: 'M9 5l7 7-7 7',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  heart: 'M12 20S4 15 4 9a4 4 0 0 1 8-1 4 4 0 0 1 8 1c0 6-8 11-8 11z',
  hidden: 'M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6zM4 4l16 16',
  history: 'M4 12a8 8 0 1 1 3 6M4 19v-4h4M12 8v4l3 2',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v6M12 7v.5',
  key: 'M14 10a4 4 0 1 0-3 3.9L13 16h2v2h2v2h3v-3l-6-6z',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  live: 'M12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 18a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM12 22a10 10 0 1 0 0-20 10 10 0 0 0 0 20z',
  menu: 'M4 7h16M4 12h16M4 17h16',
  minus: 'M5 12h14',
  more: 'M6 12h.5M12 12h.5M18 12h.5',
  people: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-7 7-7s7 3 7 7M16 4a4 4 0 0 1 0 7M18 14c2 1 4 3 4 7',
  photos: 'M4 4h16v16H4zM4 16l5-5 4 4 3-3 4 4M9 9v.5',
  play: 'M8 5l11 7-11 7z',
  plus: 'M12 5v14M5 12h14',
  privacy: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z',
  search: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM15 15l6 6',
  stack: 'M4 8h16v12H4zM6 5h12M8 2h8',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6',
  undo: 'M9 6L4 11l5 5M4 11h10a5 5 0 0 1 0 10h-2',
  upload: 'M12 20V9M7 13l5-5 5 5M5 4h14',
  video: 'M3 6h12v12H3zM15 10l6-3v10l-6-3',
};

/**
 * An icon; it says nothing to a screen reader, so what holds it needs a name.
 * @param {keyof typeof paths} name
 */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}
