package import PhotoLedger
import LibraryMaintenance

// The owner's decision that photos are not duplicates, and what it does to proposals.
//
// It concerns all pairs of the photos that are named: after a proposal of three different pictures, none of two of them
// follows. Where it is kept is in RejectedPairs.swift.

/// Decisions that photos do not show the same picture.
package struct DuplicateDecisions: Sendable {
  /// How many photos one decision can be about.
  package static let assetLimit = 100

  private let library: PhotoLibrary
  /// A group without photos, which keeps to the decisions.
  package let emptyGroup: OpenGroup

  /// Reads the decisions of a library.
  /// - Throws: ``LibraryError`` `.storage` if they cannot be read.
  package init(of library: PhotoLibrary) throws {
    self.library = library
    emptyGroup = OpenGroup(rejecting: try RejectedPairs(in: library.store.folder).pairs())
  }

  /// Decides that some photos are not duplicates of each other, or withdraws that.
  /// - Parameters:
  ///   - assets: two photos or more, each once.
  ///   - isRejected: false withdraws a decision.
  /// - Returns: how many pairs the decision is about.
  /// - Throws: ``LibraryError`` `.accessUserDenied` for any client but the owner, `.identifierNotFound`,
  ///   `.changeNotSupported` for fewer than two or more than ``assetLimit`` photos, or assets that are not photos; the
  ///   errors of writing.
  @discardableResult
  package static func decide(
    _ assets: [LocalIdentifier], isRejected: Bool, in library: PhotoLibrary
  ) throws -> Int {
    try library.checkIsOwner("decide about duplicates")
    guard Set(assets).count == assets.count, (2...assetLimit).contains(assets.count) else {
      throw LibraryError(
        .changeNotSupported, "A decision about duplicates needs 2 to \(assetLimit) different assets.")
    }
    let contents = try assets.map { identifier in
      guard let asset = try library.asset(identifier.uuidString) else {
        throw LibraryError(
          .identifierNotFound, "The library has no asset with the identifier \(identifier.uuidString).")
      }
      guard asset.mediaType == .image,
        let shown = try library.resources(of: asset).shown(asset)
      else {
        throw LibraryError(
          .changeNotSupported,
          "The asset \(identifier.uuidString) is not a photo, so it is not proposed as a duplicate.")
      }
      return shown.sha256
    }
    var pairs: [ContentPair] = []
    for (position, content) in contents.enumerated() {
      pairs += contents[(position + 1)...].map { ContentPair(content, $0) }
    }
    try RejectedPairs(in: library.store.folder).record(pairs, isRejected: isRejected)
    return pairs.count
  }

  /// Takes a photo into a group, unless it was rejected with one that is in it, by the pictures that they show now.
  /// - Returns: whether it was taken.
  @discardableResult
  package func take(_ asset: Asset, into group: inout OpenGroup) throws -> Bool {
    if group.takesAll { return true }
    guard let shown = try library.resources(of: asset).shown(asset) else { return true }
    return group.take(shown.sha256)
  }
}

/// Which pictures can still come into a group of which no two were rejected as duplicates of each other.
package struct OpenGroup: Sendable {
  private let partners: [[UInt8]: [[UInt8]]]
  private var barred: Set<[UInt8]> = []

  /// - Parameter pairs: the contents that were rejected.
  init(rejecting pairs: Set<ContentPair>) {
    var partners: [[UInt8]: [[UInt8]]] = [:]
    for pair in pairs {
      partners[pair.first, default: []].append(pair.second)
      partners[pair.second, default: []].append(pair.first)
    }
    self.partners = partners
  }

  /// Whether nothing was rejected.
  var takesAll: Bool { partners.isEmpty }

  /// Takes a picture, unless it was rejected with one that was taken.
  /// - Returns: whether it was taken.
  /// - Complexity: O(1), and O(p) for a picture with p rejected pairs that is taken.
  @discardableResult
  mutating func take(_ content: [UInt8]) -> Bool {
    if barred.contains(content) { return false }
    barred.formUnion(partners[content] ?? [])
    return true
  }
}
