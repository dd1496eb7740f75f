import Testing
import LMDB
import EventLog
@Test func smoke() throws {
  let path = "/tmp/log-smoke-\(UInt32.random(in: 0...(.max)))"
  let env = try Environment.open(path: path)
  let log = try EventLog(in: env)
  for n in 0..<20 {
    let c = try env.write { t in
      try log.append(CommitInformation(time: 5, client: "c", cause: "x", process: "p", key: "k\(n)"), [
        EventDraft(type: "a.b", version: 1, payload: [1,2,3], salt: Salt(1,2)),
        EventDraft(type: "a.c", version: 1, payload: [1,2,3,4], salt: Salt(1,2))], in: &t)
    }
    #expect(c.number == UInt64(n) + 1)
  }
  try env.read { t in
    let v = try log.verify(in: t)
    #expect(v.defect == nil)
    #expect(v.eventCount == 40)
    #expect(try log.commits(after: 3, limit: 2, in: t).map(\.number) == [4,5])
    #expect(try log.commit(forKey: "k7", in: t)?.number == 8)
    var n = 0
    try log.read(after: 3, in: t) { e in n += e.payload!.byteCount; return .proceed }
    #expect(n == 19*4+18*3)
  }
  let signal = try ChangeSignal(path: path + "/changes")
  signal.notify()
  #expect(signal.wait(milliseconds: 100) == .signalled)
  #expect(signal.wait(milliseconds: 1) == .timedOut)
  #expect(try log.waitForChange(after: 39, signal: signal, milliseconds: 10)?.sequence == 40)
}
