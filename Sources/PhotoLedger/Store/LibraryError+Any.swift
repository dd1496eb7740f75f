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

  private static let codes: [EventLogError.Code: Code] = [
    .conflict: .conflict, .keyUsed: .conflict, .tooLarge: .limitExceeded, .invalidField: .malformedRequest,
    .corrupted: .corrupted, .newerThanProgram: .newerThanProgram,
  ]
}

extension LibraryError {
  /// What the C library says about the errno value beneath an error of Foundation, whose own sentences name neither the
  /// reason nor, often, the file; that sentence if there is no such value. Without a full stop.
  package static func reason(of error: any Error) -> String {
    let inner = (error as? CocoaError)?.underlying ?? (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
    if let system = inner as? POSIXError { return reason(system.code.rawValue) }
    guard let system = inner.map({ $0 as NSError }), system.domain == NSPOSIXErrorDomain else {
      let sentence = error.localizedDescription
      return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
    return reason(Int32(system.code))
  }
}

extension LibraryStore {
  package static func reporting<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch {
      throw LibraryError(error)
    }
  }

  /// Runs work that calls the caller's own code, and throws that code's errors as they are, not as the library's.
  /// - Parameter work: calls that code through ``OwnErrors/keeping(_:)``.
  package static func passingErrors<R>(in work: (_ own: inout OwnErrors) throws -> R) throws -> R {
    var own = OwnErrors()
    do { return try work(&own) } catch { throw own.error ?? error }
  }
}

/// Keeps an error of the caller's own code on its way through work that makes it one of the library's.
package struct OwnErrors {
  fileprivate var error: (any Error)?

  /// Runs the caller's own code.
  package mutating func keeping<R>(_ code: () throws -> R) throws -> R {
    do { return try code() } catch {
      self.error = error
      throw error
    }
  }
}
