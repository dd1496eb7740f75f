import Foundation
import LibraryPicking
import PhotoLedger
import PhotosUI
import TestSupport
import Testing

/// A library with photos whose bytes are there, the person at it, and an app that may do nothing.
final class PickerLibrary: Sendable {
  let temporary: TemporaryLibrary
  /// The photos, in the order of their addition.
  let photos: [String]

  static let client = "com.example.app"

  /// - Parameter convertsAsPhotos: whether the programs convert that `Photos` installs; otherwise nothing does.
  init(_ count: Int = 5, convertsAsPhotos: Bool = false) async throws {
    temporary = try TemporaryLibrary()
    // The bytes of its photos are text.
    try temporary.library.setMediaProbe(nil)
    if !convertsAsPhotos { try temporary.library.setRepresentationConverter(nil) }
    photos = try await temporary.library.performChanges { block in
      for index in 0..<count { block.createAsset(Self.creation([Self.draft(.photo, Self.bytes(index), "a.jpg")])) }
    }.created
  }

  var library: PhotoLibrary { temporary.library }

  /// The library as the app sees it.
  var app: PhotoLibrary { library.as(Self.client) }

  /// The head of a GIF of 8 by 6 pixels, which is text, and more text.
  static func bytes(_ index: Int) -> String { "GIF89a\u{8}\0\u{6}\0\0\0\0;the bytes of photo \(index)" }

  static func draft(_ type: ResourceType, _ bytes: String, _ name: String) -> ResourceDraft {
    ResourceDraft(type: type, source: .data(Data(bytes.utf8)), originalFilename: name)
  }

  private static func creation(_ drafts: [ResourceDraft], _ mediaType: MediaType = .image) -> AssetCreation {
    AssetCreation(mediaType: mediaType, resources: drafts)
  }

  /// Adds an asset.
  func add(_ drafts: [ResourceDraft], _ mediaType: MediaType = .image) async throws -> String {
    let made = try await library.performChanges { $0.createAsset(Self.creation(drafts, mediaType)) }
    return try #require(made.created.first)
  }

  /// Adds a Live Photo.
  func addLivePhoto() async throws -> String {
    try await add([Self.draft(.photo, "still", "live.heic"), Self.draft(.pairedVideo, "film", "live.mov")])
  }

  /// The identifier of a photo, as results give it.
  func name(_ index: Int) -> String { photos[index] }

  /// The indexes of the photos that results name.
  func indexes(_ results: [PHPickerResult]) -> [Int?] {
    results.map { result in photos.firstIndex { result.assetIdentifier == $0 } }
  }

  /// A configuration made with the library, as the app sees it.
  func configuration(
    _ limit: Int = 0, _ selection: PHPickerConfiguration.Selection = .default
  ) -> PHPickerConfiguration {
    PHPhotoLibrary.withShared(app) {
      var configuration = PHPickerConfiguration(photoLibrary: .shared())
      (configuration.selectionLimit, configuration.selection) = (limit, selection)
      return configuration
    }
  }

  /// Has assets picked, and gives what the delegate received last.
  @MainActor
  func pick(_ names: [String], _ configuration: PHPickerConfiguration? = nil) async throws -> [PHPickerResult] {
    let told = Told()
    let picker = PHPickerViewController(configuration: configuration ?? self.configuration())
    picker.delegate = told
    let presenter = try library.present(picker.begin())
    for name in names { try await presenter.select(name) }
    try await presenter.finish()
    return try #require(await told.next())
  }

  /// Has one asset picked.
  func pickOne(_ name: String, _ configuration: PHPickerConfiguration? = nil) async throws -> PHPickerResult {
    let results = try await pick([name], configuration)
    return try #require(results.first)
  }
}

/// A delegate that hands on what it receives.
@MainActor
final class Told: PHPickerViewControllerDelegate {
  private let stream = AsyncStream.makeStream(of: [PHPickerResult].self)
  private(set) var count = 0

  func picker(_ picker: PHPickerViewController, didFinishPicking results: [PHPickerResult]) {
    count += 1
    stream.continuation.yield(results)
  }

  /// What it receives next.
  func next() async -> [PHPickerResult]? {
    for await results in stream.stream { return results }
    return nil
  }

  /// What it receives next, some times.
  func next(_ count: Int) async -> [[PHPickerResult]] {
    var found: [[PHPickerResult]] = []
    for _ in 0..<count { if let results = await next() { found.append(results) } }
    return found
  }
}

/// Converts by writing what it was asked for.
struct TellingConverter: RepresentationConverter {
  func isCompatible(_ file: URL, type: String) throws -> Bool { true }

  func convert(_ conversion: RepresentationConversion) throws {
    let bytes = try String(contentsOf: conversion.source, encoding: .utf8)
    let removed = conversion.metadataOptions.rawValue
    try Data("\(conversion.targetType) of \(bytes), without \(removed)".utf8).write(to: conversion.target)
  }
}

/// Begins a file and converts nothing until it is cancelled.
struct EndlessConverter: RepresentationConverter {
  /// The file to read and the one that was begun, of each conversion.
  let begun = Gathered<[URL]>()

  func isCompatible(_ file: URL, type: String) throws -> Bool { false }

  func convert(_ conversion: RepresentationConversion) throws {
    try Data("half".utf8).write(to: conversion.target)
    begun.append([conversion.source, conversion.target])
    // Asleep: dispatch has as many threads as there are processors, and starts another for one that sleeps, not for one
    // that runs. Two conversions that run would keep from it the task that cancels them.
    while !conversion.isCancelled() { usleep(1000) }
    throw CancellationError()
  }
}

extension NSItemProvider {
  /// The bytes, as a value.
  func data(_ type: String) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      loadDataRepresentation(forTypeIdentifier: type) { data, error in
        continuation.resume(with: data.map { .success($0) } ?? .failure(error ?? CancellationError()))
      }
    }
  }

  /// What a handler makes of the file; given when the file and its folder are removed.
  func file<Value: Sendable>(_ type: String, _ body: @escaping @Sendable (URL) throws -> Value) async throws -> Value {
    let (url, value) = try await withCheckedThrowingContinuation { continuation in
      loadFileRepresentation(forTypeIdentifier: type) { url, error in
        continuation.resume(
          with: Result {
            if let error { throw error }
            let url = try #require(url)
            return (url, try body(url))
          })
      }
    }
    try await waitUntil("the folder of the file is gone") { !url.deletingLastPathComponent().isThere }
    return value
  }
}

extension URL {
  /// Whether something is at the place.
  var isThere: Bool { FileManager.default.fileExists(atPath: path) }
}

/// The error of this module with which something fails.
func failure(_ body: () async throws -> Void) async -> PHPhotosError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? PHPhotosError
  }
}

/// The error of this module with which something fails at once.
func refusal(_ body: () throws -> Void) -> PHPhotosError? {
  do {
    try body()
    return nil
  } catch {
    return error as? PHPhotosError
  }
}
