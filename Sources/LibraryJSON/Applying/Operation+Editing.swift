import Foundation
import JSONReading
import PhotoLedger

extension Operation {
  /// The operations on the content of assets, and on bursts.
  static let editingOperations: [Operation] = [
    Operation(name: "asset.editContent") { fields, context in
      let asset = try fields.identifier("asset", context)
      context.block.editContent(of: asset, try fields.contentEdit())
      return nil
    },
    Operation(name: "asset.revertContent") { fields, context in
      let asset = try fields.identifier("asset", context)
      context.block.revertContent(of: asset, to: try fields.choice("to"))
      return nil
    },
    Operation(name: "burst.represent") { fields, context in
      context.block.setRepresentative(ofBurst: try fields.identifier("asset", context))
      return nil
    },
  ]
}

extension OperationFields {
  fileprivate mutating func contentEdit() throws -> ContentEdit {
    let form = "an object with formatIdentifier, formatVersion and either path or data"
    var recipe = OperationFields(
      try required("adjustmentData", form, \.objectValue), place: "\(place), adjustmentData", sources: sources)
    let adjustmentData = try recipe.adjustmentData()
    try recipe.finish()
    var edit = ContentEdit(adjustmentData: adjustmentData, rendered: try resources())
    edit.base = try choice("base") ?? .unedited
    edit.pixelWidth = try optional("pixelWidth", "a whole number, 0 or more", \.positionValue)
    edit.pixelHeight = try optional("pixelHeight", "a whole number, 0 or more", \.positionValue)
    edit.duration = try optional("duration", "a number of seconds", \.numberValue)
    edit.isAutomatic = try optional("isAutomatic", "true or false", \.boolValue) ?? false
    return edit
  }

  private mutating func adjustmentData() throws -> AdjustmentData {
    let identifier = try required("formatIdentifier", "text", \.textValue)
    let version = try required("formatVersion", "text", \.textValue)
    return AdjustmentData(formatIdentifier: identifier, formatVersion: version, data: try bytes())
  }

  private mutating func bytes() throws -> Data {
    if case .remote = sources {
      try checkNoPath()
      return try required("data", "bytes in base64") { $0.textValue.flatMap { Data(base64Encoded: $0) } }
    }
    switch try source("the adjustment data") {
    case .data(let data): return data
    case .file(let url, _):
      do {
        return try Data(contentsOf: url)
      } catch {
        throw LibraryError(
          .missingResource, "\(place): the file \(url.path) cannot be read: \(LibraryError.reason(of: error)).")
      }
    case .stored: preconditionFailure("A line cannot name bytes that are already stored.")
    }
  }
}
