internal import Foundation
internal import PhotoLedger

// Which file goes where.
//
//     assets, in the order of addition ─▶ paths by the template ─▶ numbers where two want one name ─▶ files
//
// The paths depend on the library's state, the options, and what an earlier export keeps in the folder for other
// assets; on nothing else. So the same export twice wants the same files, and a new asset leaves the names of older
// ones alone.
//
// An asset's files share a stem: `IMG_1.HEIC`, `IMG_1.MOV`, `IMG_1_edited.jpg`. Two assets never do, not even with
// different endings or in different case: on another machine they would be taken for the halves of one. The later one
// is numbered: `IMG_1 (1)`.
//
// Invariant: no two planned files have paths that differ in nothing but case or composition, and no file has the path
// of a folder.

/// One file that is to be in the folder.
struct PlannedFile: Sendable {
  let asset: Asset
  /// The file of the asset; nil for a sidecar.
  let resource: AssetResource?
  /// What is written into it, or what it is.
  let packet: XMPPacket?
  let subject: ExportSubject?
  let path: String

  var kind: String { resource?.type.name ?? "sidecar" }

  /// Whether exiftool makes it: its bytes are not known before.
  var isMade: Bool { resource != nil && packet != nil }

  /// What names the content: equal for files that need not be written again.
  var content: String {
    guard let resource else { return packet?.digest ?? "" }
    guard let packet else { return resource.sha256Hex }
    return "\(resource.sha256Hex)+\(packet.digest)"
  }

  func report(_ outcome: ExportOutcome, _ message: String? = nil) -> ExportedFile {
    ExportedFile(asset: asset.localIdentifier, kind: kind, path: path, outcome: outcome, message: message)
  }
}

/// All files that are to be in the folder.
struct ExportPlan {
  private(set) var files: [PlannedFile] = []
  /// Files of assets that the options leave out.
  private(set) var left: [ExportedFile] = []
  let assetCount: Int

  /// A file of an asset, and what stands between the asset's stem and the file's ending.
  private struct Chosen {
    let resource: AssetResource
    let suffix: String
    let ending: String
  }

  /// - Parameters:
  ///   - subjects: in the order of addition.
  ///   - reserved: paths that belong to assets that are not among them.
  init(_ subjects: [ExportSubject], _ options: ExportOptions, reserved: Set<String>) {
    assetCount = subjects.count
    let paths = subjects.map { options.template.paths(for: $0) }
    var taken = Set(reserved.map(SafeFileName.key))
    for path in paths.joined() {
      for depth in 1..<max(1, path.count) { taken.insert(SafeFileName.key(path[..<depth].joined(separator: "/"))) }
    }
    // `taken` has folders and whole paths, `stems` what the assets so far are called.
    var stems = Set(reserved.map { SafeFileName.key(SafeFileName.stem(of: Self.described($0))) })
    var numbers: [String: Int] = [:]
    for (subject, paths) in zip(subjects, paths) {
      let chosen = choose(subject, options)
      for path in paths where !chosen.isEmpty {
        let base = path.joined(separator: "/")
        let key = SafeFileName.key(base)
        var number = numbers[key] ?? 0
        while true {
          let stem = number == 0 ? base : "\(base) (\(number))"
          let files = files(of: subject, chosen, stem, options)
          let keys = Set(chosen.map { SafeFileName.key(stem + $0.suffix) })
          if stems.isDisjoint(with: keys), files.allSatisfy({ !taken.contains(SafeFileName.key($0.path)) }) {
            stems.formUnion(keys)
            self.files += files
            break
          }
          number += 1
        }
        numbers[key] = number
      }
    }
  }

  /// The file that a sidecar is about; other files are their own.
  private static func described(_ path: String) -> String {
    path.hasSuffix(".xmp") && SafeFileName.ending(of: String(path.dropLast(4))) != nil ? String(path.dropLast(4)) : path
  }

