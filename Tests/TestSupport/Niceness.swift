package import Foundation

/// The nice value of a process (getpriority(2)).
package func niceness(of process: pid_t) -> Int32 {
  getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(process))
}
