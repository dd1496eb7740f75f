internal import Glibc
internal import PhotoLedger

// One pass over an archive, from its first byte to its last.
//
//     .zip ── bsdtar ──┐
//     .tgz ── gzip  ───┼──▶ tar stream ──▶ members ──▶ copies among the library's incoming files, each hashed once
//     .tar ────────────┘
//
// Nothing is unpacked into folders: a member's name is never the name of a file here, so names that lead out of an
// archive lead nowhere. They are rejected all the same and reported, with links, encrypted members, second members of
// one name, and bytes that are not those that the archive promises. Copies with equal content are one file. A photo
// that is taken keeps its copy as the library's own file; so an import needs the room of the photos once, not twice.
//
// What an archive promises. A zip states size and checksum of each member in its list (`ZipDirectory`), and they are
// compared with what comes: bsdtar ends with status 0 although a member's checksum is wrong. A gzip states both of the
// whole, which gzip compares; so nothing of a .tgz counts before gzip has ended with status 0. An archive that is
// damaged ends the import before anything is recorded.
//
// A member of a zip has the name that the list states, or that its header adds in UTF-8. bsdtar composes names (e and
// U+0301 become é) that the zip marks as UTF-8, so what comes is looked up by its composed name; members that differ in
// that only come in the list's order.
//
// The unpacking programs run in the sandbox of decoders, see one file, and are ended when they say nothing for two
// minutes. Memory: a buffer, and for each member its name and its digest.
//
// Rejected: bsdtar for all three (its gzip reader ignores the checksum); unpacking only what the plan wants, in a
// second pass (deflate cannot be entered in the middle); reading while the planner works, since the JSON of a photo
// may stand in the last part.

/// Reads archives.
struct ArchivePass: Sendable {
  let copies: MemberCopies
  let selection: NameSelection
  var limits = ArchiveLimits()
  let stop: StopFlag
  var programs = Programs()

  /// What kind of archive a file is, by its first bytes; nil if it is not one.
  enum Format: Sendable {
    case zip, gzip, tar

    init?(of path: FilePath) throws(ImportError) {
      let reader = try RandomReader(path)
      let head = try reader.read(at: 0, Int(min(reader.byteCount, 512)))
      if head.starts(with: [0x50, 0x4B, 3, 4]) || head.starts(with: [0x50, 0x4B, 5, 6]) {
        self = .zip
      } else if head.starts(with: [0x1F, 0x8B, 8]) {
        self = .gzip
      } else if head.count == 512, head[257..<262].elementsEqual("ustar".utf8) {
        self = .tar
      } else {
        return nil
      }
    }
  }

  /// Reads an archive to its end.
  /// - Returns: its members in their order, with copies of the regular files.
  /// - Throws: ``ImportError`` `.archiveDamaged`, `.archiveRefused`, `.toolMissing`, `.diskFull`, `.cancelled`.
  /// - Complexity: O(bytes), in one pass.
  func files(of path: FilePath, _ format: Format) throws(ImportError) -> [ScannedFile] {
    let byteCount = try RandomReader(path).byteCount
    var collected = Collected(path: path, pass: self)
    switch format {
    case .tar:
      try read(TarReader(try FileStream(path), of: path, byteCount: byteCount, limits), &collected)
    case .gzip:
      let program = try required("gzip", "it unpacks \(path)", "gzip")
      let stream = try ProgramStream(program, ["-cdf"], [path], path, limits.patience, stop)
      try read(TarReader(stream, of: path, byteCount: byteCount, limits), &collected)
    case .zip:
      let list = try ZipDirectory(of: path, limits)
      collected.expect(list.members)
      let program = try required("bsdtar", "it unpacks \(path)", "libarchive-tools")
      let name = FilePath(bytes: [UInt8(ascii: "@")] + path.bytes)
      let stream = try ProgramStream(program, ["-cf", "-", "--format=pax"], [name], path, limits.patience, stop)
      // A zip of small members becomes larger as tar: each has a header and filling.
      let room = byteCount + UInt64(list.members.count) * 4096
      try read(TarReader(stream, of: path, byteCount: room, limits), &collected)
      collected.addMissing()
    }
    return collected.files
  }

