// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

internal import PhotoLedger

/// Degrees, or metres where it says so (stands in for Core Location's `CLLocationDegrees`).
public typealias CLLocationDegrees = Double
/// Metres (stands in for Core Location's `CLLocationDistance`).
public typealias CLLocationDistance = Double
/// Metres (stands in for Core Location's `CLLocationAccuracy`).
public typealias CLLocationAccuracy = Double
/// Degrees from north (stands in for Core Location's `CLLocationDirection`).
public typealias CLLocationDirection = Double
/// Metres a second (stands in for Core Location's `CLLocationSpeed`).
public typealias CLLocationSpeed = Double

/// A place on the earth (stands in for Core Location's `CLLocationCoordinate2D`, which Linux lacks).
public struct CLLocationCoordinate2D: Sendable {
  /// Degrees north.
  public var latitude: CLLocationDegrees
  /// Degrees east.
  public var longitude: CLLocationDegrees

  /// Null Island.
  public init() { (latitude, longitude) = (0, 0) }
  /// A place.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    (self.latitude, self.longitude) = (latitude, longitude)
  }
}

/// A place (stands in for Core Location's function).
public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// No place on the earth (stands in for Core Location's constant).
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Whether a place is on the earth (stands in for Core Location's function).
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
  Location(latitude: coordinate.latitude, longitude: coordinate.longitude).isValid
}

/// A place and a height (stands in for Core Location's `CLLocation`, which Linux lacks).
///
/// The library records latitude, longitude and altitude; accuracies, course and speed are of the value only.
open class CLLocation: NSObject, NSCopying, @unchecked Sendable {  // guarded by: holds constants only
  /// Latitude and longitude.
  public let coordinate: CLLocationCoordinate2D
  /// Metres above the sea; 0 if `verticalAccuracy` is negative.
  public let altitude: CLLocationDistance
  /// Metres; 0 for unknown.
  public let horizontalAccuracy: CLLocationAccuracy
  /// Metres; negative when the altitude is unknown.
  public let verticalAccuracy: CLLocationAccuracy
  /// Degrees from north; negative when the course is unknown.
  public let course: CLLocationDirection
  /// Metres a second; negative when the speed is unknown.
  public let speed: CLLocationSpeed
  /// When the place was determined.
  public let timestamp: Date

  /// A place without a height.
  public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0, horizontalAccuracy: 0,
      verticalAccuracy: -1, timestamp: Date())
  }

  /// A place with a height.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    (self.coordinate, self.altitude) = (coordinate, altitude)
    (horizontalAccuracy, verticalAccuracy, self.timestamp) = (hAccuracy, vAccuracy, timestamp)
    (course, speed) = (-1, -1)
  }

  /// A place with a height, on a way.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed,
    timestamp: Date
  ) {
    (self.coordinate, self.altitude) = (coordinate, altitude)
    (horizontalAccuracy, verticalAccuracy, self.timestamp) = (hAccuracy, vAccuracy, timestamp)
    (self.course, self.speed) = (course, speed)
  }

  convenience init(_ location: Location, _ date: Date?) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: location.latitude, longitude: location.longitude),
      altitude: location.altitude ?? 0, horizontalAccuracy: 0, verticalAccuracy: location.altitude == nil ? -1 : 0,
      timestamp: date ?? Date(timeIntervalSinceReferenceDate: 0))
  }

  /// Itself: a place does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether another place has the same coordinate and height.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLLocation else { return false }
    return coordinate.latitude == other.coordinate.latitude && coordinate.longitude == other.coordinate.longitude
      && altitude == other.altitude && (verticalAccuracy < 0) == (other.verticalAccuracy < 0)
  }

  /// A hash of the coordinate.
  open override var hash: Int { coordinate.latitude.hashValue ^ coordinate.longitude.hashValue &* 31 }

  /// The distance along a great circle of a sphere of the earth's mean radius, metres; exact to half a percent.
  open func distance(from location: CLLocation) -> CLLocationDistance {
    let (here, there) = (coordinate, location.coordinate)
    let (one, two) = (here.latitude * .pi / 180, there.latitude * .pi / 180)
    let turn = (there.longitude - here.longitude) * .pi / 180
    let half = pow(sin((two - one) / 2), 2) + cos(one) * cos(two) * pow(sin(turn / 2), 2)
    return 2 * 6_371_008.8 * asin(min(1, half.squareRoot()))
  }
}

extension Location {
  init(_ place: CLLocation) {
    self.init(
      latitude: place.coordinate.latitude, longitude: place.coordinate.longitude,
      altitude: place.verticalAccuracy < 0 ? nil : place.altitude)
  }
}
