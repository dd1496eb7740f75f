import Foundation
import PhotoLedger

// One job from its first request to its end, or to the end of the process; see UploadService.swift for the rules.
//
// Problem. What a server answered is known to the run alone, while the row can be removed, uploads can be disabled, the
// permission can be withdrawn, and the store can refuse a write. A run must neither lose an answer nor outlive its row.
//
//     row            what the run does
//     written        takes the next step
//     not writable   tries again after each pause: a server without the protocol would store a second copy
//     damaged        pauses once and ends; no pause mends it
//     gone           ends; `left` says what the server may have to discard
//
// Invariant: a step is taken only after the progress before it was recorded, and bytes are sent only while the client
// may read them: before each request, and at intervals during one.
//
// Rejected: ending the run at the first failed write. The driver would begin the job again from its older row.

/// Executes one job.
final class UploadRun {
  private enum Ending: Error {
    /// The row was removed, uploads were disabled, or the process ends: the job is not changed.
    case left
    case failed(UploadProblem)
  }

  private var job: UploadJob
  private let library: PhotoLibrary
  private let uploads: Uploads
  private let environment: UploadEnvironment
  private var reader: PortionReader?
  /// The transfer as it was left; of a finished one nothing is withdrawn. Nil before it began, and after an end was
  /// recorded that is not the transfer's own, as where the file is gone.
  private var left: UploadTransfer?

  init(_ job: UploadJob, _ library: PhotoLibrary, _ uploads: Uploads) {
    (self.job, self.library, self.uploads) = (job, library, uploads)
    environment = uploads.environment
  }

  func execute() async {
    do {
      let now = environment.now().microseconds
      guard try change({ try $0.apply(.begin, at: now) }) else { return }
      left = UploadTransfer(job)
      try await transfer()
    } catch Ending.failed(let problem) {
      await end(.fail(problem, [:]))
    } catch Ending.left {
      // The row says how to go on.
    } catch {
      // The row cannot be read or written; the driver begins the job again, after a pause.
      _ = await paused(environment.limits.pauses.upperBound)
    }
  }

  private func transfer() async throws {
    let (resource, asset) = try source()
    if job.kind == .downloadOnly { return try await verify(resource, asset) }
    var transfer = UploadTransfer(job, limits: environment.limits)
    // Also where it is finished: of the transfer as it began, a finished upload would be withdrawn.
    defer { left = transfer }
    var step = transfer.handle(.begin, at: environment.now(), jitter: jitter())
    while true {
      let progress = transfer.progress
      if progress != job.progress {
        let isKept = await record {
          $0.progress = progress
          return true
        }
        guard isKept else { return }
      }
      switch step {
      case .succeed(let headers): return await end(.succeed(Self.bounded(headers)))
      case .fail(let problem, let headers): return await end(.fail(problem, Self.bounded(headers)))
      case .wait(let seconds):
        guard await paused(seconds) else { return }
        step = transfer.handle(.waited, at: environment.now(), jitter: jitter())
      case .send(let call):
        let before = environment.now()
        guard try await mayGoOn() else { return }
        transfer.postponeDeadline(by: environment.now().timeIntervalSince(before))
        _ = try source()
        let outcome = try await send(call)
        guard !Task.isCancelled else {
          transfer.note(outcome.informed)
          return
        }
        let input: UploadTransfer.Input =
          switch outcome.result {
          case .success(let answer): .answered(answer, informed: outcome.informed)
          case .failure(let problem): .disconnected(problem, informed: outcome.informed)
          }
        step = transfer.handle(input, at: environment.now(), jitter: jitter())
      }
    }
  }

  private func jitter() -> Double { Double(environment.random() >> 11) / Double(1 << 53) }

  private func paused(_ seconds: Double) async -> Bool {
    do { try await environment.pause(seconds) } catch { return false }
    return !Task.isCancelled
  }

  // MARK: The row

  /// Changes the job's row; false if it was removed or uploads are disabled, so that the run ends.
  private func change(_ body: (inout UploadJob) throws -> Bool) throws -> Bool {
    let number = job.number
    let changed = try uploads.jobs.change(library.client) { book -> UploadJob? in
      guard book.client.settings != nil, var row = book.jobs[number], row.allows(.process) else { return nil }
      guard try body(&row) else { return nil }
      book.jobs[number] = row
      return row
    }
    guard let changed else { return false }
    job = changed
    return true
  }

