// A fetch result is the core's, in a class. Which of the core's two kinds it is follows from the class of its objects:
// `PHFetchResult<PHAsset>` holds assets, that of upload jobs the jobs themselves, every other one collections.
//
// Objects are made when they are asked for. Nothing is kept: two calls give two objects that are equal. Tests of apps
// subclass the class and override `count` and `object(at:)`: whatever else such a stand-in gives comes from these two.
//
// Swift's generic classes are invariant, and a cast between two of them always fails: on Apple's systems the type of
// the objects is erased, and `albums as? PHFetchResult<PHCollection>` succeeds. Here a result of a subclass is
// converted by an initialiser. It is the same result under another type, not a copy: nothing is read.

public import PhotoLedger
internal import LibraryUploads

/// The core's result: the same type for every class of objects, so that results can be converted.
enum FetchedContent: Sendable {
  case assets(FetchResult<Asset>)
  case collections(FetchResult<PhotoCollection>)
  case jobs([UploadJob])
  /// A stand-in under another type.
  case other(any ObjectList)
  case nothing
}

/// A result of whichever type, as one of its conversions reads it.
protocol ObjectList: AnyObject, Sendable {
  var count: Int { get }
  func anyObject(at index: Int) -> AnyObject
}

/// A list of objects as it was at one commit, and stays (FR-01; Apple: `PHFetchResult`).
open class PHFetchResult<ObjectType: AnyObject>: NSObject, NSCopying, @unchecked Sendable {
  // guarded by: holds constants only
  typealias Content = FetchedContent

  let content: Content
  let library: PHPhotoLibrary?

  init(_ content: Content, _ library: PHPhotoLibrary?) { (self.content, self.library) = (content, library) }

  /// An empty result, for stand-ins in tests.
  public override init() { (content, library) = (.nothing, nil) }

  /// Itself: a result does not change (Apple: `NSCopying`).
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// How many objects there are.
  open var count: Int {
    switch content {
    case .assets(let result): result.count
    case .collections(let result): result.count
    case .jobs(let jobs): jobs.count
    case .other(let list): list.count
    case .nothing: 0
    }
  }

  /// The object at a position; traps past the end (FR-02).
  /// - Complexity: O(log n).
  open func object(at index: Int) -> ObjectType {
    guard index >= 0, index < count else {
      fatalError("PHFetchResult.object(at:): position \(index) is outside of a result of \(count) objects.")
    }
    if case .other(let list) = content { return cast(list.anyObject(at: index)) }
    guard let library else {
      fatalError("PHFetchResult.object(at:): a subclass that overrides count has to override object(at:), too.")
    }
    do {
      switch content {
      case .assets(let result): return cast(PHAsset(try result.object(at: index), library))
      case .collections(let result): return cast(PHObject.of(try result.object(at: index), in: library))
      case .jobs(let jobs): return cast(PHAssetResourceUploadJob(jobs[index], library))
      case .other, .nothing: fatalError("An empty result has no object at \(index).")
      }
    } catch {
      PHPhotoLibrary.unanswerable("PHFetchResult.object(at:)", error)
    }
  }

  private func cast(_ object: AnyObject) -> ObjectType {
    guard let object = object as? ObjectType else {
      let name = (object as? PHObject)?.localIdentifier ?? ""
      fatalError("A result of \(ObjectType.self) holds \(type(of: object)) \(name).")
    }
    return object
  }

  /// The object at a position; traps past the end (FR-02).
  open subscript(idx: Int) -> ObjectType { object(at: idx) }

  /// The first object; nil if there is none.
  open var firstObject: ObjectType? { count == 0 ? nil : object(at: 0) }

  /// The last object; nil if there is none.
  open var lastObject: ObjectType? { count == 0 ? nil : object(at: count - 1) }

  /// The objects at positions, ascending; traps past the end (FR-02).
  open func objects(at indexes: IndexSet) -> [ObjectType] {
    if let last = indexes.last, last >= count {
      fatalError("PHFetchResult.objects(at:): position \(last) is outside of a result of \(count) objects.")
    }
    // A subclass that has objects of its own.
    guard let library else { return indexes.map { object(at: $0) } }
    return PHPhotoLibrary.answer("PHFetchResult.objects(at:)") {
      switch content {
      case .assets(let result): try result.objects(at: indexes).map { cast(PHAsset($0, library)) }
      case .collections(let result): try result.objects(at: indexes).map { cast(PHObject.of($0, in: library)) }
      case .jobs(let jobs): indexes.map { cast(PHAssetResourceUploadJob(jobs[$0], library)) }
      case .other, .nothing: indexes.map { object(at: $0) }
      }
    }
  }

  /// Whether an object is in the result (FR-03).
  open func contains(_ anObject: ObjectType) -> Bool { index(of: anObject) != NSNotFound }

