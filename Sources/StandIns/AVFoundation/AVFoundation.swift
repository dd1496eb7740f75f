// The name under which clients import some of the stand-ins of `Photos`: films and times. The types live in `Photos`,
// whose calls take and give them. Rejected: modules below `Photos`, since the stand-ins read the library's files.

@_exported import Photos
