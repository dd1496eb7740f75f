#if Gallery
  import Foundation
  import HTTPServing
  import JSONReading

  // What the fields of a head, and a path, say by themselves. It is worked out once for the many requests that bring
  // the same ones (KnownHeads.swift), so nothing here depends on the library, on the keys there are, or on time.

  /// What the fields of a head say; of one that has too many marks, only that.
  final class KnownFields: Sendable {
    /// Whether no character has too many combining marks.
    let isBounded: Bool
    /// Whether they are so short that a head may come again with the same ones.
    let isShort: Bool
    /// Whether all of a content is asked for, by a client that has nothing of it.
    let wantsWhole: Bool
    /// The hash of a bearer token.
    let bearer: String?
    /// The hash of what `X-API-Key` holds.
    let apiKey: String?
    /// The hash of the secret in the cookie.
    let cookie: String?

    fileprivate init(_ fields: HTTPFields) {
      (isBounded, isShort) = (fields.isBounded, fields.isShort)
      // Names of cookies are hashed.
      guard isBounded else {
        (wantsWhole, bearer, apiKey, cookie) = (false, nil, nil, nil)
        return
      }
      wantsWhole = !fields.pairs.contains { $0.name == "range" || $0.name == "if-none-match" }
      bearer = fields["authorization"].flatMap { field in
        // The name of a scheme has no case (RFC 9110, 11.1); the 32 makes capitals small.
        let scheme = field.utf8.prefix { $0 != 0x20 }
        guard scheme.elementsEqual("bearer".utf8, by: { $0 | 32 == $1 }) else { return nil }
        return Keyring.hash(field.utf8.dropFirst(scheme.count + 1))
      }
      apiKey = fields["x-api-key"].map { Keyring.hash($0) }
      cookie = fields.cookies[Keyring.cookie].map { Keyring.hash($0) }
    }
  }

  /// What a path says.
  final class KnownTarget: Sendable {
    /// Whether no character has too many combining marks.
    let isBounded: Bool
    fileprivate init(_ target: HTTPTarget) {
      isBounded = target.segments.allSatisfy(\.isBoundedInMarks) && target.query.isBounded
    }
  }

  extension HTTPRequest {
    /// What its fields say by themselves.
    var knownFields: KnownFields { fields.noted { KnownFields(fields) } }

    /// What its target says by itself.
    var knownTarget: KnownTarget { target.noted { KnownTarget(target) } }
  }

  extension HTTPFields {
    fileprivate var isBounded: Bool { pairs.allSatisfy { $0.name.isBoundedInMarks && $0.value.isBoundedInMarks } }
  }
#endif
