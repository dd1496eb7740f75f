#if Gallery
  import PhotoLedger

  // What clients want, in equal shares.
  //
  //     turns:   owner ─▶ app ─▶ share …            the client whose turn it is goes to the end
  //     lines:   owner  [ 7 2 9 ]                   of each client, the newest last
  //              app    [ 1 2 3 4 5 6 … ]
  //     jobs:    7 {owner}, 2 {owner, app}, …       each content once, with all that want it
  //
  // Work is taken from the end of the line of the client whose turn it is, so a client that wants thousands of pictures
  // does not delay one that wants a few by more than a turn. A content that several clients want is made once, at the
  // first of their turns. Where there is no room, the client that wants most loses its oldest, so each can count on an
  // equal part of the places; one that is alone has all of them. Of equals that is the one that has wanted as much for
  // longest.
  //
  // An operation takes constant time on average, and one step more for each client that wants the same content.
  //
  // Rejected: turns of single pictures in a batch of several clients (one that wants a single picture would wait for
  // the whole batch), and one place for a content that several want (a client could move what others want to its own
  // line).

  /// Elements in an order, each once; each operation takes constant time on average.
  struct OrderedLine<Element: Hashable> {
    private var places: [Element: Int] = [:]
    private var elements: [Int: Element] = [:]
    /// The place of the first; further ones may be empty.
    private var start = 0
    /// The place behind the last.
    private var end = 0

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }
    var first: Element? { elements[start] }
    var last: Element? { isEmpty ? nil : elements[end - 1] }

    func contains(_ element: Element) -> Bool { places[element] != nil }

    /// Puts an element at the end, wherever it was.
    mutating func append(_ element: Element) {
      remove(element)
      places[element] = end
      elements[end] = element
      end += 1
    }

    /// Puts an element at the start, wherever it was.
    mutating func prepend(_ element: Element) {
      remove(element)
      start -= 1
      places[element] = start
      elements[start] = element
    }

    mutating func remove(_ element: Element) {
      guard let place = places.removeValue(forKey: element) else { return }
      elements[place] = nil
      if isEmpty { (start, end) = (0, 0) }
      // Each place is passed once.
      while start < end, elements[start] == nil { start += 1 }
      while start < end, elements[end - 1] == nil { end -= 1 }
    }
  }

  /// Work that clients want.
  struct RenditionShares {
    /// Each content once, as it was wanted last, with all clients that want it.
    private var jobs: [RenditionJob.Name: RenditionJob] = [:]
    /// What each client wants, the newest last.
    private var lines: [ExactText: OrderedLine<RenditionJob.Name>] = [:]
    /// The clients with a line, the one whose turn it is first.
    private var turns = OrderedLine<ExactText>()
    /// The clients by how much they want, and the largest number.
    private var clientsByCount: [Int: OrderedLine<ExactText>] = [:]
    private var largestCount = 0
    /// The places that are taken: what two clients want takes two.
    private var placeCount = 0

    /// How many contents are wanted.
    var count: Int { jobs.count }
    var isEmpty: Bool { jobs.isEmpty }
    var names: [RenditionJob.Name] { Array(jobs.keys) }

    func contains(_ name: RenditionJob.Name) -> Bool { jobs[name] != nil }

    /// Adds a piece of work, as the newest of the clients that want it.
    /// - Parameter limit: how many places there are.
    /// - Returns: the work that had to leave, which no client wants any more.
    mutating func add(_ job: RenditionJob, _ limit: Int) -> [RenditionJob.Name] {
      let others = jobs[job.name]?.clients.subtracting(job.clients) ?? []
      jobs[job.name] = job
      jobs[job.name]?.clients.formUnion(others)
      for client in job.clients { change(client) { $0.append(job.name) } }
      var left: [RenditionJob.Name] = []
      while placeCount > limit, let client = clientsByCount[largestCount]?.first, let oldest = lines[client]?.first {
        change(client) { $0.remove(oldest) }
        jobs[oldest]?.clients.remove(client)
        guard jobs[oldest]?.clients.isEmpty == true else { continue }
        jobs[oldest] = nil
        left.append(oldest)
      }
      return left
    }

    /// Takes the newest work of the client whose turn it is: one film, or pictures.
    /// - Parameter most: how many pictures at most.
    mutating func take(atMost most: Int) -> [RenditionJob] {
      guard let client = turns.first else { return [] }
      turns.append(client)
      var taken: [RenditionJob] = []
      while taken.count < most, let name = lines[client]?.last, let job = jobs[name],
        taken.isEmpty || !name.isPlay && !taken[0].name.isPlay
      {
        jobs[name] = nil
        for other in job.clients { change(other) { $0.remove(name) } }
        taken.append(job)
      }
      return taken
    }

    /// Changes the line of a client, and what follows from how long it is.
    private mutating func change(_ client: ExactText, _ body: (inout OrderedLine<RenditionJob.Name>) -> Void) {
      let before = lines[client]?.count ?? 0
      body(&lines[client, default: OrderedLine()])
      let after = lines[client]?.count ?? 0
      if after == 0 {
        lines[client] = nil
        turns.remove(client)
      } else if before == 0 {
        turns.append(client)
      }
      guard after != before else { return }
      placeCount += after - before
      clientsByCount[before]?.remove(client)
      if clientsByCount[before]?.isEmpty == true { clientsByCount[before] = nil }
      if after > 0 { clientsByCount[after, default: OrderedLine()].append(client) }
      largestCount = max(largestCount, after)
      while largestCount > 0, clientsByCount[largestCount] == nil { largestCount -= 1 }
    }
  }
#endif
