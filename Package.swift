// swift-tools-version: 6.2
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

/// Values that are borrowed from a transaction cannot outlive it.
let borrowed: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

/// The HTTP library, for builds with the server only.
let libmicrohttpd: Target.Dependency = .target(name: "CMicroHTTPD", condition: .when(traits: ["Gallery"]))

/// The C library's password hash, for builds with the server only.
let libcrypt: Target.Dependency = .target(name: "CCrypt", condition: .when(traits: ["Gallery"]))

/// The modules of tests that are built, as `PHOTOLEDGER_TESTS=LMDBTests,EventLogTests` names them; all without it. All
/// are linked into one program, so without a choice the tests of one module wait for the modules of all.
let chosenTests = Context.environment["PHOTOLEDGER_TESTS"].flatMap { names in
  names.isEmpty ? nil : names.split(separator: ",").map(String.init)
}

let package = Package(
  name: "PhotoLedger",
  products: [
    .library(name: "PhotoLedger", targets: ["PhotoLedger", "LibraryAudit", "LibraryPicking", "LibraryMaintenance"]),
    .library(name: "Photos", targets: ["Photos", "PhotosUI", "ExtensionFoundation"]),
    // Apple's names of modules for source that imports them. Apart from `Photos`: a package that asks
    // `canImport(AVFoundation)` finds them only where they are depended upon.
    .library(name: "PhotosStandIns", targets: ["AVFoundation", "CoreMedia", "UniformTypeIdentifiers"]),
    .executable(name: "photoledger", targets: ["PhotoLedgerCommand"]),
  ],
  traits: [
    .trait(
      name: "PeerBenchmarks",
      description: "Measures SQLite beside the library; needs its headers (`apt-get install libsqlite3-dev`)."),
    .trait(
      name: "Gallery",
      description: "Serves the library over HTTP; needs libmicrohttpd (`apt-get install libmicrohttpd-dev`)."),
  ],
  targets: [
    // System.
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .target(name: "CSystem"),

    // The store.
    .target(
      name: "LMDB", dependencies: ["CLMDB", "CSystem"],
      swiftSettings: strict + borrowed),
    .target(name: "CountedTree", swiftSettings: checked),
    .target(
      name: "EventLog", dependencies: ["LMDB", "CSystem"],
      swiftSettings: checked + borrowed),
    .target(
      name: "StoreMigrations", dependencies: ["EventLog", "LMDB"], path: "Migrations",
      exclude: ["Fixtures"], swiftSettings: strict),
    .target(
      name: "PhotoLedger", dependencies: ["EventLog", "CountedTree", "StoreMigrations", "LMDB", "CSystem"],
      swiftSettings: checked + borrowed),

    // JSON that comes from outside.
    .target(name: "JSONReading", dependencies: ["PhotoLedger"], swiftSettings: strict),

    // What extends the core's library.
    .target(
      name: "LibraryAudit", dependencies: ["PhotoLedger", "EventLog", "LMDB"], swiftSettings: strict + borrowed),
    .target(
      name: "LibraryPicking", dependencies: ["PhotoLedger", "EventLog", "LMDB"], swiftSettings: strict + borrowed),
    .target(
      name: "LibraryUploads", dependencies: ["PhotoLedger", "LMDB"], swiftSettings: strict + borrowed),
    .target(
      name: "LibraryMaintenance",
      dependencies: ["PhotoLedger", "JSONReading", "LibraryAudit", "EventLog", "StoreMigrations", "LMDB", "CSystem"],
      swiftSettings: checked + borrowed),

    // What is built on it.
    .target(name: "ExtensionFoundation", swiftSettings: strict),
    .target(
      name: "Photos",
      dependencies: [
        "PhotoLedger", "LibraryAudit", "LibraryPicking", "LibraryUploads", "MediaImport", "ExtensionFoundation",
      ],
      swiftSettings: strict),
    .target(name: "PhotosUI", dependencies: ["Photos", "PhotoLedger", "LibraryPicking"], swiftSettings: strict),
    .target(
      name: "AVFoundation", dependencies: ["Photos"], path: "Sources/StandIns/AVFoundation", swiftSettings: strict),
    .target(name: "CoreMedia", dependencies: ["Photos"], path: "Sources/StandIns/CoreMedia", swiftSettings: strict),
    .target(
      name: "UniformTypeIdentifiers", dependencies: ["Photos"], path: "Sources/StandIns/UniformTypeIdentifiers",
      swiftSettings: strict),
    .target(
      name: "MediaImport",
      dependencies: ["PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "CSystem"],
      swiftSettings: strict),
    .systemLibrary(
      name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CCrypt", providers: [.apt(["libcrypt-dev"])]),
    .target(
      name: "HTTPServing", dependencies: ["CSystem", libmicrohttpd],
      swiftSettings: strict),
    .target(
      name: "LibraryJSON", dependencies: ["PhotoLedger", "JSONReading", "LibraryAudit", "LibraryMaintenance"],
      swiftSettings: strict),
    .target(
      name: "GalleryServer",
      dependencies: [
        "PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "LibraryJSON",
        "MediaImport", "HTTPServing", "CSystem", libcrypt,
      ],
      resources: [
        .embedInCode("Service/openapi.json"), .embedInCode("ImmichClients/immich-clients.json"), .copy("Page"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "PhotoLedgerCommand",
      dependencies: [
        "PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "LibraryJSON",
        "MediaImport", "GalleryServer", "HTTPServing", "CSystem",
      ],
      swiftSettings: strict),
    .systemLibrary(
      name: "CSQLite", path: "Benchmarks/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "PhotoLedger", "LibraryAudit", "LibraryMaintenance", "CountedTree", "Photos", "EventLog", "LMDB", "CLMDB",
        "MediaImport", "BenchmarkSupport",
        // Built with it and not linked into it: the program that it starts for a first screen.
        "new-process",
        .target(name: "CSQLite", condition: .when(traits: ["PeerBenchmarks"])),
      ],
      path: "Benchmarks",
      exclude: [
        "README.md", "results.json", "results-2026-11-20.json", "results-2026-11-30.json", "plots", "CSQLite",
        "FloorServer", "Page", "NewProcess", "Support",
      ],
      swiftSettings: strict),
    // The core alone: what else is linked takes time until its first line.
    .executableTarget(
      name: "new-process", dependencies: ["PhotoLedger", "BenchmarkSupport"], path: "Benchmarks/NewProcess",
      swiftSettings: strict),
    .target(
      name: "BenchmarkSupport", dependencies: ["PhotoLedger"], path: "Benchmarks/Support", swiftSettings: strict),
    .executableTarget(
      name: "floor-server", dependencies: [libmicrohttpd], path: "Benchmarks/FloorServer",
      cSettings: [.define("GALLERY", .when(traits: ["Gallery"]))]),

    // Proof.
    .target(
      name: "TestSupport",
      dependencies: [
        "PhotoLedger", "LibraryAudit", "CountedTree", "EventLog", "StoreMigrations", "LMDB", "MediaImport",
      ],
      path: "Tests/TestSupport", swiftSettings: strict),
    // Depends on nothing: tests of the lowest modules wait for no higher one.
    .target(name: "StoreTestSupport", path: "Tests/StoreTestSupport", swiftSettings: strict),
    .testTarget(
      name: "LMDBTests", dependencies: ["LMDB", "CSystem", "StoreTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "CountedTreeTests", dependencies: ["CountedTree"], swiftSettings: strict),
    .testTarget(
      name: "EventLogTests", dependencies: ["EventLog", "LMDB"], exclude: ["Golden"],
      swiftSettings: strict),
    .testTarget(
      name: "PhotoLedgerTests",
      dependencies: ["PhotoLedger", "CountedTree", "EventLog", "StoreMigrations", "LMDB", "TestSupport"],
      swiftSettings: strict),
    .testTarget(name: "JSONReadingTests", dependencies: ["JSONReading"], swiftSettings: strict),
    .testTarget(
      name: "LibraryAuditTests",
      dependencies: ["LibraryAudit", "PhotoLedger", "EventLog", "LMDB", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LibraryPickingTests",
      dependencies: ["LibraryPicking", "PhotoLedger", "LibraryAudit", "LibraryMaintenance", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LibraryUploadsTests",
      dependencies: ["LibraryUploads", "PhotoLedger", "LibraryAudit", "LibraryMaintenance", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LibraryMaintenanceTests",
      dependencies: [
        "LibraryMaintenance", "PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "EventLog",
        "StoreMigrations", "LMDB", "StoreTestSupport", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LibraryJSONTests", dependencies: ["LibraryJSON", "JSONReading", "PhotoLedger", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "PhotoLedger", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "EventLog", "LMDB", "StoreTestSupport",
        "TestSupport",
        "PhotoLedgerCommand",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PhotosUITests",
      dependencies: [
        "PhotosUI", "Photos", "PhotoLedger", "LibraryPicking", "PhotoKitProgramsSwift5", "PhotoKitProgramsSwift6",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MediaImportTests",
      dependencies: [
        "MediaImport", "PhotoLedger", "JSONReading", "LibraryAudit", "LibraryPicking", "LibraryMaintenance",
        "StoreTestSupport", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "PhotoLedgerCommand", "GalleryServer", "LibraryMaintenance", "LibraryJSON", "JSONReading", "EventLog", "LMDB",
        "StoreTestSupport", "TestSupport",
      ],
      swiftSettings: strict),
    // Programs as iOS authors write them: the same files, compiled in both language modes without the package's rules.
    .target(
      name: "PhotoKitProgramsSwift6",
      dependencies: [
        "Photos", "PhotosUI", "ExtensionFoundation", "AVFoundation", "CoreMedia", "UniformTypeIdentifiers",
      ],
      path: "Tests/PhotoKitPrograms",
      // As Xcode's templates set it for new projects.
      swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility")]),
    .target(
      name: "PhotoKitProgramsSwift5",
      dependencies: [
        "Photos", "PhotosUI", "ExtensionFoundation", "AVFoundation", "CoreMedia", "UniformTypeIdentifiers",
      ],
      path: "Tests/PhotoKitProgramsSwift5",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "PhotosTests",
      dependencies: [
        "Photos", "PhotosUI", "PhotoLedger", "LibraryAudit", "LibraryUploads", "LibraryMaintenance",
        "PhotoKitProgramsSwift5", "PhotoKitProgramsSwift6", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "GalleryServerTests",
      dependencies: [
        "GalleryServer", "HTTPServing", "LibraryJSON", "JSONReading", "LibraryAudit", "LibraryPicking",
        "LibraryUploads", "LibraryMaintenance", "MediaImport", "PhotoLedger", "Photos", "StoreTestSupport",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "HTTPServingTests",
      dependencies: ["HTTPServing", "JSONReading", "PhotoLedger", "TestSupport", libmicrohttpd],
      swiftSettings: strict),
    .testTarget(
      name: "BenchmarkTests", dependencies: ["benchmarks", "PhotoLedger", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "TidyTests",
      dependencies: [
        "TestSupport", "PhotoLedger", "LibraryAudit", "LibraryPicking", "LibraryMaintenance", "Photos", "PhotosUI",
      ],
      exclude: ["PhotoKitNames.txt", "PublicSymbols"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

if let chosenTests {
  let known = package.targets.filter { $0.type == .test }.map(\.name)
  for name in chosenTests where !known.contains(name) {
    fatalError("PHOTOLEDGER_TESTS names '\(name)', which is none of \(known.joined(separator: ", ")).")
  }
  package.targets.removeAll { $0.type == .test && !chosenTests.contains($0.name) }
}
