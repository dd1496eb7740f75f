#if Gallery
  import Foundation
  import PhotoLedger
  import Synchronization

  // What was chosen for archives is held for an hour, in memory (DownloadRoutes.swift).
  //
  // What is held is bounded, for each client and in all. A client that chooses more loses its own oldest. Where all
  // hold too much, the oldest of the client that holds most leaves; so one that holds little keeps it, whatever others
  // do. What has expired is dropped at the periodic wake-up (AccessWatch.swift).
  //
  // Rejected: a refusal where all hold too much, as for uploads: a few clients could keep all others from downloading
  // for an hour.

  /// The downloads that were asked for.
  final class Downloads: Sendable {
    private struct Download {
      let client: ExactText
      let assets: [String]
      let expires: Date
      /// Counts up.
      let number: UInt64
    }

    /// How much may be held, by one measure of a download.
    private struct Bound: Sendable {
      let ofClient: Int
      let ofAll: Int
      let size: @Sendable (Download) -> Int
    }

    private struct State {
      var held: [String: Download] = [:]
      var last: UInt64 = 0
    }

    static let assetLimit = 100_000
    /// How many downloads of a client are held, and of all.
    static let (limitOfClient, limit) = (20, 200)
    /// How many assets the downloads of a client name, and of all.
    static let (assetLimitOfClient, assetLimitOfAll) = (200_000, 1_000_000)
    private static let bounds = [
      Bound(ofClient: limitOfClient, ofAll: limit, size: { _ in 1 }),
      Bound(ofClient: assetLimitOfClient, ofAll: assetLimitOfAll, size: { $0.assets.count }),
    ]
    private static let seconds = 3600.0
    private let environment: GalleryEnvironment
    /// Guarded by its lock.
    private let state = Mutex(State())

    init(_ environment: GalleryEnvironment) { self.environment = environment }

    /// Holds a choice of at most ``assetLimit`` assets.
    /// - Returns: its name.
    func add(_ assets: [String], for client: String) -> String {
      let name = Keyring.spelled(environment.randomBytes(18))
      let now = environment.now()
      state.withLock { state in
        state.last += 1
        state.held = state.held.filter { $0.value.expires > now }
        state.held[name] = Download(
          client: client.exact, assets: assets, expires: now.addingTimeInterval(Self.seconds), number: state.last)
        for bound in Self.bounds { Self.trim(&state.held, to: bound, keeping: name) }
      }
      return name
    }

    /// Lets downloads go until what is held keeps within a bound: those of the client that has just chosen, if it holds
    /// too much, and else those of the client that holds most; of a client the oldest first.
    private static func trim(_ held: inout [String: Download], to bound: Bound, keeping name: String) {
      guard let client = held[name]?.client else { return }
      while true {
        var sizes: [ExactText: Int] = [:]
        for download in held.values { sizes[download.client, default: 0] += bound.size(download) }
        let isOwnTooMuch = sizes[client, default: 0] > bound.ofClient
        guard isOwnTooMuch || sizes.values.reduce(0, +) > bound.ofAll else { return }
        let leaving = held.filter { $0.key != name && (!isOwnTooMuch || $0.value.client == client) }.min { one, other in
          let (most, more) = (sizes[one.value.client, default: 0], sizes[other.value.client, default: 0])
          return most == more ? one.value.number < other.value.number : most > more
        }
        guard let leaving else { return }
        held[leaving.key] = nil
      }
    }

    /// Drops the choices that have expired.
    func sweep() {
      let now = environment.now()
      state.withLock { state in state.held = state.held.filter { $0.value.expires > now } }
    }

    /// How many choices are held.
    var count: Int { state.withLock { $0.held.count } }

    /// A choice; nil if there is none of that name for the client.
    func assets(_ name: String, for client: String) -> [String]? {
      let now = environment.now()
      return state.withLock { state in
        guard let download = state.held[name], download.client == client.exact, download.expires > now else {
          return nil
        }
        return download.assets
      }
    }
  }
#endif
