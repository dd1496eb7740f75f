import EventLog
import Foundation
import LMDB
import StoreMigrations

extension LibraryError {
  /// Any error as one of the library's.
  package init(_ error: any Error) {
    switch error {
    case let error as LibraryError: self = error
    case let error as UnreadableEvent: self = error.failure
    case let error as LMDBError: self.init(error)
    case let error as EventLogError:
      if let storage = error.storage {
        self.init(storage)
      } else {
        self.init(Self.codes[error.code] ?? .internalError, error.description)
      }
    case let error as StoreFormatError:
      self.init(error.isNewer ? .newerThanProgram : .notALibrary, error.description)
    case let error as CocoaError: self.init(error)
    default: self.init(.internalError, "\(error)")
    }
  }

  private init(_ error: LMDBError) {
    // A caller that treats an unknown outcome as a full disk would repeat the change after freeing space.
    let code: Code =
      switch error.code {
      case _ where error.outcomeUnknown: .outcomeUnknown
      case .diskFull: .notEnoughSpace
      case .corrupted, .invalidFile: .corrupted
      case .closed: .closed
      default: .storage
      }
    self.init(code, error.description)
  }

  /// A failure of Foundation, by the file that it names and the cause beneath it.
  private init(_ error: CocoaError) {
    let isFull = error.code == .fileWriteOutOfSpace
    guard let path = error.filePath ?? error.url?.path else {
      self.init(isFull ? .notEnoughSpace : .storage, error.localizedDescription)
      return
    }
    // What is to be removed and is gone has a code of its own.
    let isWriting = error.code == .fileNoSuchFile || Self.writingCodes.contains(error.code.rawValue)
    var (action, place) = (isWriting ? "write" : "read", path)
    if let destination = error.userInfo[Self.destinationKey] as? String {
      (action, place) = ("copy \(LMDB.Environment.displayedPath(path)) to", destination)
    }
    if let code = Self.systemCode(beneath: error) {
      self = .store(place, action, errno: code)
    } else {
      let clause = "The library cannot \(action) \(LMDB.Environment.displayedPath(place))"
      self.init(isFull ? .notEnoughSpace : .storage, "\(clause): \(Self.reason(of: error)).")
    }
  }

  /// The codes of failures to write a file; the others are of reading one.
  private static let writingCodes = 512..<1024
  /// The name of the file to which one is copied, in what Foundation says beside an error.
  private static let destinationKey = "NSDestinationFilePath"

  private static let codes: [EventLogError.Code: Code] = [
    .conflict: .conflict, .keyUsed: .conflict, .tooLarge: .limitExceeded, .invalidField: .malformedRequest,
    .corrupted: .corrupted, .newerThanProgram: .newerThanProgram,
  ]
}

extension LibraryError {
  /// What the C library says about the errno value beneath an error of Foundation, whose own sentences name neither the
  /// reason nor, often, the file; that sentence if there is no such value. Without a full stop.
  package static func reason(of error: any Error) -> String {
    if let code = systemCode(beneath: error) { return reason(code) }
    let sentence = error.localizedDescription
    return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  /// The errno value beneath an error of Foundation; nil if there is none.
  private static func systemCode(beneath error: any Error) -> Int32? {
    let inner = (error as? CocoaError)?.underlying ?? (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
    if let system = inner as? POSIXError { return system.code.rawValue }
    guard let system = inner.map({ $0 as NSError }), system.domain == NSPOSIXErrorDomain else { return nil }
    return Int32(system.code)
  }
}
