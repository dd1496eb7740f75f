// Arguments of formats. `date as CVarArg` is what Xcode proposes for a predicate's argument; without Objective-C only
// numbers and texts conform. The predicates here take any value and never ask for an encoding. C's lists of variable
// arguments, as of `String(format:)`, get the description as an object, as they get texts.

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description as an object.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// No object; the one above is encoded.
  public var _cVarArgEncoding: [Int] { [0] }
}

extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description as an object.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// No object; the one above is encoded.
  public var _cVarArgEncoding: [Int] { [0] }
}

extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The description as an object.
  public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
  /// No object; the one above is encoded.
  public var _cVarArgEncoding: [Int] { [0] }
}
