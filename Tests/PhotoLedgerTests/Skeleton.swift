import Testing
@Test func skeleton() { }
