// The pictures that a gallery shows of a photo or a film: one of 256 pixels on the shorter side for grids, one of 1440
// on the longer side for looking at, and a placeholder. Made in batches, since starting a program of libvips takes as
// long as shrinking a photo:
//
//     RAW ── exiftool: embedded preview ─┐
//     film ─ ffmpeg: frame at min(1 s, 10 %) ─┤
//     photos ────────────────────────────┴▶ vipsthumbnail, all of the batch ──▶ 1440, JPEG
//                                             the 1440s ──▶ vipsthumbnail ──▶ 256, JPEG ──▶ vipsthumbnail ──▶ 8x8
//
// The original is decoded once. What is small is made of the large one, which stands upright already and is sRGB; so
// the shorter side can be asked for (`x256`, `256x`) for many files at once. A picture is never enlarged; of a panorama
// the shorter side is what 1440 on the longer side leaves.
//
// Invariant: a result holds pixels only. All metadata is removed, the profile too, since sRGB is what a page assumes
// where there is none.
//
// Rejected: WebP for the small one. libvips 8.14 writes an EXIF block of its own into it even with `strip`, the encoder
// takes twice the time, and at this size it saves a fifth.
//
// A file that crashes or hangs a decoder takes its batch with it; each file of which there is nothing afterwards is
// done once more, alone, and only then is a failure its own. A decoder that was killed, by a limit or a signal, has not
// said that it cannot decode the file: such a failure is passing, whatever another decoder says afterwards. Nor is the
// file then shrunk without converting its colours, as one is that has failed by itself.

package import Foundation
internal import Glibc
internal import PhotoLedger

/// What a gallery shows of one file.
package struct RenditionSet: Sendable {
  /// 256 pixels on the shorter side, of a panorama what 1440 on the longer side leaves, JPEG.
  package let small: Data
  /// 1440 pixels on the longer side, JPEG.
  package let large: Data
  /// What is drawn until they are there.
  package let placeholder: Placeholder

  /// Pictures that were made.
  package init(small: Data, large: Data, placeholder: Placeholder) {
    (self.small, self.large, self.placeholder) = (small, large, placeholder)
  }
}

/// The recipe of renditions.
package enum RenditionRecipe {
  /// Changes with everything that changes the bytes of a rendition.
  package static let revision = "r3"

  static let large = "[Q=82,strip,background=255]"
  static let small = "[Q=80,strip]"

  /// Has libvips convert colours to sRGB. What has no profile is taken for sRGB: without that, it is converted by way
  /// of a space without a profile, and a pure blue becomes (85, 15, 253). A grey picture without a profile fails so.
  static let toSRGB = ["--eprofile", "srgb", "--iprofile", "srgb"]
}

extension MediaRenderer {
  /// One file of a batch.
  private struct Item {
    let index: Int
    /// The file that the decoder of photos reads, in the work folder.
    let still: String
    let name: String
  }

  /// The renditions of several files, each with its own outcome.
  /// - Parameters:
  ///   - sources: the files; what they are is read from their bytes.
  ///   - isCancelled: whether the work is no longer wanted; then every outcome is a failure.
  /// - Returns: an outcome for each file, in their order; a failure is an ``ImportError``: `toolMissing` with the
  ///   program to install, `toolFailed` for what cannot be decoded or is too large, `toolTimeout`, `cancelled`.
  package func renditions(
    of sources: [URL], isCancelled: @escaping @Sendable () -> Bool = { false }
  ) -> [Result<RenditionSet, any Error>] {
    let outcomes = attempt(sources, isCancelled)
    guard sources.count > 1 else { return outcomes }
    return zip(sources, outcomes).map { source, outcome in
      guard case .failure(let error) = outcome, !isCancelled() else { return outcome }
      if (error as? ImportError)?.code == .toolMissing { return outcome }
      return attempt([source], isCancelled)[0]
    }
  }

  private func attempt(
    _ sources: [URL], _ isCancelled: @escaping @Sendable () -> Bool
  ) -> [Result<RenditionSet, any Error>] {
    do {
      let folder = try root.folder()
      let program = try programs.require("vipsthumbnail", for: "it scales pictures", package: "libvips-tools")
      var outcomes: [Int: Result<RenditionSet, any Error>] = [:]
      var items: [Item] = []
      for (index, source) in sources.enumerated() {
        do {
          let still = try still(of: source, named: "\(index)", in: folder, isCancelled)
          items.append(Item(index: index, still: still, name: "\(index)"))
        } catch { outcomes[index] = .failure(error) }
      }
      let killed = try shrink(items, in: folder, with: program, isCancelled)
      for item in items {
        outcomes[item.index] = Result {
          do { return try result(of: item, in: folder, program) } catch { throw killed ?? error }
        }
      }
      return sources.indices.map { outcomes[$0] ?? .failure(CancellationError()) }
    } catch {
      return sources.map { _ in .failure(error) }
    }
  }

