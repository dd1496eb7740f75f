import Foundation

// Swift takes two spellings of a text for one: "é" as a letter, and as a letter with a mark. The library's databases
// compare bytes, so it can have a client for each. What is cached, held or decided for one of them must not be found
// for the other.
//
//     clients.first { $0.name == client }               either of two clients
//     clients.first { $0.name.exact == client.exact }   the one that the databases find
//
// So names of clients are compared by this type, here and in the modules above, and keys of dictionaries and caches are
// of it. The owner's name needs none: no other text has the canonical form of "owner". New names must be composed
// (`ClientRow.check(newName:)`); a log may have others.
//
// Rejected: one client for all spellings (the names of existing logs would mean other clients than they did).

/// A text that equals another one if both have the same bytes.
package struct ExactText: Hashable, Sendable {
  /// The text itself.
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (one: ExactText, other: ExactText) -> Bool {
    one.text.utf8.count == other.text.utf8.count && one.text.utf8.elementsEqual(other.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var bytes = text
    bytes.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // No text has this byte, so that it ends each.
    hasher.combine(0xFF as UInt8)
  }
}

extension String {
  /// The text as it is compared by its bytes.
  package var exact: ExactText { ExactText(self) }

  /// Whether it is in Unicode's composed form (NFC), of which each text has one.
  var isComposed: Bool { exact == precomposedStringWithCanonicalMapping.exact }
}