  private func required(_ name: String, _ purpose: String, _ package: String) throws(ImportError) -> String {
    guard let found = programs.find(name) else {
      throw ImportError(
        .toolMissing, path: name,
        "\(name) is not on PATH; \(purpose). Install it with: apt-get install \(package)")
    }
    return found
  }

  private func read<Stream: ByteStream & ~Copyable>(
    _ reader: consuming TarReader<Stream>, _ collected: inout Collected
  ) throws(ImportError) {
    var reader = reader
    while let member = try reader.next() {
      if stop.isSet { throw ImportError(.cancelled, path: collected.path.description, "The import was stopped.") }
      guard let place = collected.begin(member) else { continue }
      let copy: (name: String, file: Int32)
      do throws(LibraryError) {
        copy = try copies.make(ending: FilePath(bytes: place.name).pathExtension)
      } catch { throw ImportError(error) }
      let file = Descriptor(copy.file)
      var crc = CRC32()
      do throws(ImportError) {
        try reader.data { (piece) throws(ImportError) in
          if place.crc != nil { crc.update(piece) }
          do throws(LibraryError) {
            try writeWhole(piece, to: file.number, copies.path(of: copy.name).description)
          } catch { throw ImportError(error) }
        }
        try collected.end(member, place, copy.name, crc.value)
      } catch {
        copies.discard(copy.name)
        throw error
      }
    }
  }
}

/// What was read of an archive so far.
private struct Collected {
  /// A member whose data come now.
  struct Place {
    /// The member's name, as the list of a zip has it.
    let name: [UInt8]
    /// The checksum that its bytes must have.
    let crc: UInt32?
    let byteCount: UInt64?
  }

  let path: FilePath
  let pass: ArchivePass
  private(set) var files: [ScannedFile] = []
  private var names: Set<[UInt8]> = []
  /// The first copy of each content.
  private var copies: [[UInt8]: String] = [:]
  /// What the list of a zip promises and did not come yet, by the composed name; nil for an archive without a list.
  private var expected: [[UInt8]: [ArchiveMember]]?

  init(path: FilePath, pass: ArchivePass) { (self.path, self.pass) = (path, pass) }

  mutating func expect(_ members: [ArchiveMember]) {
    var all: [[UInt8]: [ArchiveMember]] = [:]
    for member in members.reversed() {
      if case .folder = member.kind { continue }
      all[member.name.composedName, default: []].append(member)
    }
    expected = all
  }

  /// Decides about a member.
  /// - Returns: nil if its data are not wanted; what becomes of it is recorded.
  mutating func begin(_ member: ArchiveMember) -> Place? {
    if case .folder = member.kind { return nil }
    var stated = member
    if expected != nil {
      guard let listed = expected?[member.name.composedName]?.popLast() else {
        refuse(member, .damaged, "It is in the archive but not in its directory.")
        return nil
      }
      stated = listed
    }
    let name = stated.name
    if case .other(let reason) = stated.kind {
      refuse(stated, .unusable, reason)
    } else if case .other(let reason) = member.kind {
      refuse(stated, .unusable, reason)
    } else if !Self.isInside(name) {
      refuse(stated, .unusable, "Its name points outside the archive.")
    } else if !names.insert(name).inserted {
      refuse(stated, .unusable, "The archive has an earlier member of this name.")
    } else if let reason = pass.selection.reason(againstMember: name, at: shown(name)) {
      refuse(stated, .excluded, reason)
    } else {
      return Place(
        name: name, crc: expected == nil ? nil : stated.crc, byteCount: expected == nil ? nil : stated.byteCount)
    }
    return nil
  }

