public import Foundation
import Glibc
import Synchronization

// What bytes are, before they are recorded.
//
//     draft ──▶ stored, hashed, durable ──▶ probe ──▶ facts ──▶ the request is completed ──▶ the writer
//                                             │
//                                             └── no such medium: 3302, the bytes are removed
//
// The library parses no image and no film; a probe does, installed by the library's owner or by the module through
// which the library is used. It examines the stored copy, so the facts are those of exactly the bytes that are
// recorded, under a name with the ending of their own: a TIFF and some RAW formats differ in nothing else. It runs
// while a block is staged, off the writer's thread, and only for bytes that a block brings itself: an import has its
// facts already.
//
// The facts complete a request, they never contradict it: a value that the request sets stands. The kind of medium is
// the one exception, since bytes that are not a photo cannot be made one by saying so.
//
// Rejected: to probe inside the writer's transaction, which would hold all writers for the time of a foreign program;
// to let the caller probe, since each would have to and the first that does not records a photo of 0 × 0 pixels.

/// Determines the type and metadata of a file (CB-06, CB-09).
///
/// Installed with ``PhotoLibrary/setMediaProbe(_:whenUnavailable:)``; the library parses no media itself. It is called
/// while a block is staged, on any thread, several at once.
public protocol MediaProbe: Sendable {
  /// Examines a file.
  /// - Parameter file: an absolute file URL; its name has the ending of the original name, if that had one.
  /// - Returns: the facts, or that the bytes are not a medium, or that nothing can be examined now.
  /// - Throws: what kept this file from being examined; the block that brings it fails. A ``LibraryError`` keeps its
  ///   code, any other error is reported as ``LibraryError/Code/invalidResource``.
  func examine(_ file: URL) throws -> MediaFinding
}

/// A probe that keeps the files of different clients apart.
package protocol ClientMediaProbe: MediaProbe {
  /// Examines a file, as ``MediaProbe/examine(_:)`` does.
  /// - Parameters:
  ///   - file: an absolute file URL; its name has the ending of the original name, if that had one.
  ///   - client: the client whose block brings the file.
  func examine(_ file: URL, for client: String) throws -> MediaFinding
}

/// What a ``MediaProbe`` found.
public enum MediaFinding: Sendable, Hashable {
  /// An image, a video or a sound recording.
  case medium(MediumFacts)
  /// Something else; the text says what, such as `text/plain`.
  case noMedium(String)
  /// The probe cannot work at all; the sentence says why, and what to do. Bytes are accepted unexamined.
  case unavailable(String)
}

/// What the bytes of a photo, a video or a sound recording say about themselves.
public struct MediumFacts: Sendable, Hashable {
  /// The kind of medium.
  public var mediaType: MediaType
  /// The kind of data, such as `public.jpeg`.
  public var uniformTypeIdentifier: String
  /// The width in pixels as displayed; 0 if unknown (AS-02).
  public var pixelWidth = 0
  /// The height in pixels as displayed; 0 if unknown (AS-02).
  public var pixelHeight = 0
  /// The length in seconds; 0 for photos (AS-03).
  public var duration: TimeInterval = 0
  /// The instant of capture; a local time without an offset is read as UTC.
  public var creationDate: Date?
  /// The wall time of the camera, held as though it were UTC.
  public var localCreationDate: Date?
  /// The offset from UTC in seconds, if the camera wrote it.
  public var timeZoneOffset: Int?
  /// The place of capture.
  public var location: Location?
  /// What is special about the medium.
  public var mediaSubtypes: MediaSubtypes = []
  /// What the still and the video of one Live Photo share.
  public var contentIdentifier: String?
  /// What else it says, for people; the library takes ``AssetMetadata/bounded()`` of it.
  public var metadata: AssetMetadata?

  /// Describes a medium of which nothing else is known yet.
  /// - Parameters:
  ///   - mediaType: the kind of medium.
  ///   - uniformTypeIdentifier: the kind of data.
  public init(mediaType: MediaType, uniformTypeIdentifier: String) {
    (self.mediaType, self.uniformTypeIdentifier) = (mediaType, uniformTypeIdentifier)
  }
}
