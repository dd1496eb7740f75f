import Foundation
import TestSupport
import Testing

import PhotoLedger
@testable import MediaImport

/// Each tool here has done its part before its answer is read for the first time, as if this process had been stopped
/// meanwhile; the deadline has passed by then.
@Suite("deadlines of tools", .blocking)
struct ToolDeadlineTests {
  @Test("bytes that a child has written are read after the deadline", .timeLimit(.minutes(10)))
  func bytes() throws {
    let folder = try TemporaryFolder()
    let program = try ExifToolTests.standIn(folder, "printf ab; exec sleep 1000")
    let child = try ChildProcess(
      executable: program, arguments: [], memoryByteCount: 1 << 30, sandbox: Sandbox(layer: .none))
    var byte: [UInt8] = [0]
    let first = byte.withUnsafeMutableBytes { child.read(into: $0, before: SuspendingClock.now + .seconds(180)) }
    #expect(first == .bytes(1))
    let over = SuspendingClock.now.advanced(by: .seconds(-1))
    let second = byte.withUnsafeMutableBytes { child.read(into: $0, before: over) }
    #expect(second == .bytes(1) && byte == Array("b".utf8))
    let third = byte.withUnsafeMutableBytes { child.read(into: $0, before: over) }
    #expect(third == .timeout)
  }

  @Test("an answer of exiftool that has arrived is read after the deadline", .timeLimit(.minutes(10)))
  func exiftool() throws {
    let folder = try TemporaryFolder()
    let script = """
      while read -r l; do case $l in -execute*)
        printf '[{"File:MIMEType":"image/jpeg"}]\\n{ready%s}\\n' "${l#-execute}"; echo x > "$0.answered";; esac; done
      """
    let executable = try ExifToolTests.standIn(folder, script)
    let tool = try ExifTool(
      executable: executable, processCount: 1, limits: ExifToolTests.limits(0), sandbox: Sandbox(layer: .none))
    let path = try folder.write("x.jpg", Data("x".utf8))
    let tags = try tool.tags(
      of: path,
      isCancelled: {
        #expect(Self.becomes { access(executable + ".answered", F_OK) == 0 })
        return false
      })
    #expect(tags.text("MIMEType") == "image/jpeg")
  }

  @Test("a tool that hangs on a file is terminated, and the next file gets a new one", .timeLimit(.minutes(10)))
  func hangs() throws {
    let folder = try TemporaryFolder()
    let script = """
      while read -r line; do
        case $line in
          *hang*) sleep 1000 & echo $! > "$0.helper"; wait ;;
          -execute*)
            echo "[{\\"File:MIMEType\\":\\"image/jpeg\\",\\"File:FileType\\":\\"$$\\"}]"
            echo "{ready${line#-execute}}"
            echo x >> "$0.answers" ;;
        esac
      done
      """
    let executable = try ExifToolTests.standIn(folder, script)
    let tool = try ExifTool(
      executable: executable, processCount: 1, limits: ExifToolTests.limits(0), sandbox: Sandbox(layer: .none))
    let good = try folder.write("good.jpg", Data("x".utf8))
    func answer(_ count: Int) throws -> String? {
      let all = String(repeating: "x\n", count: count)
      let tags = try tool.tags(
        of: good,
        isCancelled: {
          #expect(Self.becomes { (try? String(contentsOfFile: executable + ".answers", encoding: .utf8)) == all })
          return false
        })
      return tags.text("FileType")
    }
    let first = try answer(1)
    #expect(try first != nil && answer(2) == first, "One process is kept.")
    var helper: pid_t = 0
    let error = #expect(throws: ImportError.self) {
      try tool.tags(
        of: try folder.write("hang.jpg", Data("x".utf8)),
        isCancelled: {
          helper = Self.process(in: executable + ".helper")
          return false
        })
    }
    #expect(error?.code == .toolTimeout)
    #expect(ExifToolTests.isGone(helper), "What it started is gone too.")
    let second = try answer(3)
    #expect(second != nil && second != first)
    #expect(ExifToolTests.isGone(pid_t(first ?? "") ?? 0), "The process that hung is gone.")
  }

  @Test(
    "the output of a program that has ended is read after the deadline, also while something else holds it open",
    .timeLimit(.minutes(10)), arguments: ["", "sleep 1000 & "])
  func output(holder: String) throws {
    let folder = try TemporaryFolder()
    let program = try ExifToolTests.standIn(folder, holder + "echo $$ > \"$0.pid\"; echo done")
    let run = ToolRun(
      limits: ToolLimits(timePerFile: .zero, memoryByteCount: 1 << 30),
      isCancelled: {
        let process = Self.process(in: program + ".pid")
        #expect(ExifToolTests.isGone(process))
        return false
      }, sandbox: Sandbox(layer: .none))
    #expect(try run.output(of: program, []) == "done\n")
  }

  /// The process whose number a file holds, or will hold.
  private static func process(in file: String) -> pid_t {
    var process: pid_t?
    _ = becomes {
      let text = try? String(contentsOfFile: file, encoding: .utf8)
      process = text.flatMap { $0.hasSuffix("\n") ? pid_t($0.dropLast()) : nil }
      return process != nil
    }
    return process ?? 0
  }

  /// Waits for a condition, in a place that cannot suspend. False when it does not come true.
  private static func becomes(_ condition: () -> Bool) -> Bool {
    let limit = ContinuousClock.now + .seconds(180)
    while ContinuousClock.now < limit {
      if condition() { return true }
      sched_yield()
    }
    return false
  }
}
