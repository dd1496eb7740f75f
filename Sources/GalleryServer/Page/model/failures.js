// Why something failed, in the reader's language.

import { Problem } from '../client/photoledger.js';
import { problemWords } from '../text/text.js';

/** The page has to be loaded again: the server was updated, or the browser cannot import a part of it any more. */
export class Outdated extends Error {}

/**
 * What a failure says.
 * @param {unknown} error
 */
export function messageOf(error) {
  if (error instanceof Problem) return problemWords(error);
  return error instanceof Error ? error.message : String(error);
}
