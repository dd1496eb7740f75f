import Testing
import LMDB
@Test func smoke() throws {
  let env = try Environment.open(path: "/tmp/lmdb-smoke-\(UInt32.random(in: 0...(.max)))")
  let db = try env.database("a")
  let n = try env.database("n", integerKeys: true)
  try env.write { t in
    try t.put([1,2], [3,4], in: db)
    try t.put([1,3], [3,5], in: db)
    try t.put(7, ([9] as [UInt8]).span.bytes, in: n, mode: .append)
    #expect(try t.bytes(for: [1,2], in: db) == [3,4])
  }
  let k: [UInt8] = [1]
  try env.read { t in
    #expect(try t.bytes(for: [1,3], in: db) == [3,5])
    #expect(try t.value(for: 7, in: n)!.byteCount == 1)
    var seen: [[UInt8]] = []
    try t.forEach(in: db, prefix: k.span.bytes, reverse: true) { k, v in seen.append(k.withUnsafeBytes { [UInt8]($0) }); return .proceed }
    #expect(seen == [[1,3],[1,2]])
    var c = try t.cursor(in: n)
    let hit = try c.seek(atOrBefore: 100)!.integerKey
    #expect(hit == 7)
  }
  print(try env.statistics(), try env.databaseNames())
}
