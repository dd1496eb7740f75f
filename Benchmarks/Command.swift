import Foundation

/// The command line: what to run, at which sizes, and where the figures go.
struct Command {
  var filters: [String] = []
  var sizes = [1_000, 10_000, 100_000, 1_000_000]
  var repetitions = 31
  var json: String?
  var plots: String?
  var leavesPeersOut = false
  /// Folders with photos of real cameras.
  var photos: [String] = []
  /// Whether the run may be of code that is in no commit.
  var isDevelopment = false

  static let help = """
    usage: benchmarks [--filter TEXT]… [--size N[,N…]] [--repetitions R] [--json FILE] [--plots FOLDER]
                      [--photos FOLDER]… [--without-peers] [--development] [--help]

      --filter TEXT      only rows whose name contains TEXT, such as 'k1 ', 'structure', 'permission', 'S9' or 'ugly';
                         several times for rows of several kinds
      --size N[,N…]      lengths of the list; default 1000,10000,100000,1000000
      --repetitions R    measurements of each row; default 31, fewer where one takes long
      --json FILE        also writes every row as JSON
      --plots FOLDER     also draws rows over the length of the list and over the number of edits, as SVG
      --photos FOLDER    also imports photos of real cameras, which the program does not bring; may be repeated
      --without-peers    leaves other stores out where they were built in: most of the time of a large size
      --development      runs although sources were changed since the last commit or since the build, and marks the
                         result, so that its figures are kept nowhere; without it such a run is refused

    Every answer is checked, change details by a full walk of the list before and after; a wrong one ends the run with
    status 1. A missed goal is marked, and does not.

    \(peers)
    """

  /// How the rows of other stores are to be had.
  static var peers: String {
    #if PeerBenchmarks
      "The rows of SQLite are measured: the program was built with --traits PeerBenchmarks."
    #else
      """
      The rows of SQLite are left out. They need its headers and the trait:
        apt-get install libsqlite3-dev
        swift run -c release --traits PeerBenchmarks benchmarks
      """
    #endif
  }

  private static let options = ["--filter", "--json", "--plots", "--size", "--repetitions", "--photos"]

  /// A command line that cannot be obeyed.
  struct Misuse: Error { let sentence: String }

  init(_ arguments: some Sequence<String>) throws {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      if option == "--without-peers" || option == "--development" {
        if option == "--development" { isDevelopment = true } else { leavesPeersOut = true }
        continue
      }
      guard Self.options.contains(option) else { throw Misuse(sentence: "There is no option \(option).") }
      guard let value = rest.popFirst() else { throw Misuse(sentence: "\(option) needs a value.") }
      switch option {
      case "--filter": filters.append(value)
      case "--json": json = value
      case "--plots": plots = value
      case "--photos": photos.append(value)
      case "--size":
        sizes = try value.split(separator: ",", omittingEmptySubsequences: false).map { text in
          guard let size = Int(text), size >= 10 else {
            throw Misuse(sentence: "--size needs numbers from 10 up, such as 1000 or 100,1000; '\(text)' is none.")
          }
          return size
        }
      case "--repetitions":
        guard let number = Int(value), number > 0 else {
          throw Misuse(sentence: "--repetitions needs a number from 1 up.")
        }
        repetitions = number
      default: preconditionFailure("\(option) is among the options, and nothing takes its value.")
      }
    }
  }

  /// The program starts itself for what only a new process can tell: `--child TASK FOLDER [OBJECT]`, not for people.
  private static func runAsChild(_ arguments: [String]) throws -> Bool {
    guard arguments.first == "--child" else { return false }
    guard (3...4).contains(arguments.count), let task = ChildTask(rawValue: arguments[1]) else {
      throw Misuse(sentence: "There is no option --child; the program starts itself with it.")
    }
    try task.run(arguments[2], arguments.count == 4 ? arguments[3] : nil)
    return true
  }

  static func run(_ arguments: some Sequence<String>) {
    if arguments.contains("--help") { return print(help) }
    do {
      if try runAsChild(Array(arguments)) { return }
      let command = try Command(arguments)
      let source = try SourceState()
      try source.check(isDevelopment: command.isDevelopment)
      print(source.heading(isDevelopment: command.isDevelopment))
      var report = Report(filters: command.filters, repetitions: command.repetitions)
      (report.leavesPeersOut, report.photos) = (command.leavesPeersOut, command.photos)
      report.printHeader()
      for size in command.sizes {
        try ListChanges.measure(size: size, into: &report)
        try Structure.measure(size: size, into: &report)
        try Permissions.measure(size: size, into: &report)
        try PhotosModule.measure(size: size, into: &report)
        try StoreRows.measure(size: size, into: &report)
      }
      report.printGoals()
      print("\n\(peers)")
      if let json = command.json {
        try report.write(to: json, commit: source.commit, isDevelopment: command.isDevelopment)
      }
      if let plots = command.plots { try Plot.write(report.rows, to: plots) }
    } catch let misuse as Misuse {
      FileHandle.standardError.write(Data("\(misuse.sentence)\n\n\(help)\n".utf8))
      exit(2)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}
