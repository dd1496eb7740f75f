// What the file of a photo says of how it was made: camera, lens, exposure, and who made it.
//
// All of it comes from outside and is text. What a file does not say has no line.

import { isolated, number, t } from '../text/text.js';

/**
 * @typedef {object} FileMetadata As the record of an asset has it; what is not said is missing or null.
 * @property {string | null} [title]
 * @property {string[]} [people]
 * @property {string[]} [creators]
 * @property {string | null} [copyright]
 * @property {string | null} [cameraMake]
 * @property {string | null} [cameraModel]
 * @property {string | null} [lens]
 * @property {number | null} [focalLength] millimetres
 * @property {number | null} [aperture] the f-number
 * @property {number | null} [exposureTime] seconds
 * @property {number | null} [iso]
 * @property {boolean | null} [flashFired]
 * @property {string | null} [software]
 */

/**
 * A camera by its maker and model; makers repeat their name in the model's.
 * @param {FileMetadata} said
 */
const cameraOf = ({ cameraMake: make, cameraModel: model }) =>
  make && model?.toLowerCase().startsWith(make.toLowerCase()) ? model : [make, model].filter(Boolean).join(' ');

/**
 * How long the shutter was open, as cameras say it: a fraction below a third of a second.
 * @param {number} seconds
 */
export const exposureWords = (seconds) =>
  seconds < 0.3 ? t('camera.fraction', { part: String(Math.round(1 / seconds)) })
    : t('camera.seconds', { seconds: number(Math.round(seconds * 10) / 10) });

/**
 * The lines of what a file says.
 * @param {FileMetadata | null | undefined} said
 * @returns {[string, string][]} name and value
 */
export function cameraFacts(said) {
  if (!said) return [];
  const exposure = [
    said.exposureTime && exposureWords(said.exposureTime),
    said.aperture && `ƒ/${number(Math.round(said.aperture * 10) / 10)}`,
    said.iso && `ISO ${said.iso}`,
    said.focalLength && t('camera.millimetres', { length: number(Math.round(said.focalLength * 10) / 10) }),
    said.flashFired && t('camera.flash'),
  ].filter(Boolean).join(' · ');
  const names = (/** @type {string[] | undefined} */ list) => (list ?? []).map(isolated).join(', ');
  /** @type {[string, string | null | undefined][]} */
  const facts = [
    ['title', said.title], ['people', names(said.people)], ['camera', cameraOf(said)], ['lens', said.lens],
    ['exposure', exposure], ['creators', names(said.creators)], ['copyright', said.copyright], ['software', said.software],
  ];
  return facts.flatMap(([name, value]) => value ? [/** @type {[string, string]} */ ([t(`fact.${name}`), value])] : []);
}
