public import Foundation
public import PhotoLedger

// The front door of this module: folders into a library.
//
//     let summary = try await LibraryImport(into: library).run([FilePath("Pictures")])
//
// This file has the options, which decide what the sources yield; the import is in `Importing/LibraryImport+Run.swift`.

/// Imports files and folders into a library.
public struct LibraryImport: Sendable {
  /// How an import goes about it.
  public struct Options: Sendable {
    /// The number of files recorded as one commit, about.
    public var batchFileCount = 200
    /// How long the reading of one commit's files takes at most, beside the file that is being read then. An import
    /// that is killed has to do again what it read for two commits: the one being recorded, and the next.
    public var batchDuration: Duration = .seconds(1)
    /// Leaves the bytes where they are and records their absolute paths.
    public var leavesFilesInPlace = false
    /// Folders that are passed over; the library's own always is.
    public var excludedFolders: [FilePath] = []
    /// The number of threads that read files; nil for two a processor.
    public var threadCount: Int?
    /// What reading the metadata of one file may cost.
    public var metadataLimits = ExifToolLimits()
    /// Patterns of names of which one must fit a file; none: every file is taken.
    public var includedNames: [String] = []
    /// Patterns of names of files and folders that are left out.
    public var excludedNames: [String] = Self.usualExclusions
    /// When photos were taken that are imported; nil: whenever. Files without a date are left out if it is set.
    public var dates: ClosedRange<Date>?
    /// Words that every new asset gets.
    public var keywords: Set<String> = []
    /// The zone of wall times that a file states without an offset; nil: they stay without one.
    public var timeZone: TimeZone?
    /// Whether each folder with photos becomes an album with its name.
    public var makesFolderAlbums = false
    /// Whether sidecars are read: XMP, JSON as exiftool and osxphotos write it, YAML of PhotoPrism.
    public var readsSidecars = false
    /// Whether the names of people that a source states become keywords.
    public var takesPeopleAsKeywords = false
    /// Whether assets are stacked that certainly belong together: two codings of one shot, an edited copy and its
    /// original, photos that a camera took as one series. Only a client with full access makes stacks.
    public var formsStacks = true
    /// What becomes of photos that a Google account has from its partner.
    public var partnerShared = PartnerShared.taken
    /// Whether nothing is recorded and the summary says what an import would do.
    public var isDryRun = false
    /// Whether originals are removed that the library has a copy of, once all files are recorded: if that copy was read
    /// back, is another file, and has the hash of the original, which nothing has changed or is writing. Every other
    /// file stays, and the summary says why. Only for plain folders that are copied, and for the owner. A dry run
    /// removes nothing, and counts what would be removed.
    public var removesOriginals = false

    /// What other programs and cameras keep beside photos: thumbnails, previews, bins, files that are being written,
    /// resource forks, indexes. After those: Android's bin and its files that are not finished, and the pictures and
    /// small videos that action cameras, drones and camcorders make of each video. The last two rows are files that are
    /// not completely transferred: of Syncthing, Resilio Sync, browsers and FTP clients, rsync (`.NAME.jpg.Xa3b9Q`),
    /// ownCloud and Nextcloud. Their patterns with a random part fit hidden names only.
    public static let usualExclusions = [
      "@eaDir", "#recycle", "#snapshot", ".thumbnails", ".thumbs", "*.lrdata", "*.photoslibrary", "*.photolibrary",
      "*.aplibrary", "*.migratedphotolibrary", "__MACOSX", "._*", ".DS_Store", "Thumbs.db", "desktop.ini",
      ".picasa.ini", "Picasa.ini", ".Trash", ".Trash-*", ".Trashes", "$RECYCLE.BIN", ".stversions", ".dtrash",
      "lost+found", ".git", "@Recycle", ".@__thumb",
      ".trashed-*", ".pending-*", "*.THM", "*.LRV", "*.LRF", "THMBNL",
      ".syncthing.*", "~syncthing~*", "*.!sync", "*.part", "*.partial", "*.filepart", "*.crdownload", "*.download",
      ".rsync-partial", ".~tmp~", ".*.*.[0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z][0-9a-z]", ".*.~*",
    ]

    /// The clock that the times of files come from.
    var now: @Sendable () -> Date = { Date() }
    /// The clock that the duration of a batch is measured by.
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Files of more bytes are read to their end only if they are photos or videos.
    var largeByteCount: Int64 = 4 << 30
    /// What reads metadata and goes on running behind the import; nil: one of its own, which ends with it.
    var tool: ExifTool?

    var wishes: StatementWishes {
      StatementWishes(
        keywords: Set(Limits.keywords(keywords.sorted())), peopleAsKeywords: takesPeopleAsKeywords, timeZone: timeZone)
    }

    /// The usual way.
    public init() {}
  }

  /// What becomes of photos that a Google account has from its partner.
  public enum PartnerShared: Sendable, Hashable {
    /// They are imported as the others.
    case taken
    /// They are imported with a keyword.
    case keyword(String)
    /// They are left out.
    case leftOut
  }

  let library: PhotoLibrary
  let options: Options
  let tool: ExifTool

  /// Prepares imports into a library.
  /// - Parameters:
  ///   - library: the view of the client that imports; its name stands in every commit.
  ///   - options: how to go about it.
  /// - Throws: ``ImportError`` `.toolMissing` when exiftool is not installed.
  public init(into library: PhotoLibrary, options: Options = Options()) throws(ImportError) {
    self.library = library
    self.options = options
    precondition(
      !options.removesOriginals || !options.leavesFilesInPlace, "Originals are removed only where they are copied.")
    if let running = options.tool { tool = running } else { tool = try ExifTool(limits: options.metadataLimits) }
  }

  /// Checks what an import needs before it begins: that exiftool is installed and that every root exists.
  /// - Parameter roots: files or folders.
  /// - Throws: ``ImportError`` `.toolMissing`, `.notFound` for the first root that does not exist.
  /// - Complexity: One system call for each root.
  public static func check(_ roots: [FilePath]) throws(ImportError) {
    _ = try ExifTool()
    for root in roots { _ = try FolderScan.status(ofRoot: root) }
  }
}
