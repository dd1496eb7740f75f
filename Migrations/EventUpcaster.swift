public import EventLog

// Old events, read as though they had been written today.
//
//     record ──▶ type, version, payload ──▶ version of now? ──yes──▶ the domain's reader
//                                               │ no
//                                               └──▶ step ──▶ step ──▶ … ──▶ version of now ──▶ the same reader
//
// Events are never rewritten: the chain covers their bytes. So a change of a payload's format is a step from one
// version to the next, from CBOR values to CBOR values, with no type of the domain in it: frozen the day it is
// published. Every reader of the log (the observers, a rebuild, as-of views, the audit, an export) goes through
// the domain's one reader, and that asks here whenever a version is not the one of now.
//
// Version 1 was written in two forms. The libraries of 20 November 2026 hold the files of an asset in another
// shape than those of two days later, under the same number (FirstForm.swift); what the reader of version 1 rejects is
// looked at once more for that shape. Other fields were added under that number, too (clients, words, edits of
// content); each has a default where it is absent, so what was written before is read as it was meant. Since then a
// change of a payload raises the version of its type. Versions 2, 3 and 4 each add a field, and the domain's reader
// reads all of them, so no step was needed.

/// Why an event cannot be upcast to the current version.
public struct EventUpcastError: Error, Sendable, Hashable {
  /// A clause without its full stop.
  public let reason: String

  /// An error with a clause.
  public init(_ reason: String) { self.reason = reason }
}

/// An event as the log holds it, apart from its place: what a step turns into that of the next version.
public struct VersionedEvent: Sendable, Hashable {
  /// The type.
  public var type: String
  /// The version of the payload's format.
  public var version: UInt32
  /// The payload.
  public var payload: CBOR

  /// An event with these parts.
  public init(type: String, version: UInt32, payload: CBOR) {
    (self.type, self.version, self.payload) = (type, version, payload)
  }
}

/// The steps between versions of events.
public struct EventUpcaster: Sendable {
  /// A step from one version of one type to the next.
  public struct Step: Sendable {
    /// The type that the step is about.
    public let type: String
    /// The version that it begins with.
    public let from: UInt32
    /// What the step makes: the next version of the event, under the same type or the one that took its place.
    public let upcast: @Sendable (CBOR) throws(EventUpcastError) -> (type: String, payload: CBOR)

    /// A step with these parts.
    public init(
      type: String, from: UInt32,
      upcast: @escaping @Sendable (CBOR) throws(EventUpcastError) -> (type: String, payload: CBOR)
    ) {
      (self.type, self.from, self.upcast) = (type, from, upcast)
    }
  }

  /// An earlier form of a version, which is recognised by its shape alone.
  public struct Reshaping: Sendable {
    /// The type that it is about.
    public let type: String
    /// The version that it goes under.
    public let version: UInt32
    /// Gives the payload in the form of the version; nil if it is not of the earlier one.
    public let reshape: @Sendable (CBOR) -> CBOR?

    /// A form with these parts.
    public init(type: String, version: UInt32, reshape: @escaping @Sendable (CBOR) -> CBOR?) {
      (self.type, self.version, self.reshape) = (type, version, reshape)
    }
  }

  /// What was published, each part frozen: no step so far, and the first form of version 1.
  public static let published = EventUpcaster(steps: [], forms: FirstForm.reshapings)

  private struct Place: Hashable {
    var type: String
    var version: UInt32
  }

  private let steps: [Place: Step]
  private let forms: [Place: Reshaping]

  /// An upcaster of some steps and earlier forms, at most one of either for each version of a type.
  public init(steps: [Step], forms: [Reshaping] = []) {
    self.steps = Dictionary(uniqueKeysWithValues: steps.map { (Place(type: $0.type, version: $0.from), $0) })
    self.forms = Dictionary(uniqueKeysWithValues: forms.map { (Place(type: $0.type, version: $0.version), $0) })
  }

  /// The event in the form of its version; nil if it is not of an earlier one.
  /// - Complexity: O(payload).
  public func reshaped(_ event: VersionedEvent) -> VersionedEvent? {
    guard let form = forms[Place(type: event.type, version: event.version)] else { return nil }
    return form.reshape(event.payload).map { VersionedEvent(type: event.type, version: event.version, payload: $0) }
  }

  /// Brings an event up to a version, step by step.
  /// - Parameters:
  ///   - event: the event as it was written.
  ///   - version: the version that is wanted.
  /// - Throws: ``EventUpcastError`` if a step is missing, or rejects the payload.
  /// - Complexity: O(v) steps for v versions.
  public func upcast(_ event: VersionedEvent, to version: UInt32) throws(EventUpcastError) -> VersionedEvent {
    var event = event
    while event.version < version {
      guard let step = steps[Place(type: event.type, version: event.version)] else {
        throw EventUpcastError("no step leads from version \(event.version) of the type \(event.type) to \(version)")
      }
      let (type, payload) = try step.upcast(event.payload)
      event = VersionedEvent(type: type, version: event.version + 1, payload: payload)
    }
    return event
  }
}
