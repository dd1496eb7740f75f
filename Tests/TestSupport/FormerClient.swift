import EventLog
import Foundation
import LMDB
package import PhotoLedger

extension PhotoLibrary {
  /// Registers a client under any name, as a library did before names had to be composed.
  package func registerFormer(client name: String) throws {
    let core = store.core
    let date = core.libraryEnvironment.now()
    try core.environment.write { t in
      let information = CommitInformation(
        time: date.microseconds, client: PhotoLibrary.owner, cause: "registration", process: "former")
      var appender = try core.log.begin(information, in: &t)
      let row = ClientRow(number: appender.nextSequence, name: name, registeredDate: date)
      let event = Event.clientRegistered(row)
      let sequence = try appender.append(
        type: event.type, version: event.version, payload: event.payload(), salt: Salt(1, 2), in: &t)
      try core.projections.apply(event, sequence: sequence, commit: appender.commit, in: &t)
      _ = try appender.finish(in: &t)
    }
  }
}
