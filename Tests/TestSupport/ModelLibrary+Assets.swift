package import Foundation
package import PhotoLedger

extension ModelLibrary {
  package mutating func create(_ creation: AssetCreation, as id: LocalIdentifier, at date: Date) throws {
    try checkMayAdd()
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
    guard creation.burstIdentifier != nil || (!creation.representsBurst && creation.burstSelectionTypes == []) else {
      throw ModelRefusal(code: .invalidResource)
    }
    var asset = ModelAsset(creation, id, date)
    if let burst = creation.burstIdentifier {
      let others = membersOfBurst(burst)
      guard others.count(where: { sees($0) }) < 1000 else { throw ModelRefusal(code: .limitExceeded) }
      // A client that sees no other member sees this one as the first to come.
      asset.representsBurst = asset.representsBurst || !others.contains { sees($0) }
      if asset.representsBurst { setRepresentative(nil, among: others, date) }
    }
    assets[id] = asset
    order[id] = order.count
    assetsInOrder.append(id)
    resources[id] = creation.resources.compactMap { draft in
      if case .stored(let resource) = draft.source { resource } else { nil }
    }
    words[id] = ModelWords(caption: creation.caption.flatMap { $0.isEmpty ? nil : $0 }, keywords: creation.keywords)
    note(asset: id)
    recount()
    guard eyes(of: acting) != .full else { return }
    if let album = clients[acting]?.album { return put([id], into: album, before: nil, date) }
    clients[acting]?.selection.insert(id)
    joined([id], acting)
  }

  /// The members of a burst, oldest first.
  private func membersOfBurst(_ burst: String) -> [LocalIdentifier] {
    assetsInOrder.filter { assets[$0]?.burstIdentifier == burst }
  }

  /// Lets one member, or none, stand for a burst (BU-01).
  private mutating func setRepresentative(_ chosen: LocalIdentifier?, among members: [LocalIdentifier], _ date: Date) {
    for id in members where assets[id]?.representsBurst != (id == chosen) {
      assets[id]?.representsBurst = id == chosen
      assets[id]?.modificationDate = date
      note(asset: id)
    }
    recount()
  }

  package mutating func setRepresentative(_ id: LocalIdentifier, at date: Date) throws {
    try checkMayChange()
    try checkEditable(id)
    guard let burst = assets[id]?.burstIdentifier else { throw ModelRefusal(code: .requestNotSupportedForAsset) }
    if assets[id]?.representsBurst == true { return }
    setRepresentative(id, among: membersOfBurst(burst), date)
  }

  package mutating func edit(_ ids: [LocalIdentifier], _ changes: AssetChanges, at date: Date) throws {
    try checkMayChange()
    if let duration = changes.duration, duration < 0 { throw ModelRefusal(code: .invalidResource) }
    for id in ids {
      try checkEditable(id)
      if let asset = assets[id], asset.mediaType == .image, changes.duration ?? 0 != 0 {
        throw ModelRefusal(code: .invalidResource)
      }
    }
    for id in Set(ids) {
      guard var asset = assets[id] else { continue }
      let before = (asset, words[id])
      changes.apply(to: &asset)
      changes.apply(to: &words[id, default: ModelWords()])
      guard asset != before.0 || words[id] != before.1 else { continue }
      asset.modificationDate = date
      assets[id] = asset
      note(asset: id)
    }
    recount()
  }

  package mutating func addFile(_ resource: AssetResource, to id: LocalIdentifier, at date: Date) throws {
    try checkMayChange()
    try checkEditable(id)
    guard resources[id]?.contains(resource) != true else { return }
    let types = (resources[id] ?? []).map(\.type) + [resource.type]
    let isSound = resource.type == .alternatePhoto && assets[id]?.mediaType == .image
    guard isSound, types.count(where: { $0 == .photo }) == 1 else { throw ModelRefusal(code: .invalidResource) }
    resources[id]?.append(resource)
    assets[id]?.modificationDate = date
    newFiles.insert(id)
    note(asset: id)
  }

  package mutating func trash(_ ids: [LocalIdentifier], at date: Date?) throws {
    try checkMayChange()
    for id in ids { try checkEditable(id) }
    for id in ids where (assets[id]?.trashedDate == nil) != (date == nil) {
      assets[id]?.trashedDate = date
      note(asset: id)
    }
    recount()
  }

  package mutating func purge(_ ids: [LocalIdentifier], at date: Date) throws {
    try checkMayChange()
    guard eyes(of: acting) == .full else { throw refusal(acting) }
    var done: Set<LocalIdentifier> = []
    for id in ids where done.insert(id).inserted {
      try checkAsset(id)
      guard let asset = assets[id], asset.trashedDate != nil else { throw ModelRefusal(code: .changeNotSupported) }
      if let burst = asset.burstIdentifier, asset.representsBurst {
        let others = membersOfBurst(burst).filter { $0 != id }
        setRepresentative(others.first, among: others, date)
      }
      note(asset: id)
      assets[id] = nil
      assetsInOrder.removeAll { $0 == id }
      (resources[id], words[id]) = (nil, nil)
      newFiles.remove(id)
      for (container, content) in members where content.contains(id) {
        members[container] = content.filter { $0 != id }
      }
      for client in clients.keys { clients[client]?.selection.remove(id) }
      settleStacks()
    }
  }

  func checkAsset(_ id: LocalIdentifier) throws {
    guard assets[id] == nil || !sees(id) else { return }
    throw ModelRefusal(code: assets[id] == nil && sees(id) ? .changeNotSupported : .identifierNotFound)
  }

  func checkEditable(_ id: LocalIdentifier) throws {
    try checkAsset(id)
    if assets[id]?.isEditable == false { throw ModelRefusal(code: .requestNotSupportedForAsset) }
  }
}

extension AssetChanges {
  func apply(to asset: inout ModelAsset) {
    if let isFavorite { asset.isFavorite = isFavorite }
    if let isHidden { asset.isHidden = isHidden }
    assign(creationDate, to: &asset.creationDate)
    assign(localCreationDate, to: &asset.localCreationDate)
    if let dateShift {
      asset.creationDate = asset.creationDate.map { $0 + Double(dateShift) }
      asset.localCreationDate = asset.localCreationDate.map { $0 + Double(dateShift) }
    }
    assign(timeZoneOffset, to: &asset.timeZoneOffset)
    assign(location, to: &asset.location)
    if let mediaSubtypes { asset.mediaSubtypes = mediaSubtypes }
    if let playbackStyle { asset.playbackStyle = playbackStyle }
    if let duration { asset.duration = duration }
    if let rating { asset.rating = rating }
    if let isSelfPortrait { asset.isSelfPortrait = isSelfPortrait }
    if let burstSelectionTypes, asset.burstIdentifier != nil { asset.burstSelection = burstSelectionTypes }
  }

  func apply(to words: inout ModelWords) {
    assign(caption, to: &words.caption)
    words.keywords = words.keywords.subtracting(removedKeywords).union(addedKeywords)
  }

  private func assign<Value>(_ assignment: Assignment<Value>?, to property: inout Value?) {
    switch assignment {
    case nil: break
    case .set(let value): property = value
    case .clear: property = nil
    }
  }
}
