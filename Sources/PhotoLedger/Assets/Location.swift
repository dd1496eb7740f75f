/// A place on Earth in degrees and metres (WGS 84), as an asset carries it.
public struct Location: Hashable, Sendable {
  /// Degrees north of the equator, -90 to 90.
  public var latitude: Double
  /// Degrees east of Greenwich, -180 to 180.
  public var longitude: Double
  /// Metres above sea level, if known.
  public var altitude: Double?

  /// Makes a place.
  /// - Parameters:
  ///   - latitude: degrees north.
  ///   - longitude: degrees east.
  ///   - altitude: metres above sea level.
  public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }

  /// Whether all of it is finite and in range.
  public var isValid: Bool {
    (-90...90).contains(latitude) && (-180...180).contains(longitude) && (altitude?.isFinite ?? true)
  }
}
