// Moves within an album or a folder, by indexes that mean what was seen or nothing.
//
//   indexes of what is shown ─▶ moveAt with the identifiers expected there ─┬▶ committed
//            ▲                                                              │
//            └── the same items at the state of now ◀── conflict: others ◀──┘
//                                                       changed the order
//
// The library checks the identifiers in the transaction of the move, so an index that was counted before another commit
// never moves a neighbour. A move that is rejected is counted anew, a few times; then a notice asks for the move again.

import { Reorder } from '../model/reorder.js';
import { t } from '../text/text.js';
import { blockLimit, short } from './actions.js';

/** @typedef {import('./app.js').App} App */

/** How often a move is sent. */
const attempts = 4;

/**
 * Commits a move, and counts it anew where others changed the order meanwhile.
 * @param {App} app
 * @param {object} operation
 * @param {() => Promise<object | null>} anew the operation at the state of now; null if it means nothing any more
 * @param {string} done what to say when it is done
 */
export function commitMove(app, operation, anew, done) {
  let left = attempts;
  return app.commit([operation], done, {
    renew: async () => {
      left -= 1;
      const next = left > 0 ? await anew() : null;
      if (!next) throw new Error(t('albums.changed'));
      return [next];
    },
  });
}

/**
 * Puts photos of an album elsewhere in it.
 * @param {App} app
 * @param {import('./grid.js').Grid} grid
 * @param {string} album
 * @param {import('./grid.js').MoveEvent} event
 */
export async function movePhotos(app, grid, album, { indexes, before }) {
  const { fetch, count } = grid.list;
  let { token } = grid.list;
  const move = new Reorder(indexes, before, count);
  if (move.isDone) return;
  const done = t('done.reordered', { count: indexes.length });
  const operation = () => ({ op: 'album.moveAt', album, indexes: move.indexes, to: move.to });
  if (indexes.length > blockLimit) {
    // The library finds what stood there in its log, which takes longer.
    await app.commit([{ ...operation(), token }], done);
    return;
  }
  try {
    const [expectedMembers, [expectedNext]] = await Promise.all([grid.identifiers(indexes),
      move.next === null ? [null] : grid.identifiers([move.next])]);
    const expecting = () => ({ ...operation(), expectedMembers: expectedMembers.map(short),
      expectedNext: expectedNext && short(expectedNext) });
    await commitMove(app, expecting(), async () => {
      const change = await app.client.changes(fetch, token);
      if (!change || !('before' in change) || !move.apply(change) || move.isDone) return null;
      token = change.after;
      return expecting();
    }, done);
  } catch (error) {
    app.notices.fail(error);
  }
}
