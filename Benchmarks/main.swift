Command.run(CommandLine.arguments.dropFirst())
