import PhotoLedger

// Adjustment data of other programs.

extension ImportRun {
  /// How the adjustment data among files of one name are read, if there are any that can be.
  func adjustment(in run: Range<Int>) -> HashedFile.Reading? {
    guard hasAdjustments, let index = run.first(where: { found[$0].edit == .adjustmentData }) else { return nil }
    return reading(of: index)
  }

  private func reading(of index: Int) -> HashedFile.Reading {
    let (file, known, copies) = (found[index], known(index), catalog.copies)
    let large = LargeFiles(tool: tool, byteCount: options.largeByteCount)
    return { () throws(ImportError) in
      guard file.byteCount <= SmallFile.descriptionLimit else { return nil }
      if let known { return known }
      // They are short, so a stop need not end it. It must not: some are read after the commit of their batch.
      return try Self.hashed(index, file, copies, large, StopFlag()).get()
    }
  }

  /// Remembers the adjustment data that were recorded, for copies of the same files.
  func noteAdjustment(of change: ImportChange, _ files: [Int]) {
    guard case .asset(let asset) = change, let adjustment = asset.adjustment, let last = files.last else { return }
    let path = found[last].path
    for file in files.dropLast() { adjustments[found[file].path] = (adjustment.data.stored.sha256, path) }
    rules.note(
      adjustment.rendered.isEmpty
        ? "adjustment data without a certain rendition are kept with the original"
        : "an original, its rendition and its adjustment data are one asset", path.description)
  }

  /// Settles adjustment data that are not recorded: those of files that are copies belong to what these are copies of,
  /// if that has them; all others stay what they are, a sidecar.
  func settleAdjustments(in files: Range<Int>, _ outcomes: inout [Int: FileOutcome]) async throws {
    guard hasAdjustments else { return }
    var copies: [(index: Int, of: FileOutcome)] = []
    for run in runs(of: files) {
      for index in run where found[index].edit == .adjustmentData && outcomes[index] == .sidecar {
        let originals = run.filter { found[$0].role == .candidate && found[$0].edit != .rendition }
        let became = Set(originals.compactMap { outcomes[$0] })
        if became.count == 1, let one = became.first { copies.append((index, one)) }
      }
    }
    let (began, work) = (options.now(), copies.map { reading(of: $0.index) })
    let read = try await onThreads(work, width: width) { (reading) throws(ImportError) -> HashedFile? in
      do throws(ImportError) { return try reading() } catch  where error.concernsOneFile { return nil }
    }
    let holders = try await target.holders(of: Set(read.compactMap { $0?.content.sha256 }))
    var duplicates: [HashedFile] = []
    for ((index, original), file) in zip(copies, read) {
      guard let file else { continue }
      let content = file.content
      switch original {
      case .duplicateOfAsset(let asset) where holders[content.sha256]?.contains(asset) == true:
        outcomes[index] = .duplicateOfAsset(asset)
        duplicates.append(file)
      case .duplicateOfFile(let file) where adjustments[file]?.content == content.sha256:
        outcomes[index] = adjustments[file].map { .duplicateOfFile($0.path) }
      default: continue
      }
      note(content, of: index, began)
    }
    try await restoreLost(duplicates, &outcomes)
    for index in files where found[index].edit == .adjustmentData && outcomes[index] == .sidecar {
      rules.note(
        "adjustment data that cannot be kept with a photo or video are a sidecar", found[index].path.description)
    }
  }
}
