#if Gallery
  import Foundation
  @testable import GalleryServer
  import JSONReading
  import LibraryJSON
  import PhotoLedger
  import TestSupport
  import Testing

  // The description of change blocks, held against the one reader of operations (LibraryJSON/Applying).
  //
  //   field that is not there ──▶ reader: "…; the fields are op, assets, isFavorite, …"  ══  properties of the schema
  //   one required less ────────▶ reader: "'assets' is missing; …"                       ══  required
  //   one optional more ────────▶ reader: nothing to say about the field                 ══  its schema fits
  //   a field that is wrong ────▶ reader: "'assets' must be a list of identifiers, …"    ══  its schema does not
  //
  // The reader names its fields itself, so a field that is added to an operation and not to the description fails here.
  // The identifiers are those of no object: what is read is rejected afterwards, by the library, without a word about
  // fields. That the article's examples, which use every operation, are executed and fit is for BlockTests.

  @Suite("The description of change blocks")
  struct BlockDescriptionTests {
    private static let id = "00000000-0000-0000-0000-000000000001"
    private static let resource: JSON = ["type": "photo", "originalFilename": "a.jpg", "data": "/9j/AAAA"]
    private static let adjustmentData: JSON = ["formatIdentifier": "a", "formatVersion": "1", "data": "YQ=="]

    /// A value of each field, by its name; `token` is that of the library.
    private static let samples: Result<JSON, any Error> = Result { try JSONReader.read(Array(text.utf8)) }
    private static let text = """
      {"asset":"\(id)","assets":["\(id)"],"others":["\(id)"],"top":"\(id)","album":"\(id)","albums":["\(id)"],
      "folder":"\(id)","folders":["\(id)"],"collections":["\(id)"],"smartAlbum":"\(id)","smartAlbums":["\(id)"],
      "as":"$a","title":"Sea","index":0,"indexes":[0],"to":0,"expectedMembers":["\(id)"],"expectedNext":null,
      "where":"rating >= 4","sort":["creationDate:desc"],"includesHidden":true,"resources":[\(resource)],
      "adjustmentData":\(adjustmentData),"base":"rendered","isAutomatic":true,"retyping":{"video":"pairedVideo"},
      "mediaType":"image","mediaSubtypes":["photoHDR","bit5"],"playbackStyle":"livePhoto","pixelWidth":4,
      "pixelHeight":3,"duration":1.5,"creationDate":"2024-05-31T18:30:00.25+02:00",
      "localCreationDate":"2024-05-31T18:30:00","timeZoneOffset":7200,"dateShift":-3600,
      "location":{"latitude":54.5,"longitude":11,"altitude":null},"isFavorite":true,"isHidden":false,
      "sourceType":["cloudShared"],"burstIdentifier":"B","representsBurst":true,"burstSelectionTypes":["userPick"],
      "isLivePhotoVideoPlaybackEnabled":false,"playbackVariation":"mirror","originalResourceChoice":"raw",
      "isSelfPortrait":true,"rating":5,"caption":null,"keywords":["sea"],"addedKeywords":["sea"],
      "removedKeywords":["lake"],"origin":null,"client":"app","readWriteUsageDescription":"to look",
      "addOnlyUsageDescription":"to add","preventsAutomaticLimitedAccessAlert":true,"status":"limited",
      "level":"addOnly"}
      """

    /// An operation as it is described.
    private struct Described {
      let name: String
      let fields: Set<String>
      let required: Set<String>

      init(_ name: String, in contract: Contract) throws {
        let schema = try #require(contract.document["components"]?["schemas"]?[name], "\(name)")
        self.name = name
        fields = Set(try #require(schema["properties"]?.objectValue).map(\.key))
        required = Set(try #require(schema["required"]?.textsValue))
        #expect(required.isSubset(of: fields), "\(name)")
        #expect(schema["additionalProperties"] == .bool(false), "\(name)")
      }

      /// The operation with fields that the samples have a value of.
      func json(_ fields: some Sequence<String>, _ token: String, but wrong: String? = nil) throws -> JSON {
        var members = [JSON.Member("op", .text(name))]
        let samples = try BlockDescriptionTests.samples.get()
        for field in fields.sorted() where field != "op" {
          var value = samples[field]
          if field == "token" { value = .text(token) }
          // A place for all other operations that have it.
          if name == "asset.revertContent", field == "to" { value = "raw" }
          if field == wrong { value = ["wrong": true] }
          members.append(JSON.Member(field, try #require(value, "\(field)")))
        }
        return .object(members)
      }
    }

    private static func described() throws -> [Described] {
      let contract = try Contract.served.get()
      let all = contract.document["components"]?["schemas"]?["Operation"]?["oneOf"]?.listValue
      return try (try #require(all)).map { reference in
        let name = try #require(reference["$ref"]?.textValue?.split(separator: "/").last)
        return try Described(String(name), in: contract)
      }
    }

    /// What a block of one operation is answered with.
    private static func answer(_ change: JSON, _ gallery: TestGallery) throws -> (status: Int, detail: String) {
      let block: JSON = ["changes": .list([change])]
      let answer = try gallery.post("/v1/blocks", Array(block.description.utf8))
      guard answer.status != 200 else { return (200, "") }
      return (answer.status, try #require(try answer.json()["detail"] as? String))
    }

    /// The fields that the reader names after one that it does not know.
    private static func taken(_ detail: String) throws -> Set<String> {
      let sentence = #/'colour' is not a field of it; the fields are (.*)\.$/#
      let list = try #require(detail.firstMatch(of: sentence), "\(detail)").output.1
      return Set(list.split(separator: ", ").map { String($0) })
    }

    private static func fits(_ change: JSON) throws -> Bool {
      try Contract.served.get().breach(of: change, in: "Operation") == nil
    }

    @Test("each operation of the reader is described, and each described operation is one")
    func operations() throws {
      #expect(try Self.described().map(\.name).sorted() == Operation.all.map(\.name).sorted())
    }

    @Test("an operation is described with the fields that the reader takes, and with those that it requires")
    func fields() async throws {
      try await TestGallery.serving { gallery in
        let token = try gallery.library.currentToken.description
        for operation in try Self.described() {
          guard case .object(let members) = try operation.json(operation.required, token) else { continue }
          let strange = JSON.object(members + [JSON.Member("colour", true)])
          let (status, detail) = try Self.answer(strange, gallery)
          #expect(try status == 400 && Self.taken(detail) == operation.fields, "\(operation.name): \(detail)")
          #expect(try Self.fits(.object(members)) && !Self.fits(strange), "\(operation.name)")
          for missing in operation.required where missing != "op" {
            let less = try operation.json(operation.required.subtracting([missing]), token)
            let (status, detail) = try Self.answer(less, gallery)
            #expect(status == 400 && detail.contains("'\(missing)' is missing"), "\(operation.name): \(detail)")
            #expect(try !Self.fits(less), "\(operation.name) without \(missing)")
          }
        }
      }
    }

    @Test("a field is described with values that the reader takes, and without those that it rejects")
    func values() async throws {
      try await TestGallery.serving { gallery in
        let token = try gallery.library.currentToken.description
        for operation in try Self.described() {
          for field in operation.fields where field != "op" {
            let with = try operation.json(operation.required.union([field]), token)
            let detail = try Self.answer(with, gallery).detail
            #expect(!detail.contains("'\(field)'"), "\(operation.name): \(detail)")
            #expect(try Self.fits(with), "\(operation.name) with \(field)")
            let wrong = try operation.json(operation.required.union([field]), token, but: field)
            let (status, reason) = try Self.answer(wrong, gallery)
            #expect(status == 400 && reason.contains("\(operation.name)"), "\(operation.name) \(field): \(reason)")
            #expect(try !Self.fits(wrong), "\(operation.name) with a wrong \(field)")
          }
        }
      }
    }

    @Test("a keyword to add must not be blank, as the reader requires; one to remove may be blank")
    func blankKeywords() async throws {
      try await TestGallery.serving { gallery in
        let token = try gallery.library.currentToken.description
        let contract = try Contract.served.get()
        for (name, field, isAdded) in [
          ("asset.create", "keywords", true), ("asset.edit", "addedKeywords", true),
          ("asset.addResources", "addedKeywords", true), ("asset.edit", "removedKeywords", false),
        ] {
          let operation = try Described(name, in: contract)
          guard case .object(let members) = try operation.json(operation.required, token) else { continue }
          for word in ["", " ", "\t\u{A0}"] {
            let change = JSON.object(members + [JSON.Member(field, ["sea", .text(word)])])
            let detail = try Self.answer(change, gallery).detail
            #expect(detail.contains("'\(field)'") == isAdded, "\(name) \(field): \(detail)")
            #expect(try Self.fits(change) != isAdded, "\(name) \(field)")
          }
        }
      }
    }

    @Test("a resource, adjustment data and the block itself are described with the fields that the reader takes")
    func parts() async throws {
      try await TestGallery.serving { gallery in
        let contract = try Contract.served.get()
        func check(_ name: String, _ value: JSON, _ body: (JSON) -> JSON) throws {
          guard case .object(let members) = value else { return }
          let strange = JSON.object(members + [JSON.Member("colour", true)])
          let answer = try gallery.post("/v1/blocks", Array(body(strange).description.utf8))
          let detail = try #require(try answer.json()["detail"] as? String)
          let schema = try #require(contract.document["components"]?["schemas"]?[name])
          let described = try #require(schema["properties"]?.objectValue).map(\.key)
          #expect(try answer.status == 400 && Self.taken(detail) == Set(described), "\(name): \(detail)")
          #expect(try contract.breach(of: value, in: name) == nil, "\(name)")
          #expect(try contract.breach(of: strange, in: name) != nil, "\(name)")
        }
        try check("Resource", Self.resource) { resource in
          ["changes": [["op": "asset.create", "mediaType": "image", "resources": [resource]]]]
        }
        try check("AdjustmentData", Self.adjustmentData) { data in
          let edit: JSON = [
            "op": "asset.editContent", "asset": .text(Self.id), "resources": [Self.resource], "adjustmentData": data,
          ]
          return ["changes": [edit]]
        }
        try check("Block", ["changes": []]) { $0 }
      }
    }
  }
#endif
