// What an app asks the picker for. It is the core's configuration under Apple's names, with the library that it was
// made with; what only a view could heed (mode, capabilities, margins, search text) is left out.
//
// One name of LibraryPicking is re-exported for the reason that Photos re-exports one of the core's
// (Photos/Objects/Enumerations.swift): so a client sees the members of what stands here under Apple's names.

public import LibraryPicking
@_exported public import struct LibraryPicking.PickerUpdate
@_exported import Photos
import PhotoLedger

/// What an app wants to have picked (Apple: `PHPickerConfiguration`).
public struct PHPickerConfiguration: Hashable, Sendable {
  /// In what form items are loaded (PK-07; Apple: `PHPickerConfiguration.AssetRepresentationMode`).
  public typealias AssetRepresentationMode = AssetRepresentation
  /// The selection mode (PK-05; Apple: `PHPickerConfiguration.Selection`).
  public typealias Selection = PickerConfiguration.Selection
  /// What is changed while the picker is open (Apple: `PHPickerConfiguration.Update`).
  public typealias Update = PickerUpdate

  var core: PickerConfiguration
  /// The library that the configuration was made with; nil for the shared one at the beginning of the session.
  let library: PHPhotoLibrary?

  /// A configuration for one asset of the shared library; results do not identify it (PK-02).
  public init() { (core, library) = (PickerConfiguration(), nil) }

  /// A configuration for one asset of a library; results identify it (PK-02).
  /// - Parameter photoLibrary: the library, as the client that asks sees it.
  public init(photoLibrary: PHPhotoLibrary) {
    (core, library) = (PickerConfiguration(library: photoLibrary.core), photoLibrary)
  }

  /// Which assets are offered; nil: all (PK-03).
  public var filter: PHPickerFilter? {
    get { core.filter.map(PHPickerFilter.init) }
    set { core.filter = newValue?.core }
  }

  /// The most assets that can be picked; 0: any number (PK-03).
  public var selectionLimit: Int {
    get { core.selectionLimit }
    set { core.selectionLimit = newValue }
  }

  /// The selection mode (PK-05).
  public var selection: Selection {
    get { core.selection }
    set { core.selection = newValue }
  }

  /// The assets that are selected when the session begins (PK-04); only for a configuration made with a library.
  public var preselectedAssetIdentifiers: [String] {
    get { core.preselectedAssetIdentifiers }
    set { core.preselectedAssetIdentifiers = newValue }
  }

  /// In what form items are loaded (PK-07).
  public var preferredAssetRepresentationMode: AssetRepresentationMode {
    get { core.preferredRepresentation }
    set { core.preferredRepresentation = newValue }
  }

  /// What is taken out of the bytes of picked items before they are handed out.
  public var metadataOptions: PHPickerMetadataOptions {
    get { PHPickerMetadataOptions(rawValue: UInt(bitPattern: core.metadataOptions.rawValue)) }
    set { core.metadataOptions = PickerMetadataOptions(rawValue: Int(bitPattern: newValue.rawValue)) }
  }
}

/// What is taken out of the bytes of picked items, as bits (Apple: `PHPickerMetadataOptions`).
public struct PHPickerMetadataOptions: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt
  /// A set of bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Where it was taken.
  public static let removeLocation = PHPickerMetadataOptions(rawValue: 1)
  /// What is written about it.
  public static let removeCaptions = PHPickerMetadataOptions(rawValue: 2)
}
