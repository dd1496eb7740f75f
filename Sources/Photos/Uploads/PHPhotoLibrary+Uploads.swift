internal import LibraryUploads
internal import PhotoLedger

extension PHPhotoLibrary {
  /// Whether the client enabled upload jobs, and may still read the library (Apple: `uploadJobExtensionEnabled`); false
  /// for a library that was closed.
  public var uploadJobExtensionEnabled: Bool { uploadJobExtensionOptions != nil }

  /// What the client set when it enabled upload jobs; nil while they are disabled, and for a library that was closed
  /// (Apple: `uploadJobExtensionOptions`).
  public var uploadJobExtensionOptions: PHAssetResourceUploadJobOptions? {
    let settings = Self.answer("PHPhotoLibrary.uploadJobExtensionOptions", ifClosed: nil) { try core.uploadSettings }
    return settings.map { settings in
      let options = PHAssetResourceUploadJobOptions()
      options.preventsExpensiveNetworkAccess = settings.preventsExpensiveNetworkAccess
      return options
    }
  }

  /// Enables or disables upload jobs (Apple: `setUploadJobExtensionEnabled(_:)`, deprecated).
  ///
  /// Options that were set before are kept.
  /// - Throws: `PHPhotosError`.
  public func setUploadJobExtensionEnabled(_ enable: Bool) throws {
    guard enable else { return try disableUploadJobExtension() }
    try uploads { try $0.enableUploads(try $0.uploadSettings ?? UploadSettings()) }
  }

  /// Enables upload jobs (Apple: `enableUploadJobExtension(with:)`).
  ///
  /// A limited client may do so, too: it uploads what it sees.
  /// - Parameter options: nil for default values.
  /// - Throws: `PHPhotosError.accessUserDenied` or `.accessRestricted` for a client that may not read the library.
  public func enableUploadJobExtension(with options: PHAssetResourceUploadJobOptions?) throws {
    try uploads { try $0.enableUploads(UploadSettings(options)) }
  }

  /// Stops upload jobs where they are; they are kept, and go on when jobs are enabled again
  /// (Apple: `disableUploadJobExtension()`).
  /// - Throws: `PHPhotosError`.
  public func disableUploadJobExtension() throws { try uploads { try $0.disableUploads() } }

  /// Changes how jobs are executed (Apple: `setUploadJobExtensionOptions(_:)`).
  /// - Throws: `PHPhotosError.changeNotSupported` while they are disabled.
  public func setUploadJobExtensionOptions(_ options: PHAssetResourceUploadJobOptions) throws {
    try uploads { try $0.setUploadSettings(UploadSettings(options)) }
  }

  /// Installs a function that reports an expensive network, for jobs that wait then; nil, the default: never.
  ///
  /// Linux does not distinguish metered connections. Apple has no such call.
  /// - Parameter answer: called on a thread of the library's before each request.
  public func setNetworkIsExpensive(_ answer: (@Sendable () -> Bool)?) { core.setNetworkIsExpensive(answer) }

  private func uploads(_ body: (PhotoLibrary) throws -> Void) throws {
    do { try body(try present()) } catch { throw PHPhotosError.from(error) }
  }
}

extension UploadSettings {
  fileprivate init(_ options: PHAssetResourceUploadJobOptions?) {
    self.init(preventsExpensiveNetworkAccess: options?.preventsExpensiveNetworkAccess ?? false)
  }
}
