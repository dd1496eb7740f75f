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
    case let error as CocoaError:
      self.init(error.code == .fileWriteOutOfSpace ? .notEnoughSpace : .storage, error.localizedDescription)
    default: self.init(.internalError, "\(error)")
    }
  }

  private init(_ error: LMDBError) {
    // Whoever takes an unknown outcome for a full disk makes room and does the same thing twice.
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

  private static let codes: [EventLogError.Code: Code] = [
    .conflict: .conflict, .keyUsed: .conflict, .tooLarge: .limitExceeded, .invalidField: .malformedRequest,
    .corrupted: .corrupted, .newerThanProgram: .newerThanProgram,
  ]
}
