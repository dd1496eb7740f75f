import JSONReading
import LibraryJSON
import PhotoLedger

extension JSON {
  /// A failure as an answer gives it: the number of its kind, and a sentence.
  init(failure: any Error) {
    let code = (failure as? LibraryError)?.code ?? (failure is JSONError ? .malformedRequest : .internalError)
    self = ["code": .integer(Int64(code.rawValue)), "message": .text(sentence(of: failure))]
  }
}
