/// Runs several operations in turn, so that the machine's moods meet all of them.
enum Turns {
  /// Times each operation so often, after one round that is not counted.
  static func measure(_ repetitions: Int, _ bodies: (() throws -> Void)...) throws -> [Sample] {
    try measure(repetitions, bodies)
  }

  static func measure(_ repetitions: Int, _ bodies: [() throws -> Void]) throws -> [Sample] {
    let stopwatch = Stopwatch()
    var times = [[Double]](repeating: [], count: bodies.count)
    for repetition in 0...repetitions {
      for (index, body) in bodies.enumerated() {
        let time = try stopwatch.time(body)
        if repetition > 0 { times[index].append(time) }
      }
    }
    return times.map { Sample($0) }
  }
}