  /// Changes the job's row as ``change(_:)`` does, again after each pause while it cannot be written; not if it is
  /// damaged, which no pause mends.
  ///
  /// What a server answered is known here only: a run that ended without recording it would send everything again to a
  /// server without the protocol, which stores it a second time.
  private func record(_ body: (inout UploadJob) throws -> Bool) async -> Bool {
    while true {
      do { return try change(body) } catch {
        let code = (error as? LibraryError)?.code
        if code == .closed || code == .changeNotSupported { return false }
        // After damage too, or a driver that can still read would send everything again at once.
        let isOver = await !paused(environment.limits.pauses.upperBound)
        if isOver || code == .corrupted { return false }
      }
    }
  }

  private func end(_ input: UploadJob.Input) async {
    // Without effect where the row was removed or uploads are disabled, as when the process ends.
    if await record({ try $0.apply(input) }) { left = nil }
  }

  /// Waits while the network is expensive and the client does not want that.
  private func mayGoOn() async throws -> Bool {
    while true {
      let book = try uploads.jobs.book(of: library.client)
      guard let settings = book.client.settings, book.jobs[job.number] != nil, !Task.isCancelled else { return false }
      if !settings.preventsExpensiveNetworkAccess || !uploads.isExpensive { return true }
      guard await paused(environment.limits.pauses.lowerBound) else { return false }
    }
  }

  /// Makes the server discard the data of a cancelled job; a suspended one keeps it.
  ///
  /// It is called when the service no longer counts the job among those that run: a job that is cancelled later has its
  /// data discarded by ``Uploads/withdraw(_:of:)``.
  /// - Parameter cancelled: the job as it was cancelled while it ran, perhaps before its transfer began.
  func withdraw(_ cancelled: UploadJob?) async {
    if let cancelled { return await uploads.discard(left ?? UploadTransfer(cancelled)) }
    // Another process may have cancelled it. Where the row cannot be read, nothing says so.
    guard let left, let book = try? uploads.jobs.book(of: library.client), book.jobs[job.number] == nil else { return }
    await uploads.discard(left)
  }

  // MARK: The bytes

  /// The file of the job as the client may read it now.
  private func source() throws -> (AssetResource, Asset) {
    do {
      if let found = try library.resource(of: job) { return found }
    } catch { throw Ending.failed(Self.problem(error)) }
    throw Ending.failed(
      UploadProblem(
        UploadProblem.noPermissionsToReadFile,
        "The file of asset \(job.asset) is gone, or the client '\(library.client)' lost its access."))
  }

  private func verify(_ resource: AssetResource, _ asset: Asset) async throws {
    do {
      switch try await library.state(of: resource, in: asset, hashing: true) {
      case .present: await end(.succeed([:]))
      case .missing: throw Ending.failed(UploadProblem(UploadProblem.fileDoesNotExist, "The file is missing."))
      case .altered: throw Ending.failed(UploadProblem(UploadProblem.cannotDecodeRawData, "The file was altered."))
      }
    } catch let error as LibraryError { throw Ending.failed(Self.problem(error)) }
  }

  private func send(_ call: UploadCall) async throws -> UploadOutcome {
    guard let transport = uploads.transport else { throw Ending.left }
    switch call.body {
    case .none: return await transport.send(call, .none)
    case .portion(let range): return await guarded(transport, call, .bytes(try await bytes(range)))
    case .whole where job.size <= environment.limits.portion:
      return await guarded(transport, call, .bytes(try await bytes(0..<job.size)))
    case .whole:
      // Before the outcome is recorded, which may need the room.
      defer { uploads.jobs.removeCopy(for: job) }
      return await guarded(transport, call, .file(try await copy()))
    }
  }

