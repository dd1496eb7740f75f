#if Gallery
  import Foundation
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  /// The sections whose counts the messages of a feed report.
  struct SectionChoice: Sendable {
    let granularity: SectionGranularity
    let zone: TimeZone

    init(_ unit: String, zone name: String?, named parameter: String) throws {
      guard let granularity = SectionGranularity(rawValue: unit) else {
        throw Problem.malformed("'\(parameter)' is '\(unit.prefix(40))'; pass day, month or year.")
      }
      let name = name ?? "GMT"
      guard let zone = TimeZone(identifier: name) else {
        throw Problem.malformed("'timeZone' is '\(name.prefix(40))'; pass a name such as Europe/Berlin.")
      }
      (self.granularity, self.zone) = (granularity, zone)
    }

    /// The choice in the characters of a tag.
    var tag: String {
      let zone = zone.identifier.map { $0.isASCII && ($0.isLetter || $0.isNumber || "+-/_:".contains($0)) ? $0 : "." }
      return "\(granularity.rawValue)-\(String(zone))"
    }
  }

  /// The messages of feeds and polls.
  enum Message {
    /// How many inserted and changed objects a message holds; a client reads the others as windows.
    static let itemLimit = 500
    /// How many ranges, pairs and sections a message of a feed or a poll holds; a larger change is sent as a new state.
    static let rangeLimit = 10_000

    static func state(_ list: some FeedList, of fetch: FetchRequest) -> JSON {
      [
        "fetch": .text(fetch.name), "token": .text(list.token.description), "count": .integer(Int64(list.count)),
      ]
    }

    /// Why a fetch is not followed, or not any more.
    static func problem(_ problem: Problem, of fetch: FetchRequest) -> JSON {
      .object([JSON.Member("fetch", .text(fetch.name))] + problem.document)
    }

    /// Whether a change shows anything.
    static func isEmpty<Element>(_ details: ChangeDetails<Element>) -> Bool {
      let sets = [details.removedIndexes, details.insertedIndexes, details.changedIndexes]
      return details.hasIncrementalChanges && sets.allSatisfy { $0?.isEmpty ?? true } && details.moved.isEmpty
    }

    /// Whether a change has a bounded message.
    static func isSmall<Element>(_ details: ChangeDetails<Element>, limit: Int) -> Bool {
      guard details.hasIncrementalChanges else { return false }
      let sets = [details.removedIndexes, details.insertedIndexes, details.changedIndexes]
      return sets.reduce(details.moved.count) { $0 + ($1?.rangeView.count ?? 0) } <= limit
    }

    static func change<Element: FeedElement>(
      _ details: ChangeDetails<Element>, of fetch: FetchRequest, sections choice: SectionChoice?,
      _ renditions: RenditionColumns
    ) throws -> JSON {
      let after = details.fetchResultAfterChanges
      let inserted = details.insertedIndexes ?? []
      let changed = details.changedIndexes ?? []
      let touched = inserted.union(changed)
      let indexes = IndexSet(touched.prefix(itemLimit))
      return Self.change(
        of: fetch, from: details.fetchResultBeforeChanges.token, to: after, removed: details.removedIndexes ?? [],
        inserted: inserted, changed: changed, moved: details.moved.map { JSON([$0.before, $0.after]) },
        items: .object([
          .init("indexes", JSON(ranges: indexes)),
          try Element.items(try after.objects(at: indexes), renditions),
          .init("isComplete", .bool(touched.count <= itemLimit)),
        ]), sections: try choice.map { try Element.sections(details, $0) },
        cause: renditions.library.isOfVisitors ? nil : details.commits.last?.cause)
    }

    /// The one form of a step, of whatever list.
    /// - Parameters:
    ///   - items: the inserted and changed objects, as far as the message has them.
    ///   - sections: those whose count changed; nil if they were not asked for.
    static func change(
      of fetch: FetchRequest, from before: Token, to after: some FeedList, removed: IndexSet = [],
      inserted: IndexSet = [], changed: IndexSet = [], moved: [JSON] = [], items: JSON, sections: JSON?, cause: String?
    ) -> JSON {
      var members: [JSON.Member] = [
        .init("fetch", .text(fetch.name)), .init("before", .text(before.description)),
        .init("after", .text(after.token.description)), .init("count", .integer(Int64(after.count))),
        .init("removed", JSON(ranges: removed)), .init("inserted", JSON(ranges: inserted)),
        .init("changed", JSON(ranges: changed)), .init("moved", .list(moved)), .init("items", items),
      ]
      if let sections { members.append(.init("sections", sections)) }
      members.append(.init("cause", JSON(cause)))
      return .object(members)
    }
  }
#endif