  /// Takes in a member whose data are in a copy.
  mutating func end(_ member: ArchiveMember, _ place: Place, _ copy: String, _ crc: UInt32) throws(ImportError) {
    var member = member
    member.name = place.name
    if place.crc.map({ $0 != crc }) ?? false || place.byteCount.map({ $0 != member.byteCount }) ?? false {
      pass.copies.discard(copy)
      refuse(member, .damaged, "Its bytes do not match the archive's directory; download the archive again.")
      return
    }
    var file = entry(member, .candidate)
    if FolderScan.sidecarExtensions.contains(file.path.pathExtension) { file.role = .sidecar }
    file.copy = copy
    if member.byteCount > 0 {
      do throws(LibraryError) {
        let content = try FileContent(of: pass.copies.path(of: copy))
        if let first = copies[content.sha256] {
          pass.copies.discard(copy)
          file.copy = first
        } else {
          copies[content.sha256] = copy
        }
        file.content = content
      } catch { throw ImportError(error, path: file.path) }
    }
    files.append(file)
  }

  /// Records what the list of a zip promises and what did not come.
  mutating func addMissing() {
    let missing = (expected ?? [:]).values.flatMap { $0 }
    for member in missing.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
      if case .other(let reason) = member.kind {
        refuse(member, .unusable, reason)
      } else {
        refuse(member, .damaged, "It is in the archive's directory, but its bytes are missing.")
      }
    }
    expected = [:]
  }

  private func shown(_ name: [UInt8]) -> FilePath { path.appending(name) }

  private func entry(_ member: ArchiveMember, _ role: ScannedFile.Role) -> ScannedFile {
    ScannedFile(
      path: shown(member.name), relativeCount: member.name.count, role: role,
      byteCount: Int64(clamping: member.byteCount), part: path.description)
  }

  private mutating func refuse(_ member: ArchiveMember, _ reason: SkipReason, _ sentence: String) {
    files.append(entry(member, .settled(.skipped(reason, "\(shown(member.name)): \(sentence)"))))
  }

  /// Whether a name stays in the folder that it is in.
  private static func isInside(_ name: [UInt8]) -> Bool {
    guard let first = name.first, first != FilePath.slash, !name.contains(0) else { return false }
    let parts = name.split(separator: FilePath.slash, omittingEmptySubsequences: false)
    return !parts.contains { $0.elementsEqual([FilePath.dot, FilePath.dot]) }
  }
}

/// The bytes of a file.
struct FileStream: ByteStream, ~Copyable {
  private let source: SourceFile

  init(_ path: FilePath) throws(ImportError) {
    do throws(LibraryError) { source = try SourceFile(path) } catch { throw ImportError(error, path: path) }
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
    do throws(LibraryError) {
      return try source.read(into: buffer)
    } catch {
      throw ImportError(error, path: source.path)
    }
  }
}

/// What a program writes to its standard output; its end is one with status 0, or an error.
struct ProgramStream: ByteStream, ~Copyable {
  /// The address space of a program that unpacks, in bytes.
  private static let memoryByteCount = 512 << 20
  /// How long it takes at most to notice that the import was stopped.
  private static let look: Duration = .milliseconds(200)

  private var child: ChildProcess
  private let program: String
  private let path: FilePath
  private let patience: Duration
  private let stop: StopFlag

  init(
    _ program: String, _ arguments: [String], _ names: [FilePath], _ path: FilePath, _ patience: Duration,
    _ stop: StopFlag
  ) throws(ImportError) {
    // bsdtar converts names by the locale, and rejects names that the locale C does not have.
    child = try ChildProcess(
      executable: program, arguments: arguments, pathArguments: names, environment: ["LC_ALL=C.UTF-8"],
      memoryByteCount: Self.memoryByteCount, sandbox: Sandbox(readable: [path.description]))
    (self.program, self.path, self.patience, self.stop) = (program, path, patience, stop)
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
    let deadline = SuspendingClock.now + patience
    while true {
      if stop.isSet { throw ImportError(.cancelled, path: path.description, "The import was stopped.") }
      // Only a read that began after the deadline shows that no bytes were pending then.
      let now = SuspendingClock.now
      switch child.read(into: buffer, before: min(deadline, now + Self.look)) {
      case .bytes(let count): return count
      case .timeout:
        guard now < deadline else {
          throw ImportError(
            .toolTimeout, path: path.description, "\(program) made no progress with \(path) and was killed.")
        }
      case .end:
        guard child.exitStatus(before: deadline) == 0 else {
          throw ImportError.damaged(path, "\(program) cannot unpack all of it")
        }
        return 0
      }
    }
  }
}
