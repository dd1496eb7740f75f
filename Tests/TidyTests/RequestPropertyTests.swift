import Testing

@testable import PhotoLedger

@Suite("The properties that requests set")
struct RequestPropertyTests {
  /// The names of the variables of a type of requests.
  private static func variables(of type: String) throws -> Set<Substring> {
    let path = "Sources/PhotoLedger/Writing/ChangeRequest.swift"
    let source = try #require(PackageFiles.product.first { $0.path == path })
    let begin = try #require(source.code.firstIndex { $0.hasPrefix("public struct \(type):") })
    let body = source.code[begin...].prefix { $0 != "}" }
    return Set(body.filter { $0.hasPrefix("  public var ") }.compactMap { $0.names(after: ["var"]).first })
  }

  @Test("a property that creations set is a variable of AssetCreation, and one that edits set is one of AssetChanges")
  func declared() throws {
    let (creation, changes) = (try Self.variables(of: "AssetCreation"), try Self.variables(of: "AssetChanges"))
    let (created, edited) = (
      AssetProperty.all.filter(\.setting.isAtCreation), AssetProperty.all.filter(\.setting.isByEdit)
    )
    #expect(created.count > 10 && edited.count > 10)
    #expect(created.map(\.name).filter { !creation.contains(Substring($0)) } == [])
    #expect(edited.map(\.name).filter { !changes.contains(Substring($0)) } == [])
  }
}
