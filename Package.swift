// swift-tools-version: 6.1
//
// PhotoLedger: a photo library kept as a history. No package from outside; the one system library is LMDB
// (`apt-get install liblmdb-dev`). The arrows between the targets are drawn in Architecture.md of the
// PhotoLedger documentation catalog; what is absent there stays absent here.

import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Structures check themselves after every mutation in debug builds.
let checked: [SwiftSetting] = strict + [.define("INTERNAL_CHECKS", .when(configuration: .debug))]

let package = Package(
  name: "PhotoLedger",
  products: [
    .library(name: "PhotoLedger", targets: ["PhotoLedger"]),
    .executable(name: "photoledger", targets: ["photoledger"]),
  ],
  targets: [
    // System.
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .target(name: "CSystem"),

    // The store.
    .target(name: "LMDB", dependencies: ["CLMDB", "CSystem"], swiftSettings: strict),
    .target(name: "CountedTree", swiftSettings: checked),
    .target(name: "EventLog", dependencies: ["LMDB", "CSystem"], swiftSettings: checked),
    .target(
      name: "StoreMigrations", dependencies: ["EventLog", "LMDB"], path: "Migrations",
      exclude: ["Fixtures"], swiftSettings: strict),
    .target(
      name: "PhotoLedger", dependencies: ["EventLog", "CountedTree", "StoreMigrations", "LMDB"],
      swiftSettings: checked),

    // What is built on it.
    .target(name: "MediaImport", dependencies: ["PhotoLedger", "CSystem"], swiftSettings: strict),
    .executableTarget(
      name: "photoledger", dependencies: ["PhotoLedger", "MediaImport"], swiftSettings: strict),
    .executableTarget(
      name: "benchmarks", dependencies: ["PhotoLedger", "CountedTree"], path: "Benchmarks",
      exclude: ["README.md", "results.json"], swiftSettings: strict),

    // Proof.
    .target(name: "TestSupport", dependencies: ["PhotoLedger"], path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(name: "LMDBTests", dependencies: ["LMDB", "CSystem", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "CountedTreeTests", dependencies: ["CountedTree", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "EventLogTests", dependencies: ["EventLog", "LMDB", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "PhotoLedgerTests", dependencies: ["PhotoLedger", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "MediaImportTests", dependencies: ["MediaImport", "TestSupport"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
