// The phrases of the page, English.

/** @type {Record<string, import('./text.js').Phrase>} */
export default {
  // Frame.
  'app.name': 'PhotoLedger',
  'nav.main': 'Sections',
  'nav.photos': 'Photos',
  'main.skip': 'Skip to content',
  'state.offline': 'The server cannot be reached. What you see is what was loaded; it goes on exactly where it stopped.',
  'state.loading': 'Loading…',
  'error.title': 'That did not work',
  'action.close': 'Close',
  'action.cancel': 'Cancel',
  'action.undo': 'Undo',
  'action.retry': 'Try again',
  'notice.undone': 'Undone',
  'notices': 'Notices',
  'photos.count': { one: '{count} photo', other: '{count} photos' },
  'photos.empty': 'No photos yet. Upload some, or import a folder with `photoledger import`.',
  'tile.image': 'Photo, {date}',
  'tile.video': 'Video, {date}',
  'tile.undated': 'without a date',
  // Grid.
  'grid.label': 'Photos',
  'grid.undated': 'Without a date',
  'grid.scrubber': 'Go to a month',
  'grid.larger': 'Larger pictures',
  'grid.smaller': 'Smaller pictures',
  'tile.live': 'Live Photo, {date}',
  'tile.favorite': 'favourite',
  // Viewer.
  // Collections.
  // History.
  // Privacy.
  // Upload.
  // Visitors.
  // Picker.
  // Sign-in.
};
