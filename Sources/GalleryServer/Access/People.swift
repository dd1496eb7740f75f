#if Gallery
  import Foundation
  import JSONReading
  import LibraryJSON
  import PhotoLedger

  // People: who signs in with a name and a password, and as which client of the library.
  //
  //     name ──▶ Person: client, hash of the password, epoch
  //                                                      ▲
  //     Key: person "anna", epoch ───────── must be equal ┘
  //
  // The epoch is random and drawn anew with each password. A key of a person is good exactly while the person is there
  // with the epoch of the key, so a new password and a removal end every session of the person by one write of one
  // file, however many keys there are and wherever the process dies.
  //
  // Rejected: taking the keys of the person from the file of the keys (two files, and a crash between them leaves a
  // removed person signed in).

  /// The people of a server.
  final class People: Sendable {
    struct Person: Sendable, Equatable {
      let name: String
      /// The client of the library that the person acts as.
      let client: String
      /// The hash that `crypt` made of the password; nil for a person who signs in through a trusted proxy only.
      var hash: String?
      /// What ties keys to this person and this password.
      var epoch: String
      let created: Date
    }

    static let limit = 1_000
    static let nameLimit = 64

    private let environment: GalleryEnvironment
    private let passwords: Passwords
    /// By name.
    private let people: Kept<[String: Person]>

    init(folder: LibraryFolder, environment: GalleryEnvironment, passwords: Passwords) throws {
      (self.environment, self.passwords) = (environment, passwords)
      let file = ServerFile(folder: folder, name: "people")
      let found = try file.read(Self.person)
      people = Kept(Dictionary(found.map { ($0.name, $0) }, uniquingKeysWith: { $1 })) { people in
        try file.write(people.values.sorted { $0.name < $1.name }.map(People.row))
      }
    }

    /// How many changes there have been, see ``Kept/changeCount``.
    var changeCount: UInt64 { people.changeCount }

    /// The person of a name.
    func named(_ name: String) -> Person? { people.read { $0[name] } }

    /// All people, by name.
    func list() -> [Person] { people.current.values.sorted { $0.name < $1.name } }

    /// Makes a person known.
    /// - Parameters:
    ///   - password: nil for a person who signs in through a trusted proxy only.
    ///   - check: throws if it may not be done any more, which is asked last: hashing takes time.
    /// - Throws: ``Problem`` for a name that is taken or malformed, and for a password that is not possible; what
    ///   `check` throws.
    func add(
      _ name: String, client: String, password: String?, checking check: () throws -> Void = {}
    ) throws -> Person {
      try Self.check(name: name)
      let hash = try password.map { try passwords.hash($0) }
      let person = Person(
        name: name, client: client, hash: hash, epoch: Keyring.spelled(environment.randomBytes(9)),
        created: environment.now())
      try people.change { people in
        try check()
        guard people[name] == nil else {
          throw Problem(409, "already-exists", "The name '\(name)' is in use; choose another one.")
        }
        guard people.count < Self.limit else {
          throw Problem(400, "limit-exceeded", "There are \(people.count) people; remove some first.")
        }
        people[name] = person
      }
      return person
    }

    /// Removes a person, and with that ends all of their sessions.
    /// - Returns: whether there was one of that name.
    func remove(_ name: String) throws -> Bool {
      try people.change { $0.removeValue(forKey: name) != nil }
    }

    /// Gives a person another password, and with that ends all of their sessions.
    /// - Parameters:
    ///   - former: the epoch that the person must still have when the password is set, as their own session saw it;
    ///     nil: the owner sets it.
    ///   - check: throws if it may not be done any more, which is asked last: hashing takes time.
    /// - Returns: whether there is a person of that name and epoch.
    func setPassword(
      _ password: String, of name: String, at former: String? = nil, checking check: () throws -> Void = {}
    ) throws -> Bool {
      let hash = try passwords.hash(password)
      let epoch = Keyring.spelled(environment.randomBytes(9))
      return try people.change { people in
        try check()
        // Hashing takes time, in which the owner may have set another one, or removed the person and added one anew.
        guard let person = people[name], former == nil || person.epoch == former else { return false }
        people[name]?.hash = hash
        people[name]?.epoch = epoch
        return true
      }
    }

    /// The person who has a name and a password.
    ///
    /// A name that does not exist, one without a password and a wrong password give the same answer after the same
    /// work.
    func signIn(_ name: String, _ password: String) throws -> Person? {
      let person = named(name)
      guard try passwords.check(password, against: person?.hash), let person else { return nil }
      // A password that was changed while this one was hashed counts no more.
      return named(name) == person ? person : nil
    }

    private static func check(name: String) throws(Problem) {
      let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "/" }
      guard (1...nameLimit).contains(name.utf8.count), isPlain, name != ".", name != "..",
        name == name.trimmingCharacters(in: .whitespaces)
      else {
        throw .malformed(
          "A person's name must have 1 to \(nameLimit) bytes, no slash or control character, and no blank at its ends.")
      }
    }

    private static func row(_ person: Person) -> JSON {
      [
        "name": .text(person.name), "client": .text(person.client), "hash": JSON(person.hash),
        "epoch": .text(person.epoch), "created": .text(DateText.instant(person.created)),
      ]
    }

    private static func person(_ row: JSON) throws -> Person {
      guard let name = row["name"]?.textValue, let client = row["client"]?.textValue,
        (1...256).contains(client.utf8.count), !client.utf8.contains(0),
        let epoch = row["epoch"]?.textValue, let created = row["created"]?.instantValue
      else { throw GalleryError("a person in it is incomplete") }
      return Person(name: name, client: client, hash: row["hash"]?.textValue, epoch: epoch, created: created)
    }
  }
#endif
