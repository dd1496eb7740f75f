import CLMDB

extension Environment {
  /// How safe an acknowledged commit is.
  public enum Durability: Sendable, Hashable {
    /// On the disk before `write` returns.
    case durable
    /// The last commits may vanish in a power failure; the file stays sound (MDB_NOMETASYNC).
    case lastCommitMayBeLost
    /// A power failure may destroy the file: only for files that are thrown away then, and benchmarks (MDB_NOSYNC).
    case unsafeNoSync
  }

  /// How an environment is opened. All openers in one process agree on all but `mapSize` and `drainSeconds`.
  public struct Options: Sendable, Hashable {
    /// Address space to begin with, bytes; costs no disk. Grown when full, never below what the file was grown to.
    public var mapSize = 64 << 30
    /// Where growing ends, bytes.
    public var mapSizeMax = 16 << 40
    /// Read transactions open at one time, of all processes. The first opener decides (mdb_env_set_maxreaders).
    public var maxReaders = 510
    /// Named databases (mdb_env_set_maxdbs).
    public var maxDatabases = 64
    /// How safe an acknowledged commit is.
    public var durability = Durability.durable
    /// Whether writing is rejected. The lock file is written even then, unless the file system is mounted read-only.
    public var isReadOnly = false
    /// Whether a missing directory and an empty store are created.
    public var createsStore = true
    /// Whether NFS, SMB, FUSE and their like are not refused. LMDB does not support them.
    public var allowsRemoteFileSystem = false
    /// How long growing, reopening and closing wait for the transactions of this process, seconds.
    public var drainSeconds = 10.0

    /// The defaults above.
    public init() {}
  }
}

extension Environment.Options {
  /// - Parameter isUnwritable: whether nothing can be written beside the data file, so that LMDB goes without locks.
  func flags(_ isUnwritable: Bool) -> UInt32 {
    var flags = UInt32(MDB_NOTLS | MDB_NORDAHEAD)
    if isReadOnly || isUnwritable { flags |= UInt32(MDB_RDONLY) }
    if isUnwritable { flags |= UInt32(MDB_NOLOCK) }
    switch durability {
    case .durable: break
    case .lastCommitMayBeLost: flags |= UInt32(MDB_NOMETASYNC)
    case .unsafeNoSync: flags |= UInt32(MDB_NOSYNC)
    }
    return flags
  }

  func agrees(with other: Self) -> Bool {
    var a = self
    var b = other
    (a.mapSize, a.mapSizeMax, a.drainSeconds, a.createsStore) = (0, 0, 0, false)
    (b.mapSize, b.mapSizeMax, b.drainSeconds, b.createsStore) = (0, 0, 0, false)
    return a == b
  }
}
