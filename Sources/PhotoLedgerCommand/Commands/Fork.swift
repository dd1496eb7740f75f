import Foundation
import JSONReading
import LibraryJSON
import LibraryMaintenance
import PhotoLedger

extension Command {
  static let fork = Command(
    words: ["fork"], summary: "create a second library that shares the files, for experiments",
    operands: [Operand("DIR", "the directory of the fork; must not exist")], options: .opening + [.json],
    notes: """
      Changes in the fork never touch the first library. Run any command there with --library DIR, and print its
      effect with `compare`. Delete the directory afterwards. Missing and damaged files are named, but do not change
      the exit status.
      """,
    example: "fork ~/Pictures/rehearsal", places: { $0.libraryPaths + $0.operands }
  ) { invocation in
    let interruption = Interruption()
    let url = try invocation.directory(invocation.operands[0], "DIR")
    return try invocation.withLibrary { library in
      let report = try invocation.showingProgress(interruption) { progress in
        try library.fork(to: url, progress: progress)
      }
      if invocation.printsJSON {
        try invocation.output.line(JSON(report))
      } else {
        let files = TextLayout.counted(report.resources.fileCount, "file")
        try invocation.output.line(
          "\(TextLayout.printable(report.url.path)) has everything up to \(report.commonToken), and \(files), "
            + "\(TextLayout.grouped(report.resources.linkedCount)) of them linked.")
        try invocation.printLacking(report.resources)
      }
      return .done
    }
  }
}

extension JSON {
  fileprivate init(_ report: ForkReport) {
    self = .object(
      [
        Member("directory", .text(report.url.path)), Member("commonToken", .text(report.commonToken.description)),
        Member("token", .text(report.token.description)),
      ] + Self.members(report.resources))
  }
}
