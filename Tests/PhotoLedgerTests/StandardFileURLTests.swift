import Foundation
import TestSupport
import Testing

@testable import PhotoLedger

@Suite("Standard URLs of files")
struct StandardFileURLTests {
  /// Paths, of which some are standard.
  private static let paths = [
    "/", "/a", "/home/ada/Photos", "/a.b/..c/.d/e..", "/...", "/a/.../b", "/~ada/x_y-z", "/A0", "/usr/bin", "/tmp",
    "", ".", "..", "~", "~/a", "a", "a/b", "./a", "../a", "a/..", "//", "///", "//a", "/a//b", "/a//", "/a///", "/./",
    "/.", "/..", "/a/.", "/a/./b", "/a/..", "/a/../b", "/a/../../b", "/tmp/..", "/tmp/../etc", "/nowhere/../etc",
    "/private", "/private/", "/private/tmp", "/private/etc", "/private/nowhere", "/private/usr", "/privateer/tmp",
    "/var/automount", "/var/automount/etc", "/private/var/automount/etc", "/var/automounted/etc", "/dev/null",
    "/with space", "/Ä/ü", "/A\u{308}", "/a%20b", "/50%", "/a?b", "/a#b", "/a;b", "/a:b", "/a@b", "/a+b,c=d&e",
    "/a(b)!*'$", "/[a]", "/a\\b", "/😀", "/a\u{301}", "/\u{301}a", "/a|b^c`d{e}\"<f>",
  ]

  /// URLs that are read from text.
  private static let texts = [
    "file:///", "file:///a", "file:///a/b/", "file:///a/b//", "file:////a", "file://localhost/a", "file://host/a/b",
    "file:/a/b", "file:/a/../b", "file:a", "file:", "FILE:///a", "File:///a/b", "file:///a?query", "file:///a#part",
    "file:///%61/b", "file:///a%2Fb", "file:///a%2fb", "file:///%2E%2E/a", "file:///a/%2e/b", "file:///a;b",
    "file:///a:b", "file:///private/tmp", "file:///private/tmp/", "file://user@host:1/a", "file://:1/a", "/a/b", "a/b",
    "http://example.org/a/b", "http://example.org/a/../b", "https:///a/b", "data:,a",
  ]

  @Test("a URL that is kept as it is equals what Foundation makes of it, as do all others")
  func sameAsFoundation() throws {
    let base = try #require(URL(string: "file:///base/folder/"))
    var urls: [URL] = []
    for path in Self.paths {
      for hint in [URL.DirectoryHint.isDirectory, .notDirectory, .inferFromPath, .checkFileSystem] {
        urls.append(URL(filePath: path, directoryHint: hint))
        urls.append(URL(filePath: path, directoryHint: hint, relativeTo: base))
      }
      urls.append(URL(fileURLWithPath: path))
      urls.append(URL(fileURLWithPath: "/a", isDirectory: true).appending(path: path))
      urls.append(URL(filePath: path).deletingLastPathComponent())
      urls.append(URL(filePath: path).absoluteURL)
    }
    urls += Self.texts.compactMap { URL(string: $0) } + Self.texts.compactMap { URL(string: $0, relativeTo: base) }
    for url in urls {
      let (own, known) = (url.standardFileURL, url.standardizedFileURL)
      #expect(own == known && own.path == known.path, "\(url.debugDescription)")
      #expect(own.absoluteString == known.absoluteString, "\(url.debugDescription)")
      #expect(own.hasDirectoryPath == known.hasDirectoryPath, "\(url.debugDescription)")
    }
  }

  @Test("a URL with a random path is standardized as Foundation does it")
  func randomPaths() {
    var random = SeededGenerator(seed: 46)
    let parts = ["/", "/", "a", "bc", ".", "..", "...", "~", "-", "private", "var", "automount", "etc", "%", " ", "ß"]
    for _ in 0..<2_000 {
      let path = "/" + (0..<random.int(0..<9)).map { _ in parts[random.int(0..<parts.count)] }.joined()
      let url = URL(filePath: path)
      #expect(url.standardFileURL == url.standardizedFileURL, "\(path)")
      #expect(url.standardFileURL.path == url.standardizedFileURL.path, "\(path)")
    }
  }

  @Test("the usual URLs of libraries are kept as they are, and others are left to Foundation")
  func usual() throws {
    for path in ["/a", "/home/ada/Photos", "/srv/photos-2.d/ada_lovelace/~", "/.hidden/..a/b../..."] {
      #expect(URL(filePath: path, directoryHint: .isDirectory).isStandardFileURL, "\(path)")
      #expect(URL(filePath: path, directoryHint: .notDirectory).isStandardFileURL, "\(path)")
    }
    let others = [
      "file:///", "file:////a", "file:///a//b", "file:///a//", "file:///./a", "file:///a/..", "file:///a/../b",
      "file:///a%20b", "file:///a?b", "file:///a#b", "file://host/a", "file:/a", "/a", "a",
      "file:///private/tmp", "file:///var/automount/etc",
    ]
    for text in others {
      let url = try #require(URL(string: text))
      #expect(!url.isStandardFileURL, "\(text)")
    }
    #expect(!URL(filePath: "a", relativeTo: URL(filePath: "/b")).isStandardFileURL)
  }
}
