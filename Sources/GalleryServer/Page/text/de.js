// The phrases of the page, German.

/** @type {Record<string, import('./text.js').Phrase>} */
export default {
  // Frame.
  'app.name': 'PhotoLedger',
  'nav.main': 'Bereiche',
  'nav.photos': 'Fotos',
  'main.skip': 'Zum Inhalt springen',
  'state.offline': 'Der Server ist nicht erreichbar. Zu sehen ist, was geladen wurde; danach geht es genau dort weiter.',
  'state.loading': 'Wird geladen …',
  'error.title': 'Das hat nicht geklappt',
  'action.close': 'Schließen',
  'action.cancel': 'Abbrechen',
  'action.undo': 'Rückgängig',
  'action.retry': 'Erneut versuchen',
  'notice.undone': 'Rückgängig gemacht',
  'notices': 'Hinweise',
  'photos.count': { one: '{count} Foto', other: '{count} Fotos' },
  'photos.empty': 'Noch keine Fotos. Lade welche hoch oder importiere einen Ordner mit `photoledger import`.',
  'tile.image': 'Foto, {date}',
  'tile.video': 'Video, {date}',
  'tile.undated': 'ohne Datum',
  // Grid.
  'grid.label': 'Fotos',
  'grid.undated': 'Ohne Datum',
  'grid.scrubber': 'Zu einem Monat gehen',
  'grid.larger': 'Bilder größer',
  'grid.smaller': 'Bilder kleiner',
  'tile.live': 'Live Photo, {date}',
  'tile.favorite': 'Favorit',
  // Viewer.
  // Collections.
  // History.
  // Privacy.
  // Upload.
  // Visitors.
  // Picker.
  // Sign-in.
};