  /// The files of an asset that the options take; the others are noted as left.
  private mutating func choose(_ subject: ExportSubject, _ options: ExportOptions) -> [Chosen] {
    let resources = subject.details.resources
    let isPair = resources.contains { $0.isOriginal && $0.isRaw } && resources.contains { Self.isCompressed($0) }
    let edits = resources.filter { Self.isEdit($0.type) }
    var chosen: [Chosen] = []
    var endings: Set<String> = []
    for resource in resources {
      if let reason = Self.reasonToLeave(resource, subject, edits, isPair, options) {
        left.append(
          ExportedFile(
            asset: subject.asset.localIdentifier, kind: resource.type.name, path: nil, outcome: .left, message: reason))
        continue
      }
      let ending =
        SafeFileName.ending(of: resource.originalFilename)
        ?? Self.nonempty(UniformType.filenameExtension(of: resource.uniformTypeIdentifier)) ?? ".data"
      var suffix = Self.isEdit(resource.type) && options.versions == .both ? "_edited" : ""
      // A second file with the same ending, such as the other original of a pair.
      while !endings.insert((suffix + ending).lowercased()).inserted { suffix += "_2" }
      chosen.append(Chosen(resource: resource, suffix: suffix, ending: ending))
    }
    return chosen
  }

  private static func nonempty(_ text: String) -> String? { text.isEmpty ? nil : text }

  private static func isEdit(_ type: ResourceType) -> Bool {
    [.fullSizePhoto, .fullSizeVideo, .fullSizePairedVideo].contains(type)
  }

  private static func isCompressed(_ resource: AssetResource) -> Bool {
    [.photo, .alternatePhoto].contains(resource.type) && !resource.isRaw
  }

  private static func isPairedVideo(_ type: ResourceType) -> Bool {
    [.pairedVideo, .fullSizePairedVideo].contains(type)
  }

  /// Why a file is left out; nil for one that is taken.
  private static func reasonToLeave(
    _ resource: AssetResource, _ subject: ExportSubject, _ edits: [AssetResource], _ isPair: Bool,
    _ options: ExportOptions
  ) -> String? {
    let type = resource.type
    guard resource.isOriginal || isEdit(type) else { return "It is adjustment data." }
    if isPairedVideo(type), !options.takesPairedVideos { return "The videos of Live Photos are not wanted." }
    if isEdit(type) { return options.versions == .originals ? "Edited files are not wanted." : nil }
    if options.versions == .current, !edits.isEmpty {
      // A film that the edit left as it was is still what a Live Photo shows.
      let film = subject.details.resources.shownPairedVideo(subject.asset)
      if film?.type != type { return "It is replaced by an edited file." }
    }
    if isPair, options.raw == .compressed, resource.isRaw { return "The RAW files of pairs are not wanted." }
    if isPair, options.raw == .raw, isCompressed(resource) { return "The compressed files of pairs are not wanted." }
    return nil
  }

  private func files(
    of subject: ExportSubject, _ chosen: [Chosen], _ stem: String, _ options: ExportOptions
  ) -> [PlannedFile] {
    let packet = options.embeds || options.sidecars != nil ? XMPPacket(subject) : nil
    var files: [PlannedFile] = []
    var sidecars: Set<String> = []
    for file in chosen {
      let path = stem + file.suffix + file.ending
      let isDescribed = !Self.isPairedVideo(file.resource.type)
      let isChanged = options.embeds && isDescribed && packet.map { !$0.filled.isEmpty } ?? false
      files.append(
        PlannedFile(
          asset: subject.asset, resource: file.resource, packet: isChanged ? packet : nil,
          subject: isChanged ? subject : nil, path: path))
      guard isDescribed, let naming = options.sidecars, let packet else { continue }
      let sidecar = naming.path(of: path)
      guard sidecars.insert(sidecar).inserted else { continue }
      files.append(PlannedFile(asset: subject.asset, resource: nil, packet: packet, subject: nil, path: sidecar))
    }
    return files
  }
}
