#if Gallery
  import Testing

  @testable import PhotoLedgerCommand

  @Suite("Addresses of trusted proxies")
  struct TrustedProxyTests {
    @Test(
      "an address is kept as the system spells a peer's, however it was typed",
      arguments: [
        ("127.0.0.1", "127.0.0.1"), ("::ffff:10.0.0.2", "10.0.0.2"), ("0:0:0:0:0:0:0:1", "::1"), ("FD00::2", "fd00::2"),
        ("localhost", nil), ("10.0.0.1/8", nil), ("", nil),
      ])
    func spelled(_ address: String, _ spelled: String?) { #expect(Invocation.spelled(address) == spelled) }
  }
#endif
