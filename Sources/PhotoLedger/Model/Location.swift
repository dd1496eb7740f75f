/// A place on Earth in degrees and metres (WGS 84), as an asset carries it.
public struct Location: Hashable, Sendable {
  /// Degrees north of the equator, -90 to 90.
  public var latitude: Double
  /// Degrees east of Greenwich, -180 to 180.
  public var longitude: Double
  /// Metres above sea level, if known, -12,000 to 10,000,000.
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

  /// Whether all of it is finite and in range, so that an asset may be given it.
  public var isValid: Bool { isOnEarth && altitude.map(AssetNumbers.altitudes.contains) ?? true }

  /// Whether it is a place, at whatever height; what the log holds need be no more.
  var isOnEarth: Bool {
    AssetNumbers.latitudes.contains(latitude) && AssetNumbers.longitudes.contains(longitude)
      && altitude?.isFinite ?? true
  }
}
