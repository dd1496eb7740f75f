import Foundation

/// Writes a program that tests start, in another process: a program cannot be started while any process has it open for
/// writing, and a child that is just being made has what its parent has.
/// - Parameters:
///   - text: the script, with its interpreter in the first line.
///   - path: where it goes, in a folder that is there; a program that stands there is replaced.
package func writeProgram(_ text: String, at path: String) throws {
  try Data(text.utf8).write(to: URL(filePath: path + ".text"))
  try demand(system("install -m 755 '\(path).text' '\(path)'") == 0, "\(path) cannot be written.")
}