  /// A file that the decoder of photos reads: checked to be a picture within the limits.
  func still(
    of source: URL, named name: String, in folder: borrowing WorkFolder, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> String {
    guard let described = try description(of: source, isCancelled: isCancelled) else { throw noPicture(source) }
    // What other programs make of it is made in a folder of its own, so that files do not meet each other's.
    let own = try root.folder()
    let still: String
    switch described.mediaType {
    case .image where described.isRAW:
      let taken = try own.take(source, isCancelled: isCancelled)
      let preview = try preview(of: taken, in: own, isCancelled)
      still = try folder.take(URL(filePath: preview), as: name)
    case .image: still = try folder.take(source, as: name, isCancelled: isCancelled)
    case .video: still = try folder.take(URL(filePath: try poster(of: source, in: own, isCancelled)), as: name)
    default: throw noPicture(source)
    }
    _ = try checked(still, of: source)
    return still
  }

  /// The photo in a file that was taken into a work folder: of a RAW file the preview, any other file itself; checked
  /// to be a picture within the limits.
  func photo(
    inTaken source: String, in folder: borrowing WorkFolder, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> (path: String, description: StillDescription, isOfRAW: Bool) {
    let file = URL(filePath: source)
    guard let described = try description(ofInput: source), described.mediaType == .image else {
      throw noPicture(file)
    }
    let path = described.isRAW ? try preview(of: source, in: folder, isCancelled) : source
    return (path, try checked(path, of: file), described.isRAW)
  }

  /// What a picture in a work folder says about itself, if it is within the limits.
  private func checked(_ still: String, of source: URL) throws -> StillDescription {
    guard let described = try description(ofInput: still), let size = described.displayedSize else {
      throw noPicture(source)
    }
    try check(size, of: source)
    return described
  }

  private func noPicture(_ source: URL) -> ImportError {
    ImportError(.toolFailed, path: source.path, "The file \(source.lastPathComponent) has no picture to show.")
  }

  /// A frame of a film, at one second or a tenth of its length, whichever is earlier.
  private func poster(
    of source: URL, in folder: borrowing WorkFolder, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> String {
    let film = try film(at: source, isCancelled: isCancelled)
    try check(film, at: source)
    let program = try programs.require("ffmpeg", for: "it extracts pictures from videos", package: "ffmpeg")
    let path = WorkFolder.real(source)
    let frame = folder.file("frame.jpg")
    let run = run(isCancelled, readable: [path], writable: folder.output)
    let made = Films.pictureArguments(frame)
    let quiet = ["-nostdin", "-v", "error", "-y"]
    let start = min(1, film.duration / 10)
    let sought = quiet + ["-ss", "\(start)"] + Films.inputArguments(path) + made
    if start > 0, (try? run.output(of: program, sought)) != nil, let made = try? folder.checked(frame, by: program) {
      return made
    }
    // A film may have its only frame before that.
    _ = try run.output(of: program, quiet + Films.inputArguments(path) + made)
    return try folder.checked(frame, by: program)
  }

  // MARK: Shrinking

  /// - Returns: why a program was killed before it had shrunk them all; nil if none was.
  private func shrink(
    _ items: [Item], in folder: borrowing WorkFolder, with program: String,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ImportError? {
    if items.isEmpty { return nil }
    let output = folder.output
    var failures = [try shrinkOriginals(items, in: folder, program, isCancelled)]
    if items.count == 1, access("\(output)/\(items[0].name)-large.jpg", R_OK) != 0 {
      do { failures.append(try shrinkDecoded(items[0], in: folder, program, isCancelled)) } catch {
        throw failures.compactMap(\.self).first(where: \.isPassing) ?? error
      }
    }
    var (wide, high) = ([String](), [String]())
    for item in items {
      let file = "\(output)/\(item.name)-large.jpg"
      guard let size = try description(ofWritten: file)?.storedSize else { continue }
      if size.width > size.height { wide.append(file) } else { high.append(file) }
    }
    for (files, size) in [(wide, "x256>"), (high, "256x>")] {
      failures.append(
        try shrink(files, size, "-small.jpg\(RenditionRecipe.small)", in: folder, program, isCancelled))
    }
    let small: [String] = items.map { "\(output)/\($0.name)-large-small.jpg" }.filter { access($0, R_OK) == 0 }
    failures.append(try shrink(small, "8x8!", "-tiny.ppm[strip]", in: folder, program, isCancelled))
    return failures.compactMap(\.self).first(where: \.isPassing)
  }

  /// The large ones.
  private func shrinkOriginals(
    _ items: [Item], in folder: borrowing WorkFolder, _ program: String, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ImportError? {
    let (size, ending) = ("1440x1440>", "-large.jpg\(RenditionRecipe.large)")
    let failure = try shrink(
      items.map(\.still), size, ending, RenditionRecipe.toSRGB, in: folder, program, isCancelled)
    // A program that was killed has not said that the conversion fails: what is left is done the next time.
    if failure?.isPassing ?? true { return failure }
    let output = folder.output
    let left = items.filter { access("\(output)/\($0.name)-large.jpg", R_OK) != 0 }
    // A grey picture without a profile is grey in sRGB as well.
    return try shrink(left.map(\.still), size, ending, in: folder, program, isCancelled)
  }

  /// The large one of a file that libvips does not read, by way of ffmpeg.
  private func shrinkDecoded(
    _ item: Item, in folder: borrowing WorkFolder, _ program: String, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ImportError? {
    guard programs.find("ffmpeg") != nil else { return nil }
    let own = try root.folder()
    let decoded = try decoded(try own.take(URL(filePath: item.still)), in: own, isCancelled)
    let still = try folder.take(URL(filePath: decoded), as: "\(item.name)-decoded")
    let decodedItem = Item(index: item.index, still: still, name: "\(item.name)-decoded")
    let failure = try shrinkOriginals([decodedItem], in: folder, program, isCancelled)
    rename(folder.file("\(item.name)-decoded-large.jpg"), folder.file("\(item.name)-large.jpg"))
    return failure
  }

  /// What a program of ours wrote; nil if there is nothing.
  private func description(ofWritten file: String) throws -> StillDescription? {
    access(file, R_OK) == 0 ? try description(ofInput: file) : nil
  }

  /// Has files shrunk; which of them could be is seen by what is there afterwards.
  /// - Parameter colours: what is asked for about colours; nothing of renditions, which are sRGB already.
  /// - Returns: why perhaps not all of them could be.
  @discardableResult
  func shrink(
    _ files: [String], _ size: String, _ ending: String, _ colours: [String] = [], in folder: borrowing WorkFolder,
    _ program: String, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ImportError? {
    if files.isEmpty { return nil }
    var run = run(isCancelled, readable: try folder.readable(), writable: folder.output)
    run.limits.timePerFile = limits.timePerPicture * files.count
    run.environment = Self.environment
    do {
      _ = try run.output(
        of: [program], files + ["--size", size] + colours + ["-o", "\(folder.output)/%s\(ending)"])
      return nil
    } catch let error as ImportError where error.code == .toolFailed && !isCancelled() {
      // Status 1 means that one of the files could not be decoded.
      if error.isPassing { removeLast(of: files, ending, in: folder) }
      return error
    }
  }

  /// Removes the last picture that was made of some files. They are done in their order, so that is the one of which a
  /// program that was killed may have written only a part.
  private func removeLast(of files: [String], _ ending: String, in folder: borrowing WorkFolder) {
    let ending = ending.prefix { $0 != "[" }
    for file in files.reversed() {
      let stem = URL(filePath: file).deletingPathExtension().lastPathComponent
      if unlink(folder.file("\(stem)\(ending)")) == 0 { return }
    }
  }

  private func result(of item: Item, in folder: borrowing WorkFolder, _ program: String) throws -> RenditionSet {
    let name = folder.file(item.name)
    func read(_ ending: String) throws -> Data {
      guard access(name + ending, R_OK) == 0 else {
        throw ImportError(.toolFailed, path: program, "\(program) cannot decode this file.")
      }
      return try Data(contentsOf: URL(filePath: try folder.checked(name + ending, by: program)))
    }
    let (large, small) = (try read("-large.jpg"), try read("-large-small.jpg"))
    guard let pixels = Placeholder.pixels(ppm: Array(try read("-large-small-tiny.ppm"))) else {
      throw ImportError(.toolFailed, path: program, "\(program) produced no placeholder of this file.")
    }
    return RenditionSet(small: small, large: large, placeholder: Placeholder(pixels: pixels))
  }
}
