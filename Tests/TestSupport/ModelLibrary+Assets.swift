package import Foundation
package import PhotoLedger

extension ModelLibrary {
  package mutating func create(_ creation: AssetCreation, as id: LocalIdentifier, at date: Date) throws {
    let types = creation.resources.map(\.type)
    guard !types.isEmpty else { throw ModelRefusal(code: .missingResource) }
    let primary: [MediaType: ResourceType] = [.image: .photo, .video: .video, .audio: .audio]
    guard let needed = primary[creation.mediaType], types.contains(needed) else {
      throw ModelRefusal(code: .invalidResource)
    }
    guard creation.mediaType != .image || creation.duration == 0 else { throw ModelRefusal(code: .invalidResource) }
    guard creation.duration >= 0, creation.pixelWidth >= 0, creation.pixelHeight >= 0 else {
      throw ModelRefusal(code: .invalidResource)
    }
    assets[id] = ModelAsset(creation, id, date)
    order[id] = order.count
    assetsInOrder.append(id)
    resources[id] = creation.resources.compactMap { draft in
      if case .stored(let resource) = draft.source { resource } else { nil }
    }
  }

  package mutating func edit(_ ids: [LocalIdentifier], _ changes: AssetChanges, at date: Date) throws {
    if let duration = changes.duration, duration < 0 { throw ModelRefusal(code: .invalidResource) }
    for id in ids {
      try checkAsset(id)
      if let asset = assets[id], asset.mediaType == .image, changes.duration ?? 0 != 0 {
        throw ModelRefusal(code: .invalidResource)
      }
    }
    for id in Set(ids) {
      guard var asset = assets[id] else { continue }
      let before = asset
      changes.carryOut(on: &asset)
      if asset != before { asset.modificationDate = date }
      assets[id] = asset
    }
    recount()
  }

  package mutating func addFile(_ resource: AssetResource, to id: LocalIdentifier, at date: Date) throws {
    try checkAsset(id)
    guard resources[id]?.contains(resource) != true else { return }
    let types = (resources[id] ?? []).map(\.type) + [resource.type]
    let isSound = resource.type == .alternatePhoto && assets[id]?.mediaType == .image
    guard isSound, types.count(where: { $0 == .photo }) == 1 else { throw ModelRefusal(code: .invalidResource) }
    resources[id]?.append(resource)
    assets[id]?.modificationDate = date
    newFiles.insert(id)
  }

  package mutating func trash(_ ids: [LocalIdentifier], at date: Date?) throws {
    for id in ids { try checkAsset(id) }
    for id in ids where (assets[id]?.trashedDate == nil) != (date == nil) { assets[id]?.trashedDate = date }
    recount()
  }

  package mutating func purge(_ ids: [LocalIdentifier]) throws {
    var done: Set<LocalIdentifier> = []
    for id in ids where done.insert(id).inserted {
      try checkAsset(id)
      guard assets[id]?.trashedDate != nil else { throw ModelRefusal(code: .changeNotSupported) }
      assets[id] = nil
      assetsInOrder.removeAll { $0 == id }
      resources[id] = nil
      newFiles.remove(id)
      for (container, content) in members where content.contains(id) {
        members[container] = content.filter { $0 != id }
      }
    }
  }

  func checkAsset(_ id: LocalIdentifier) throws {
    guard assets[id] == nil else { return }
    throw ModelRefusal(code: collections[id] == nil ? .identifierNotFound : .changeNotSupported)
  }
}

extension AssetChanges {
  func carryOut(on asset: inout ModelAsset) {
    if let isFavorite { asset.isFavorite = isFavorite }
    if let isHidden { asset.isHidden = isHidden }
    assign(creationDate, to: &asset.creationDate)
    assign(localCreationDate, to: &asset.localCreationDate)
    assign(timeZoneOffset, to: &asset.timeZoneOffset)
    assign(location, to: &asset.location)
    if let mediaSubtypes { asset.mediaSubtypes = mediaSubtypes }
    if let playbackStyle { asset.playbackStyle = playbackStyle }
    if let duration { asset.duration = duration }
  }

  private func assign<Value>(_ assignment: Assignment<Value>?, to property: inout Value?) {
    switch assignment {
    case nil: break
    case .set(let value): property = value
    case .clear: property = nil
    }
  }
}
