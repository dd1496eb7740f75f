/// The help of the program and of its commands, made from their declarations.
enum Help {
  static func program(_ commands: [Command]) -> String {
    var text = """
      photoledger stores a photo library as a log of events, and delivers exact changes to observers.

      Usage: photoledger COMMAND [OPTION]… [OPERAND]…


      """
    for (title, names) in Commands.groups {
      text += "\(title)\n"
      let listed = names.compactMap { name in commands.first { $0.name == name } }
      for command in listed { text += entry(command.name, command.summary, column: 18) }
      text += "\n"
    }
    text += """
      The library is the one that --library PATH names, or PHOTOLEDGER_LIBRARY, else
      \(LibraryLocation.standardPath).
      `import FOLDER` creates it if it does not exist yet.
      Times are in UTC and end with Z; a time of a camera's clock has no zone.
      `photoledger COMMAND --help` describes a command, `photoledger --version` prints the version.
      Exit status: 0 success, 1 failure, 2 wrong usage, 128 + N ended by signal N.

      """
    return text
  }

  static func command(_ command: Command) -> String {
    var text = "photoledger \(command.name): \(command.summary).\n\n"
    let head = "Usage: "
    let indent = String(repeating: " ", count: head.count)
    let lines = usage(of: command).wrapped(at: 80 - head.count).split(separator: "\n")
    text += head + lines.joined(separator: "\n" + indent) + "\n"
    if !command.operands.isEmpty {
      text += "\nOperands:\n"
      for operand in command.operands { text += entry(operand.spelling, operand.help, column: 18) }
    }
    text += "\nOptions:\n"
    for option in command.options {
      text += entry(option.spelling, option.isRepeatable ? option.help + "; may be repeated" : option.help, column: 18)
    }
    text += entry("--help", "show this", column: 18)
    for paragraph in command.notes.split(separator: "\n\n") {
      text += "\n" + paragraph.replacing("\n", with: " ").wrapped(at: 80) + "\n"
    }
    if !command.fields.isEmpty {
      text += "\nFields:\n"
      for field in command.fields { text += entry(field.name, field.meaning, column: 18) }
    }
    return text + "\nExample:\n  photoledger \(command.example)\n"
  }

  /// How a command is called: in brackets what may be left out, in parentheses alternatives of which one is required.
  static func usage(of command: Command) -> String {
    let required = command.syntax.map { [$0] } ?? command.operands.map(\.spelling)
    let options = command.options.isEmpty ? [] : ["[OPTION]…"]
    return (["photoledger", command.name] + required + options).joined(separator: " ")
  }

  /// A name and what it means, wrapped at 80 columns.
  private static func entry(_ name: String, _ help: String, column: Int) -> String {
    let indent = String(repeating: " ", count: column)
    let wrapped = help.wrapped(at: 80 - column).split(separator: "\n").joined(separator: "\n" + indent)
    let head = "  " + name
    let gap = head.count > column - 2 ? "\n" + indent : String(repeating: " ", count: column - head.count)
    return head + gap + wrapped + "\n"
  }
}