  /// Sends bytes while the client may read them: a permission that is withdrawn meanwhile cuts the request.
  private func guarded(
    _ transport: any UploadTransport, _ call: UploadCall, _ body: UploadBody
  ) async -> UploadOutcome {
    let (library, job, environment) = (library, job, environment)
    return await withTaskGroup(of: UploadOutcome?.self) { group in
      group.addTask { await transport.send(call, body) }
      group.addTask {
        // Ends when the permission does, or is cancelled by the end of the request. Errors are met by the next step.
        repeat {
          do { try await environment.pause(environment.limits.permissionCheck) } catch { return nil }
        } while ((try? library.resource(of: job) != nil) ?? true) && !Task.isCancelled
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      if let first { return first }
      return await group.next().flatMap { $0 }
        ?? UploadOutcome(.failure(UploadProblem(UploadProblem.noPermissionsToReadFile, "The permission was withdrawn")))
    }
  }

  private func bytes(_ range: Range<UInt64>) async throws -> Data {
    let (resource, asset) = try source()
    do {
      if reader?.position != range.lowerBound {
        reader = PortionReader(library.data(of: resource, in: asset), size: job.size)
      }
      guard let reader else { preconditionFailure("The reader was just created.") }
      return try await reader.read(range)
    } catch let error as LibraryError {
      reader = nil
      if Task.isCancelled { throw Ending.left }
      throw Ending.failed(Self.problem(error))
    }
  }

  /// A proved copy, since all goes in one request and nothing can be held back from it.
  private func copy() async throws -> URL {
    let (resource, asset) = try source()
    let file = uploads.jobs.copy(for: job)
    do {
      try await library.write(resource, in: asset, to: file, replacing: true)
      return file
    } catch let error as LibraryError {
      if Task.isCancelled { throw Ending.left }
      throw Ending.failed(Self.problem(error))
    }
  }

  /// A failure to read as Foundation numbers it.
  private static func problem(_ error: any Error) -> UploadProblem {
    let error = LibraryError(error)
    let code =
      switch error.code {
      case .missingResource: UploadProblem.fileDoesNotExist
      case .invalidResource, .resourceChanged: UploadProblem.cannotDecodeRawData
      case .identifierNotFound, .accessUserDenied, .accessRestricted: UploadProblem.noPermissionsToReadFile
      default: -3000
      }
    return UploadProblem(code, error.description)
  }

  /// A server's fields up to 64 KiB: a job keeps them until it is acknowledged.
  private static func bounded(_ headers: [String: String]) -> [String: String] {
    var room = 64 << 10
    return headers.sorted { $0.key < $1.key }.reduce(into: [:]) { kept, field in
      room -= field.key.utf8.count + field.value.utf8.count
      if room >= 0 { kept[field.key] = field.value }
    }
  }
}

/// The bytes of a resource in consecutive portions; bytes before the first are read for the hash only.
///
/// The last portion is returned after the hash of the whole file was verified.
final class PortionReader {
  private var chunks: ResourceData.Iterator
  private let size: UInt64
  /// Bytes that were read and not given yet.
  private var rest = Data()
  /// The first byte that was not given yet.
  private(set) var position: UInt64 = 0

  init(_ data: ResourceData, size: UInt64) {
    chunks = data.makeAsyncIterator()
    self.size = size
  }

  /// - Complexity: O(bytes up to the end of the range); memory for the range and one chunk.
  func read(_ range: Range<UInt64>) async throws -> Data {
    precondition(
      range.lowerBound >= position && range.upperBound <= size, "A reader only moves forward within its file.")
    while position < range.lowerBound {
      if rest.isEmpty { rest = try await next() }
      let count = min(UInt64(rest.count), range.lowerBound - position)
      rest = Data(rest.dropFirst(Int(count)))
      position += count
    }
    var portion = Data()
    portion.reserveCapacity(range.count)
    while UInt64(portion.count) < UInt64(range.count) {
      if rest.isEmpty { rest = try await next() }
      let count = min(rest.count, range.count - portion.count)
      portion.append(rest.prefix(count))
      rest = Data(rest.dropFirst(count))
    }
    position = range.upperBound
    if position == size, try await chunks.next() != nil {
      throw LibraryError(.invalidResource, "A file has more bytes than the recorded \(size); run `verify`.")
    }
    return portion
  }

  private func next() async throws -> Data {
    guard let chunk = try await chunks.next() else {
      throw LibraryError(.invalidResource, "A file has fewer bytes than the recorded \(size); run `verify`.")
    }
    return chunk
  }
}
