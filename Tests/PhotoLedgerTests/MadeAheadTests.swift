import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Pieces made ahead")
struct MadeAheadTests {
  private struct Failure: Error, Equatable { var number: Int }

  @Test("each piece is passed on once, in order, on the thread that asked", arguments: [0, 1, 7, 8, 9, 500])
  func order(count: Int) throws {
    var used: [Int] = []
    let own = Thread.current
    try MadeAhead.run { give in
      for number in 0..<count { #expect(give(number), "No stop was asked for.") }
    } _: { (number: Int) in
      #expect(Thread.current === own)
      used.append(number)
      return true
    }
    #expect(used == Array(0..<count))
  }

  @Test("no more are made than can wait, while one is being used")
  func bounded() throws {
    let made = Atomic(0)
    var used = 0
    try MadeAhead.run { give in
      for number in 0..<100 {
        made.add(1, ordering: .relaxed)
        guard give(number) else { return }
      }
    } _: { (_: Int) in
      used += 1
      // Those that were used, those that wait, and the one in the maker's hand.
      #expect(made.load(ordering: .relaxed) <= used + MadeAhead.most + 1)
      return true
    }
    #expect(used == 100)
  }

  @Test(
    "a consumer that stops, or throws, gets no further piece, and the maker has ended by then", arguments: [0, 3, 40])
  func stops(last: Int) throws {
    for isThrowing in [false, true] {
      let hasEnded = Atomic(false)
      var used = 0
      let run = {
        try MadeAhead.run { give in
          defer { hasEnded.store(true, ordering: .sequentiallyConsistent) }
          var number = 0
          while give(number) { number += 1 }
        } _: { (number: Int) in
          used += 1
          if number == last, isThrowing { throw Failure(number: number) }
          return number < last
        }
      }
      if isThrowing { #expect(throws: Failure(number: last)) { try run() } } else { try run() }
      #expect(used == last + 1 && hasEnded.load(ordering: .sequentiallyConsistent))
    }
  }

  @Test("an error of the maker comes after the pieces before it")
  func failure() throws {
    var used = 0
    #expect(throws: Failure(number: 5)) {
      try MadeAhead.run { give in
        for number in 0..<5 { _ = give(number) }
        throw Failure(number: 5)
      } _: { (_: Int) in
        used += 1
        return true
      }
    }
    #expect(used == 5)
  }

  @Test("where the system allows no further thread, nothing is made, and the caller says what happens then")
  func withoutThread() throws {
    // No stack of a PiB can be had.
    let stackSize = 1 << 50
    let error = #expect(throws: LibraryError.self) {
      try MadeAhead.run(stackSize: stackSize) { give in
        Issue.record("A piece is made.")
        _ = give(1)
      } _: { (_: Int) in
        true
      }
    }
    #expect(error?.code == .storage)
    var reasons: [LibraryError.Code] = []
    try MadeAhead.run(stackSize: stackSize) { give in
      Issue.record("A piece is made.")
      _ = give(1)
    } _: { (_: Int) in
      true
    } withoutThread: { reason in
      reasons.append(reason.code)
    }
    #expect(reasons == [.storage])
  }
}