  /// The position of an object; `NSNotFound` if it is not there (FR-03).
  /// - Complexity: O(log n).
  open func index(of anObject: ObjectType) -> Int {
    PHPhotoLibrary.answer("PHFetchResult.index(of:)") {
      switch (content, anObject) {
      case (.assets(let result), let asset as PHAsset) where asset.isOf(library):
        try asset.asset.flatMap { try result.index(ofObject: $0) } ?? NSNotFound
      case (.collections(let result), let collection as PHCollection) where collection.isOf(library):
        try collection.collection.flatMap { try result.index(ofObject: $0) } ?? NSNotFound
      case (.jobs(let jobs), let job as PHAssetResourceUploadJob) where job.isOf(library):
        jobs.firstIndex { $0.identifier == job.localIdentifier } ?? NSNotFound
      case (.other, _), (.nothing, _): (0..<count).first { Self.isSame(object(at: $0), anObject) } ?? NSNotFound
      default: NSNotFound
      }
    }
  }

  /// The position of an object if it is in a range; `NSNotFound` otherwise (FR-03).
  open func index(of anObject: ObjectType, in range: NSRange) -> Int {
    let index = index(of: anObject)
    return index != NSNotFound && NSLocationInRange(index, range) ? index : NSNotFound
  }

  /// How many assets of a type there are; 0 for collections (FR-04).
  open func countOfAssets(with mediaType: PHAssetMediaType) -> Int {
    PHPhotoLibrary.answer("PHFetchResult.countOfAssets(with:)") {
      switch content {
      case .assets(let result): try result.countOfAssets(with: mediaType)
      case .other, .nothing: (0..<count).count(where: { (object(at: $0) as? PHAsset)?.mediaType == mediaType })
      case .collections, .jobs: 0
      }
    }
  }

  /// Calls a block with every object, until it sets `stop`.
  open func enumerateObjects(_ block: (ObjectType, Int, UnsafeMutablePointer<ObjCBool>) -> Void) {
    enumerate(0..<count, block)
  }

  /// The same; `.reverse` goes from the last to the first, `.concurrent` is not followed.
  open func enumerateObjects(
    options opts: NSEnumerationOptions = [], using block: (ObjectType, Int, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {
    if opts.contains(.reverse) { enumerate((0..<count).reversed(), block) } else { enumerate(0..<count, block) }
  }

  /// The same for some positions; traps past the end.
  open func enumerateObjects(
    at indexSet: IndexSet, options opts: NSEnumerationOptions = [],
    using block: (ObjectType, Int, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {
    if opts.contains(.reverse) { enumerate(indexSet.reversed(), block) } else { enumerate(indexSet, block) }
  }

  private func enumerate(
    _ indexes: some Sequence<Int>, _ block: (ObjectType, Int, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {
    var stop = ObjCBool(false)
    var rest = Array(indexes)[...]
    // A portion is read in one look at the store.
    while !rest.isEmpty {
      let portion = rest.prefix(256)
      rest = rest.dropFirst(256)
      let objects = Dictionary(uniqueKeysWithValues: zip(portion.sorted(), self.objects(at: IndexSet(portion))))
      for index in portion {
        guard let object = objects[index] else { continue }
        block(object, index, &stop)
        if stop.boolValue { return }
      }
    }
  }

  /// Whether another result holds the same objects in the same order.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? PHFetchResult<ObjectType> else { return false }
    return self === other
      || count == other.count && objects(at: positions).elementsEqual(other.objects(at: positions), by: Self.isSame)
  }

  /// A hash of the number of objects.
  open override var hash: Int { count }

  /// What the same result under another type reads: a stand-in has objects of its own.
  fileprivate var converted: Content { library == nil ? .other(self) : content }

  private var positions: IndexSet { IndexSet(integersIn: 0..<count) }

  private static func isSame(_ one: ObjectType, _ other: ObjectType) -> Bool {
    one === other || (one as? PHObject)?.isEqual(other) ?? false
  }
}

extension PHFetchResult where ObjectType == PHCollection {
  /// The same result of albums or folders as one of collections, for which Apple's clients write
  /// `albums as? PHFetchResult<PHCollection>`.
  /// - Complexity: O(1).
  public convenience init(_ result: PHFetchResult<some PHCollection>) { self.init(result.converted, result.library) }
}

extension PHFetchResult where ObjectType == PHObject {
  /// The same result of any objects as one of their common class, for which Apple's clients write
  /// `result as? PHFetchResult<PHObject>`.
  /// - Complexity: O(1).
  public convenience init(_ result: PHFetchResult<some PHObject>) { self.init(result.converted, result.library) }
}

extension PHFetchResult: ObjectList {
  func anyObject(at index: Int) -> AnyObject { object(at: index) }
}

/// What can be walked through: arrays, `NSArray` and fetch results (Apple: `NSFastEnumeration`, which Linux lacks).
public protocol NSFastEnumeration {
  /// Every object, in order.
  var enumeratedObjects: [Any] { get }
}

extension Array: NSFastEnumeration {
  /// Every element, in order.
  public var enumeratedObjects: [Any] { self }
}

extension Set: NSFastEnumeration {
  /// Every element, in no order.
  public var enumeratedObjects: [Any] { Array(self) }
}

extension NSArray: NSFastEnumeration {
  /// Every element, in order.
  public var enumeratedObjects: [Any] { map { $0 } }
}

extension NSSet: NSFastEnumeration {
  /// Every element, in no order.
  public var enumeratedObjects: [Any] { allObjects }
}

extension PHFetchResult: NSFastEnumeration {
  /// Every object, in order.
  public var enumeratedObjects: [Any] { objects(at: IndexSet(integersIn: 0..<count)) }
}
