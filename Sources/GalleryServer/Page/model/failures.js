// Why something failed, in the reader's language.

import { Problem } from '../client/photoledger.js';
import { problemWords } from '../text/text.js';

/**
 * What a failure says.
 * @param {unknown} error
 */
export function messageOf(error) {
  if (error instanceof Problem) return problemWords(error);
  return error instanceof Error ? error.message : String(error);
}
