import Foundation
import LMDB
import LibraryMaintenance
import PhotoLedger
import TestSupport
import Testing

@Suite("Altered projections")
struct AlteredProjectionTests {
  private struct Alteration {
    let what: String
    let entry: StoreDump.Entry
    /// What stands under the key instead; nil for nothing.
    let value: [UInt8]?
  }

  private func alterations(of entries: [StoreDump.Entry], _ name: String) -> [Alteration] {
    var chosen = [entries.first, entries.last].compactMap { $0 }
    if entries.count > 2 { chosen.append(entries[entries.count / 2]) }
    return chosen.enumerated().flatMap { index, entry -> [Alteration] in
      // At the usual dose one byte of each: the first one's first, the last one's last, the middle one's middle.
      let all = [0, entry.value.count - 1, entry.value.count / 2]
      let places = Dose.isFull ? all : [all[index]]
      return [Alteration(what: "removed", entry: entry, value: nil)]
        + (entry.value.isEmpty ? [[0]] : places.map { entry.value.flipped($0) })
        .map { Alteration(what: "changed", entry: entry, value: $0) }
    }
  }

  @Test(
    "a changed, removed or added entry of any projection is found by database and key, and mended by a rebuild",
    arguments: Projections.names)
  func found(name: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.place("library")
    let library = try FormatLibrary.copy(to: url)
    defer { library.close() }
    let environment = try LMDB.Environment.store(ofLibrary: url.path)
    let before = try StoreDump(environment)
    let entries = try #require(before.databases[name])
    let database = try environment.database(name, integerKeys: StoreDump.numbered.contains(name), create: false)
    for alteration in alterations(of: entries, name) {
      let entry = alteration.entry
      try environment.write { t in
        if let value = alteration.value {
          try t.put(entry.key, value, in: database)
        } else {
          _ = try t.delete(entry.key, in: database)
        }
      }
      let place = try library.verify(scratch: folder.url).defect?.place
      #expect(place == "\(name) \(entry.key.hexadecimal)", "\(alteration.what) \(entry.key)")
      try environment.write { t in try t.put(entry.key, entry.value, in: database) }
    }
    // A key that sorts after all others, of the length that the others have.
    let added = [UInt8](repeating: 0xFE, count: entries.first?.key.count ?? 40)
    try environment.write { t in try t.put(added, [1], in: database) }
    #expect(try library.verify(scratch: folder.url).defect?.place == "\(name) \(added.hexadecimal)")
    try library.rebuild()
    #expect(try StoreDump(environment).difference(from: before) == nil)
    #expect(try library.verify(scratch: folder.url).isSound)
  }
}

extension [UInt8] {
  fileprivate var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

  fileprivate func flipped(_ index: Int) -> [UInt8] {
    var bytes = self
    bytes[index] ^= 0x10
    return bytes
  }
}
