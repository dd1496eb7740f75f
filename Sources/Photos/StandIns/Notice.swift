import Synchronization

/// What a call cannot say, since Apple's spelling leaves no room for an error, is said on standard error, once.
enum Notice: Int, CaseIterable {
  case exiftool, vips, turning, uploads

  private static let given = Mutex<Set<Notice>>([])

  func give(_ error: any Error) {
    guard Self.given.withLock({ $0.insert(self).inserted }) else { return }
    FileHandle.standardError.write(Data("PhotoLedger: \(error)\n".utf8))
  }
}
