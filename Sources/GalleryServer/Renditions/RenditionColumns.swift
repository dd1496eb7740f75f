#if Gallery
  import PhotoLedger

  /// The columns that say what there is of each asset's picture.
  struct RenditionColumns: Sendable {
    let library: PhotoLibrary
    let renditions: Renditions
  }

  extension RenditionRecord.State {
    /// The name on the wire.
    var name: String { "\(word)" }

    /// The name on the wire, as it is copied.
    var word: StaticString {
      switch self {
      case .none: "missing"
      case .ready: "ready"
      case .failed: "failed"
      }
    }
  }

  extension RenditionRecord.Play {
    /// The name on the wire, as those of pictures.
    var name: String {
      switch self {
      case .unknown: "missing"
      case .original, .made: "ready"
      case .failed: "failed"
      }
    }
  }
#endif
