// Pictures for comparison: 32x32 pixels of each file, by the same programs and limits as renditions.
//
// As with renditions, a file that crashes or hangs a decoder takes its batch with it; each file of which there is
// nothing afterwards is done once more, alone, and only then is a failure its own.

package import Foundation
internal import Glibc
internal import PhotoLedger

extension MediaRenderer {
  /// The hashes of several photos, each with its own outcome; nil for a plain picture, which is like no other.
  /// - Parameters:
  ///   - sources: the files; what they are is read from their bytes.
  ///   - isCancelled: whether the work is no longer wanted; then every outcome is a failure.
  /// - Returns: an outcome for each file, in their order; a failure is an ``ImportError``.
  package func pictureHashes(
    of sources: [URL], isCancelled: @escaping @Sendable () -> Bool = { false }
  ) -> [Result<PictureHash?, any Error>] {
    let outcomes = attemptHashes(of: sources, isCancelled)
    guard sources.count > 1 else { return outcomes }
    return zip(sources, outcomes).map { source, outcome in
      guard case .failure(let error) = outcome, !isCancelled() else { return outcome }
      if (error as? ImportError)?.code == .toolMissing { return outcome }
      return attemptHashes(of: [source], isCancelled)[0]
    }
  }

  private func attemptHashes(
    of sources: [URL], _ isCancelled: @escaping @Sendable () -> Bool
  ) -> [Result<PictureHash?, any Error>] {
    do {
      let folder = try root.folder()
      let program = try comparer()
      var outcomes: [Int: Result<PictureHash?, any Error>] = [:]
      var stills: [Int: String] = [:]
      for (index, source) in sources.enumerated() {
        do { stills[index] = try still(of: source, named: "\(index)", in: folder, isCancelled) } catch {
          outcomes[index] = .failure(error)
        }
      }
      let failure = try shrinkForComparison(
        stills.sorted { $0.key < $1.key }.map(\.value), in: folder, program, isCancelled)
      if sources.count == 1, let still = stills[0], access(folder.file("0-compared.ppm"), R_OK) != 0 {
        do { try shrinkDecodedForComparison(still, in: folder, program, isCancelled) } catch {
          // What was killed may succeed the next time, whatever the other decoder says.
          if let failure, failure.isPassing { throw failure }
          throw error
        }
      }
      for index in stills.keys {
        let file = folder.file("\(index)-compared.ppm")
        outcomes[index] = Result {
          // A decoder that was killed has not said that it cannot decode the file.
          if let failure, failure.isPassing, access(file, R_OK) != 0 { throw failure }
          return try hash(in: file, program)
        }
      }
      return sources.indices.map { outcomes[$0] ?? .failure(CancellationError()) }
    } catch {
      return sources.map { _ in .failure(error) }
    }
  }

  /// The program that makes pictures for comparison.
  /// - Throws: ``ImportError`` `toolMissing`.
  package func comparer() throws -> String {
    try programs.require("vipsthumbnail", for: "it shrinks pictures for comparison", package: "libvips-tools")
  }

  @discardableResult
  private func shrinkForComparison(
    _ stills: [String], in folder: borrowing WorkFolder, _ program: String,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ImportError? {
    let size = "\(PictureHash.side)x\(PictureHash.side)!"
    return try shrink(stills, size, "-compared.ppm[strip,background=255]", in: folder, program, isCancelled)
  }

  /// By way of ffmpeg, for what libvips does not read.
  private func shrinkDecodedForComparison(
    _ still: String, in folder: borrowing WorkFolder, _ program: String, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws {
    guard programs.find("ffmpeg") != nil else { return }
    let own = try root.folder()
    let decoded = try decoded(try own.take(URL(filePath: still)), in: own, isCancelled)
    let taken = try folder.take(URL(filePath: decoded), as: "decoded")
    try shrinkForComparison([taken], in: folder, program, isCancelled)
    rename(folder.file("decoded-compared.ppm"), folder.file("0-compared.ppm"))
  }

  private func hash(in file: String, _ program: String) throws -> PictureHash? {
    var status = stat()
    guard lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size < 1 << 16,
      let bytes = FileManager.default.contents(atPath: file),
      let pixels = Placeholder.pixels(ppm: Array(bytes), side: PictureHash.side)
    else { throw ImportError(.toolFailed, path: program, "\(program) cannot decode this file.") }
    return PictureHash(pixels: pixels)
  }
}
