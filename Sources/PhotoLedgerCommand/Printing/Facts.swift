/// Names and values, one a line.
struct Facts {
  let terminal: Terminal
  private(set) var text = ""

  init(terminal: Terminal) { self.terminal = terminal }

  /// Adds a line, unless there is nothing to say.
  mutating func add(_ name: String, _ value: String?) {
    guard let value, !value.isEmpty else { return }
    text += terminal.styled(TextLayout.fitted(name, 18), .faint) + TextLayout.printable(value) + "\n"
  }
}
