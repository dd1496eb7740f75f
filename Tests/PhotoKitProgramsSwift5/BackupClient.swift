// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos

/// A file that has been backed up.
public struct BackedUpFile: Equatable, Sendable {
  public let name: String
  public let type: PHAssetResourceType
  public let checksum: UInt64
  public let byteCount: Int
}

/// What went wrong with a backup.
public enum BackupError: Error {
  case noAccess
  case unreadable(String, any Error)
}

/// Keeps a copy of the photo library elsewhere: all of it the first time, what has changed from then on.
public actor BackupClient {
  /// The files by the identifiers of their assets.
  public private(set) var files: [String: [BackedUpFile]] = [:]
  public private(set) var fullScanCount = 0
  public private(set) var incrementalCount = 0

  private let tokenURL: URL

  public init(tokenURL: URL) {
    self.tokenURL = tokenURL
  }

  public func run() async throws {
    guard PHPhotoLibrary.authorizationStatus(for: .readWrite) == .authorized else { throw BackupError.noAccess }
    guard let token = storedToken() else { return try await scanEverything() }
    do {
      try await catchUp(since: token)
    } catch PHPhotosError.persistentChangeTokenExpired, PHPhotosError.persistentChangeDetailsUnavailable {
      try await scanEverything()
    }
  }

  /// The identifiers under which another device would know the assets.
  public func cloudIdentifiers() -> [String: String] {
    var identifiers: [String: String] = [:]
    let mappings = PHPhotoLibrary.shared().cloudIdentifierMappings(forLocalIdentifiers: Array(files.keys))
    for (local, result) in mappings {
      switch result {
      case .success(let cloud): identifiers[local] = cloud.stringValue
      case .failure: break
      }
    }
    return identifiers
  }

  /// Finds the assets of this device that another one's identifiers name; several matches are all given.
  public func localIdentifiers(forCloud strings: [String]) -> [String: [String]] {
    let asked = strings.map { PHCloudIdentifier(stringValue: $0) }
    var found: [String: [String]] = [:]
    for (cloud, result) in PHPhotoLibrary.shared().localIdentifierMappings(for: asked) {
      do {
        found[cloud.stringValue] = [try result.get()]
      } catch let error as PHPhotosError where error.code == .multipleIdentifiersFound {
        found[cloud.stringValue] = (error as NSError).userInfo[PHLocalIdentifiersErrorKey] as? [String]
      } catch {
        found[cloud.stringValue] = []
      }
    }
    return found
  }

  // MARK: - Full and incremental

  private func scanEverything() async throws {
    fullScanCount += 1
    let token = PHPhotoLibrary.shared().currentChangeToken
    files = [:]
    let options = PHFetchOptions()
    options.includeHiddenAssets = true
    options.includeAllBurstAssets = true
    let assets = PHAsset.fetchAssets(with: options)
    for index in 0..<assets.count { try await backUp(assets.object(at: index)) }
    try store(token)
  }

  private func catchUp(since token: PHPersistentChangeToken) async throws {
    guard token != PHPhotoLibrary.shared().currentChangeToken else { return }
    incrementalCount += 1
    for change in try PHPhotoLibrary.shared().fetchPersistentChanges(since: token) {
      let details = try change.changeDetails(for: .asset)
      for identifier in details.deletedLocalIdentifiers { files[identifier] = nil }
      let touched = details.insertedLocalIdentifiers.union(details.updatedLocalIdentifiers)
      try await backUp(identifiers: touched)
      try store(change.changeToken)
    }
  }

  private func backUp(identifiers: Set<String>) async throws {
    guard !identifiers.isEmpty else { return }
    let options = PHFetchOptions()
    options.includeHiddenAssets = true
    options.includeAllBurstAssets = true
    options.predicate = NSPredicate(format: "localIdentifier IN %@", Array(identifiers))
    let assets = PHAsset.fetchAssets(with: options)
    var missing = identifiers
    for index in 0..<assets.count {
      missing.remove(assets.object(at: index).localIdentifier)
      try await backUp(assets.object(at: index))
    }
    // What can no longer be fetched lies in the recently-deleted area.
    for identifier in missing { files[identifier] = nil }
  }

  private func backUp(_ asset: PHAsset) async throws {
    var backedUp: [BackedUpFile] = []
    for resource in PHAssetResource.assetResources(for: asset) {
      let digest = try await digest(of: resource)
      backedUp.append(
        BackedUpFile(
          name: resource.originalFilename, type: resource.type, checksum: digest.value, byteCount: digest.byteCount))
    }
    files[asset.localIdentifier] = backedUp
  }

  private func digest(of resource: PHAssetResource) async throws -> Digest {
    let options = PHAssetResourceRequestOptions()
    options.isNetworkAccessAllowed = true
    let digest = Digest()
    return try await withCheckedThrowingContinuation { continuation in
      PHAssetResourceManager.default().requestData(for: resource, options: options) { data in
        digest.update(data)
      } completionHandler: { error in
        if let error {
          continuation.resume(throwing: BackupError.unreadable(resource.originalFilename, error))
        } else {
          continuation.resume(returning: digest)
        }
      }
    }
  }

  // MARK: - The token

  private func storedToken() -> PHPersistentChangeToken? {
    guard let data = try? Data(contentsOf: tokenURL) else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClass: PHPersistentChangeToken.self, from: data)
  }

  private func store(_ token: PHPersistentChangeToken) throws {
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    try data.write(to: tokenURL, options: .atomic)
  }
}

/// FNV-1a, fed in portions.
private final class Digest: @unchecked Sendable {  // guarded by: the lock
  private let lock = NSLock()
  private var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  private var count = 0

  func update(_ data: Data) {
    lock.lock()
    defer { lock.unlock() }
    for byte in data { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    count += data.count
  }

  var value: UInt64 { hash }
  var byteCount: Int { count }
}
