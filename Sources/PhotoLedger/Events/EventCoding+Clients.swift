import EventLog
import Foundation

// The edits of clients in CBOR.

extension ClientEdited {
  func write(to fields: inout FieldWriter) {
    fields.unsigned(1, number)
    for level in AccessLevel.allCases {
      // Fields 2 and 3 are of addOnly, 4 and 5 of readWrite: twice the level's own number, and the next.
      let key = UInt64(level.rawValue) * 2
      if let status = statuses[level] { fields.pair(key, status) { $0.unsigned(UInt64($1.rawValue)) } }
      if let words = usageDescriptions[level] { fields.pair(key + 1, words) { $0.text($1) } }
    }
    if let prevents = preventsLimitedAlert { fields.pair(6, prevents) { $0.bool($1) } }
    if let level = requested { fields.unsigned(7, UInt64(level.rawValue)) }
    // Objects are numbered from 1, so 0 stands for none.
    if let followedAlbum { fields.pair(8, followedAlbum) { $0.unsigned($1 ?? 0) } }
  }

  init(_ payload: RawSpan) throws {
    var edited = ClientEdited(number: 0)
    var number: ObjectNumber?
    try payload.forEachField { reader, key in
      switch key {
      case 1: number = try reader.place()
      case 2, 4:
        edited.statuses[key == 2 ? .addOnly : .readWrite] = try reader.pair { try $0.authorizationStatus() }
      case 3, 5:
        edited.usageDescriptions[key == 3 ? .addOnly : .readWrite] = try reader.pair { try $0.optionalText() }
      case 6: edited.preventsLimitedAlert = try reader.pair { try $0.bool() }
      case 7:
        guard let level = AccessLevel(rawValue: try reader.number(Int.self)) else {
          throw EventCodingError(sentence: "an unknown access level.")
        }
        edited.requested = level
      case 8:
        let album = try reader.pair { try $0.place() }
        edited.followedAlbum = Replacement(old: album.old == 0 ? nil : album.old, new: album.new == 0 ? nil : album.new)
      default: throw EventCodingError(sentence: "unknown field \(key).")
      }
    }
    guard let number else { throw EventCodingError(sentence: "the client's number is missing.") }
    self = edited
    self.number = number
  }
}
