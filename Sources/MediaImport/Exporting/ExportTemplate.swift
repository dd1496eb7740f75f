internal import Foundation
package import PhotoLedger

// Where an exported file goes, said in one line.
//
//     {year|undated}/{favorite?best|rest}/{name}
//      └field └otherwise └if it has a value
//
//     template = { text | "{{" | "}}" | "{" field [ "?" text ] [ "|" text ] "}" }
//
// `{field}` is replaced by its value, or by nothing if it does not have one. The text after `|` is written in that
// case; the text after `?` in place of an existing value. A `/` in the template's own text separates folders; one in a
// value does not. The last component is the file's name without its ending, which each file keeps. A component that
// comes out empty is left out; a name that does is the asset's identifier.
//
// Some fields have several values: an asset may lie in three albums and have four keywords. A template with such a
// field gives a path for each, and the asset's files are exported to all of them.
//
// Invariant: for any library, `paths(for:)` gives at least one path of 1 to `depthLimit` components, each as
// `SafeFileName` makes them, so that none leaves the target.
//
// Rejected: expressions (a person would have to learn a language to sort photos; what `ls --where` says is said there),
// names of months (they would depend on a machine's language, and so would the folders).

/// A template for the paths of exported files.
package struct ExportTemplate: Sendable, Hashable {
  /// One thing that a template can ask for.
  package enum Field: String, Sendable, CaseIterable {
    case year, month, day, hour, minute, second, date, time
    case addedYear = "added.year"
    case addedMonth = "added.month"
    case addedDay = "added.day"
    case addedDate = "added.date"
    case album
    case albumPath = "album.path"
    case keyword, caption, rating, favorite, hidden, edited, raw, live, type, subtype, camera, name, ending
    case width, height, id

    /// What it stands for, for the documentation and the help.
    package var meaning: String {
      switch self {
      case .year: "year of capture, 4 digits"
      case .month: "month of capture, 01 to 12"
      case .day: "day of capture, 01 to 31"
      case .hour: "hour of capture, 00 to 23"
      case .minute: "minute of capture, 00 to 59"
      case .second: "second of capture, 00 to 59"
      case .date: "day of capture as 2024-05-31"
      case .time: "time of capture as 18.30.00"
      case .addedYear: "year in which the asset was added to the library, in UTC"
      case .addedMonth: "month in which it was added"
      case .addedDay: "day on which it was added"
      case .addedDate: "the day on which it was added as 2024-05-31"
      case .album: "title of an album it is in; a path for each"
      case .albumPath: "the folders of an album and its title, as folders; a path for each"
      case .keyword: "one of its keywords; a path for each"
      case .caption: "its caption"
      case .rating: "its stars, 1 to 5"
      case .favorite: "favorite for a favourite, otherwise no value"
      case .hidden: "hidden for a hidden asset, otherwise no value"
      case .edited: "edited for an asset whose content was edited, otherwise no value"
      case .raw: "raw for an asset with a RAW original, otherwise no value"
      case .live: "live for a Live Photo, otherwise no value"
      case .type: "photo, video or sound"
      case .subtype: "screenshot, panorama, hdr, portrait, animation, slowmotion, timelapse, screenrecording, cinematic"
      case .camera: "the camera's model, as its file states it"
      case .name: "the name the original had, without its ending"
      case .ending: "the ending of the original's name in lower case, without its dot"
      case .width: "width in pixels"
      case .height: "height in pixels"
      case .id: "the identifier of the asset"
      }
    }

    fileprivate var isRepeated: Bool { self == .album || self == .albumPath || self == .keyword }
  }

  fileprivate enum Part: Sendable, Hashable {
    case text(String)
    case field(Field, filled: String?, otherwise: String?)
  }

  /// The template that is used if none is given.
  package static let standardText = "{year|undated}/{month}/{name}"
  /// The most folders of a path, and the file's name.
  static let depthLimit = 16
  /// The most paths of one asset.
  static let pathLimit = 64

  /// The template as it was written.
  package let text: String
  private let parts: [Part]

  /// Reads a template.
  /// - Throws: ``LibraryError`` `.malformedRequest` that says where it is wrong.
  package init(_ text: String) throws(LibraryError) {
    self.text = text
    var reader = Reader(rest: text[...], whole: text)
    parts = try reader.parts()
    let depth = parts.reduce(1) { $0 + ($1.texts.map { $0.count { $0 == "/" } }.max() ?? 0) }
    guard depth <= Self.depthLimit else {
      throw LibraryError(
        .malformedRequest, "The template '\(text)' has \(depth) levels; at most \(Self.depthLimit) are allowed.")
    }
  }

  /// Whether it asks for albums.
  var usesAlbums: Bool { parts.contains { $0.field == .album || $0.field == .albumPath } }

  // MARK: Rendering

  /// The paths of an asset's files without their endings, each at least one component; the first is the first in the
  /// order of the repeated values.
  func paths(for subject: ExportSubject) -> [[String]] {
    var choices: [[Field: [String]]] = [[:]]
    for field in Field.allCases where field.isRepeated && parts.contains(where: { $0.field == field }) {
      let values = subject.values(of: field)
      guard !values.isEmpty else { continue }
      choices = choices.flatMap { choice in values.map { choice.merging([field: $0]) { $1 } } }
      choices = Array(choices.prefix(Self.pathLimit))
    }
    var paths: [[String]] = []
    for choice in choices {
      let path = path(for: subject, choice)
      if !paths.contains(path) { paths.append(path) }
    }
    return paths
  }

  private func path(for subject: ExportSubject, _ choice: [Field: [String]]) -> [String] {
    // Values are kept apart from the template's own separators by making them components before they are joined.
    var components = [""]
    func write(_ text: String) {
      for (index, piece) in text.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
        if index > 0 { components.append("") }
        components[components.count - 1] += piece
      }
    }
    for part in parts {
      switch part {
      case .text(let text): write(text)
      case .field(let field, let filled, let otherwise):
        let value = field.isRepeated ? choice[field] ?? [] : subject.values(of: field).first ?? []
        let isFilled = value.contains { !$0.isEmpty }
        if isFilled, filled == nil {
          for (index, piece) in value.enumerated() {
            if index > 0 { components.append("") }
            components[components.count - 1] += piece.replacing("/", with: "_")
          }
        } else if let text = isFilled ? filled : otherwise {
          write(text)
        }
      }
    }
    let name = SafeFileName.component(components.removeLast())
    let folders = components.map { SafeFileName.component($0) }.filter { !$0.isEmpty }
    return folders.suffix(Self.depthLimit - 1) + [name.isEmpty ? subject.asset.id.uuidString : name]
  }

  // MARK: Reading

  private struct Reader {
    var rest: Substring
    let whole: String

    func failure(_ sentence: String) -> LibraryError {
      let column = whole.distance(from: whole.startIndex, to: rest.startIndex) + 1
      return LibraryError(.malformedRequest, "Invalid template '\(whole)' at column \(column): \(sentence)")
    }

    mutating func parts() throws(LibraryError) -> [Part] {
      var parts: [Part] = []
      var text = ""
      guard !rest.isEmpty else { throw failure("it is empty.") }
      while let character = rest.first {
        if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
          text.append(character)
          rest = rest.dropFirst(2)
        } else if character == "{" {
          if !text.isEmpty { parts.append(.text(text)) }
          text = ""
          parts.append(try field())
        } else if character == "}" {
          throw failure("there is a single }; write }} for the character.")
        } else {
          text.append(rest.removeFirst())
        }
      }
      if !text.isEmpty { parts.append(.text(text)) }
      return parts
    }

    private mutating func field() throws(LibraryError) -> Part {
      guard let end = rest.firstIndex(of: "}") else { throw failure("the { has no }; write {{ for the character.") }
      var inside = rest[rest.index(after: rest.startIndex)..<end]
      guard !inside.contains("{") else { throw failure("braces cannot be nested.") }
      let name = inside.prefix { $0 != "?" && $0 != "|" }
      inside = inside.dropFirst(name.count)
      guard let field = Field(rawValue: String(name)) else {
        let names = Field.allCases.map(\.rawValue).joined(separator: ", ")
        throw failure("there is no field '\(name)'; the fields are \(names).")
      }
      var filled: String?
      if inside.first == "?" {
        filled = String(inside.dropFirst().prefix { $0 != "|" })
        inside = inside.drop { $0 != "|" }
      }
      let otherwise = inside.first == "|" ? String(inside.dropFirst()) : nil
      rest = rest[rest.index(after: end)...]
      return .field(field, filled: filled, otherwise: otherwise)
    }
  }
}

extension ExportTemplate.Part {
  fileprivate var field: ExportTemplate.Field? {
    if case .field(let field, _, _) = self { field } else { nil }
  }

  fileprivate var texts: [String] {
    switch self {
    case .text(let text): [text]
    case .field(_, let filled, let otherwise): [filled, otherwise].compactMap { $0 }
    }
  }
}
