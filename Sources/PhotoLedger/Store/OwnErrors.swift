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
