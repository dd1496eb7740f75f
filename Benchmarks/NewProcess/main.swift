// The new process of the rows S8 and S21: `benchmarks` starts it for each repetition.
//
// A program of its own, since it links the core alone. `benchmarks` links `Photos`, and with it FoundationNetworking,
// libcurl and thirty libraries more: to load them took 40 % of the time from its start to its end.

let start = ContinuousClock.now
NewProcess.run(Array(CommandLine.arguments.dropFirst()), since: start)
