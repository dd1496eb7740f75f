import Foundation
import PhotoLedger
import TestSupport
import Testing

@testable import MediaImport

/// The layers that this machine has, the strongest first.
private let layers = SandboxLayer.allCases.filter { $0.works() }
/// Those of them that keep files away.
private let fileLayers = layers.filter { $0 == .bubblewrap || $0 == .landlock }

@Suite(
  "The sandbox of programs",
  .enabled(if: SamplePhotos.areInstalled("perl"), "Needs perl, which exiftool is written in."))
struct SandboxTests {
  /// A folder of a library with a secret, an input and a folder for the output.
  private struct Place {
    let folder: TemporaryFolder
    let secret: String
    let input: String
    let output: String

    init() throws {
      folder = try TemporaryFolder()
      secret = try folder.write("library/resources/secret", Data("secret".utf8)).description
      input = try folder.write("input", Data("input".utf8)).description
      output = folder.path + "/output"
      try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    }

    /// What a Perl program prints in a layer.
    /// - Parameter readable: what it may read besides the system's programs; nil: the input.
    func run(
      _ layer: SandboxLayer, _ program: String, memory: Int = 1 << 30, file: Int? = nil, readable: String? = nil
    ) throws -> String {
      let limits = ToolLimits(timePerFile: .seconds(180), memoryByteCount: memory, fileByteCount: file)
      let sandbox = Sandbox(layer: layer, readable: [readable ?? input], writable: [output])
      let run = ToolRun(limits: limits, isCancelled: { false }, sandbox: sandbox)
      let perl = try #require(Programs().find("perl"))
      return try run.output(of: perl, ["-e", program, secret, input, output, "\(getpid())"])
    }
  }

  @Test("this machine has a layer that protects files")
  func machine() {
    #expect(!fileLayers.isEmpty, "Only these work here: \(layers). Install bubblewrap, or a kernel with Landlock.")
    #expect(fileLayers.first == SandboxLayer.active)
  }

  @Test("a program reads its input, but not the library's folder", arguments: fileLayers)
  func files(_ layer: SandboxLayer) throws {
    let place = try Place()
    let program = """
      my ($secret, $input, $output) = @ARGV;
      print open(my $a, "<", $input) ? "input " : "no-input ";
      print open(my $b, "<", $secret) ? "SECRET " : "no-secret ";
      print opendir(my $c, "/home") && readdir($c) && -e $secret ? "LIBRARY " : "no-library ";
      print open(my $d, ">>", $input) ? "INPUT-WRITTEN " : "input-kept ";
      print open(my $e, ">", "$output/made") ? "output " : "no-output ";
      print link($secret, "$output/link") ? "LINKED " : "no-link ";
      print symlink($secret, "$output/way") && open(my $f, "<", "$output/way") ? "FOLLOWED " : "no-way ";
      print open(my $g, "<", "/etc/passwd") ? "PASSWD" : "no-passwd";
      """
    let printed = try place.run(layer, program)
    // Landlock lets a program ask whether a file exists, and does not let it be opened.
    let kept = "input no-secret no-library input-kept output no-link no-way no-passwd"
    #expect(printed.replacing("LIBRARY", with: "no-library") == kept, "\(layer): \(printed)")
    #expect(try String(contentsOfFile: place.secret, encoding: .utf8) == "secret")
  }

  @Test(
    "a program that may read every file writes only into its folder, and not among the devices", arguments: fileLayers)
  func readers(_ layer: SandboxLayer) throws {
    let place = try Place()
    let name = "photoledger-test-\(getpid())"
    let program = """
      my ($secret, $input, $output) = @ARGV;
      print open(my $a, "<", $secret) ? "secret " : "NO-SECRET ";
      print open(my $b, ">", "$output/made") ? "output " : "NO-OUTPUT ";
      print open(my $c, ">>", "/dev/null") ? "null " : "NO-NULL ";
      print open(my $d, ">>", $input) ? "INPUT-WRITTEN " : "input-kept ";
      for my $folder ("/dev", "/dev/shm", "/tmp", "/") {
        print open(my $e, ">", "$folder/\(name)") ? "WRITTEN:$folder " : "kept:$folder ";
      }
      """
    let printed = try place.run(layer, program, readable: "/")
    #expect(printed == "secret output null input-kept kept:/dev kept:/dev/shm kept:/tmp kept:/ ", "\(layer)")
  }

  @Test(
    "a program creates no socket, no process, no signal, and no group of its own",
    arguments: layers.filter { $0 != .none })
  func calls(_ layer: SandboxLayer) throws {
    let place = try Place()
    let program = """
      use Socket; use POSIX ();
      my $parent = $ARGV[3];
      print socket(my $a, PF_INET, SOCK_STREAM, 0) ? "INTERNET " : "no-internet ";
      print socket(my $b, PF_UNIX, SOCK_STREAM, 0) ? "UNIX " : "no-unix ";
      print socketpair(my $c, my $d, AF_UNIX, SOCK_STREAM, PF_UNSPEC) ? "PAIR " : "no-pair ";
      my $child = fork(); if (defined $child && $child == 0) { exit 0 }
      print defined $child ? "PROCESS " : "no-process ";
      print kill(0, $parent) ? "SIGNAL " : "no-signal ";
      print POSIX::setsid() > 0 ? "SESSION" : "no-session";
      """
    let printed = try place.run(layer, program)
    #expect(printed == "no-internet no-unix no-pair no-process no-signal no-session")
  }

  @Test(
    "a program changes no scheduling, sends no batch of messages, and creates no file as a device is created",
    arguments: layers.filter { $0 != .none })
  func furtherCalls(_ layer: SandboxLayer) throws {
    let place = try Place()
    // sched_setscheduler, sched_setparam, sched_setattr, sendmmsg, recvmmsg, and mknod where there is one. With these
    // arguments the kernel lets every user call them for its own process.
    #if arch(x86_64)
      let numbers = "144, 142, 314, 307, 299, 133"
    #else
      let numbers = "119, 118, 274, 269, 243"
    #endif
    let program = """
      use Errno;
      my @numbers = (\(numbers));
      my ($parameter, $attributes) = (pack("l2", 0, 0), pack("L2 Q l L Q3", 48, 0, 0, 0, 0, 0, 0, 0));
      my @arguments = (
        [0, 0, $parameter], [0, $parameter], [0, $attributes, 0], [0, 0, 0], [0, 0, 0], ["$ARGV[2]/made", 0100600, 0]);
      for my $index (0..$#numbers) {
        my ($number, $first, $second, $third) = ($numbers[$index], @{$arguments[$index]}, 0);
        my $result = syscall($number, $first, $second, $third, 0, 0);
        print $result < 0 && $!{EPERM} ? "denied " : "ALLOWED:$number ";
      }
      """
    let count = numbers.split(separator: ",").count
    #expect(try place.run(layer, program) == String(repeating: "denied ", count: count), "\(layer)")
    #expect(!FileManager.default.fileExists(atPath: place.output + "/made"))
  }

  @Test(
    "a program changes no file that it may only read, nor any mode, owner or time",
    arguments: layers.filter { $0 != .none })
  func changes(_ layer: SandboxLayer) throws {
    let place = try Place()
    chmod(place.input, 0o640)
    let before = try FileManager.default.attributesOfItem(atPath: place.input)
    // The file of the own folder shows that the program may write there, and that the filter alone denies the rest.
    let program = """
      use Fcntl;
      my ($secret, $input, $output, $parent) = @ARGV;
      open(my $own, ">", "$output/own"); print $own "own"; close $own;
      open(my $a, ">>", "$output/own");
      print truncate($a, 1) ? "shortened " : "NOT-SHORTENED ";
      for my $path ($input, "$output/own") {
        print chmod(0777, $path) ? "MODE " : "no-mode ";
        print utime(1, 1, $path) ? "TIME " : "no-time ";
        print chown($<, $(, $path) ? "OWNER " : "no-owner ";
        print truncate($path, 0) ? "LENGTH " : "no-length ";
        print sysopen(my $b, $path, O_RDONLY | O_TRUNC) ? "EMPTIED " : "no-emptying ";
        print sysopen(my $c, $path, 3 | O_TRUNC) ? "EMPTIED " : "no-emptying ";
        open(my $d, "<", $path);
        print chmod(0777, $d) ? "MODE " : "no-mode ";
        print fcntl($d, F_SETOWN, $$) ? "SIGNALS " : "no-signals ";
      }
      print sysopen(my $e, "$output/own", O_WRONLY | O_TRUNC) ? "emptied " : "NOT-EMPTIED ";
      print kill("TERM", 0) ? "GROUP" : "no-group";
      """
    let printed = try place.run(layer, program)
    let kept = "no-mode no-time no-owner no-length no-emptying no-emptying no-mode no-signals "
    #expect(printed == "shortened " + kept + kept + "emptied no-group", "\(layer)")
    let after = try FileManager.default.attributesOfItem(atPath: place.input)
    for key in [FileAttributeKey.size, .posixPermissions, .modificationDate] {
      #expect(after[key] as? NSObject == before[key] as? NSObject, "\(key)")
    }
  }

  @Test(
    "an exiftool that was unpacked from its archive reads its modules, but no file beside them", arguments: fileLayers)
  func unpacked(_ layer: SandboxLayer) throws {
    let folder = try TemporaryFolder()
    let module = "package Image::ExifTool; sub found { return 'module' } 1;\n"
    _ = try folder.write("tools/lib/Image/ExifTool.pm", Data(module.utf8))
    let secret = try folder.write("tools/secret", Data("secret".utf8)).description
    let program = #"""
      #!/usr/bin/perl
      BEGIN {
        my $self = -l $0 ? readlink $0 : $0;
        unshift @INC, "$1/lib" if $self =~ m{(.*)/};
      }
      use Image::ExifTool;
      print Image::ExifTool::found(), open(my $file, "<", $ARGV[0]) ? " SECRET" : " no-secret";

      """#
    try writeProgram(program, at: folder.path + "/tools/exiftool")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link", withDestinationPath: folder.path + "/tools")
    try FileManager.default.createDirectory(atPath: folder.path + "/bin", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/bin/exiftool", withDestinationPath: folder.path + "/tools/exiftool")
    let limits = ToolLimits(timePerFile: .seconds(180), memoryByteCount: 1 << 30)
    let run = ToolRun(limits: limits, isCancelled: { false }, sandbox: Sandbox(layer: layer))
    for place in ["tools", "link", "bin"] {
      let printed = try run.output(of: "\(folder.path)/\(place)/exiftool", [secret])
      #expect(printed == "module no-secret", "\(layer), \(place)")
    }
  }

  @Test("memory and the size of files are limited in every layer", arguments: layers)
  func limits(_ layer: SandboxLayer) throws {
    let place = try Place()
    #expect(throws: ImportError.self) {
      try place.run(layer, "my $a = 'x' x (1 << 30); print length $a", memory: 1 << 28)
    }
    let error = #expect(throws: ImportError.self) {
      try place.run(layer, "open(my $a, '>', \"$ARGV[2]/big\"); print $a 'x' x (1 << 21); close $a", file: 1 << 20)
    }
    #expect(error?.code == .toolFailed)
    let size = try FileManager.default.attributesOfItem(atPath: place.output + "/big")[.size] as? Int ?? 0
    #expect(size <= 1 << 20)
    #expect(try place.run(layer, "print 'whole'") == "whole")
  }

  @Test("a program has the scheduling policy of the process, and the priority that is asked for", arguments: layers)
  func scheduling(_ layer: SandboxLayer) async throws {
    let perl = try #require(Programs().find("perl"))
    let usual = niceness(of: getpid())
    for lower in [0, 10] as [Int32] {
      let seen = try await onThread { () throws -> [Int32] in
        var parameter = sched_param()
        // SCHED_BATCH, as the threads of connections have it.
        let code = sched_setscheduler(0, 3, &parameter)
        try demand(code == 0, "The policy of the thread cannot be set.")
        let child = try ChildProcess(
          executable: perl, arguments: ["-e", "sleep 1000"], memoryByteCount: 1 << 30, niceness: lower,
          sandbox: Sandbox(layer: layer))
        let seen = [sched_getscheduler(child.identifier), niceness(of: child.identifier)]
        let hasEnded = child.hasEnded
        try demand(!hasEnded, "The program has ended.")
        return seen
      }
      #expect(seen == [sched_getscheduler(getpid()), min(19, usual + lower)], "\(layer)")
    }
  }

  @Test("the child ends with its parent's end of the lifeline, and with its value", arguments: layers)
  func ending(_ layer: SandboxLayer) throws {
    let perl = try #require(Programs().find("perl"))
    let identifier: pid_t
    do {
      let child = try ChildProcess(
        executable: perl, arguments: ["-e", "$SIG{TERM} = 'IGNORE'; print 'on'; $| = 1; print ' '; sleep 1000"],
        memoryByteCount: 1 << 30, sandbox: Sandbox(layer: layer))
      identifier = child.identifier
      var buffer = [UInt8](repeating: 0, count: 16)
      let read = buffer.withUnsafeMutableBytes { child.read(into: $0, before: .now + .seconds(180)) }
      #expect(read != .timeout)
    }
    #expect(kill(identifier, 0) != 0 && errno == ESRCH)
  }

  @Test("an exiftool outlives the thread that started it", arguments: layers)
  func threads(_ layer: SandboxLayer) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.jpg", TinyMedia.jpeg())
    let tool = try ExifTool(processCount: 1, sandbox: Sandbox(layer: layer, readable: ["/"]))
    for _ in 0..<3 {
      let answers = try await onThreads([path], width: 1) { path throws(ImportError) in try tool.tags(of: path) }
      #expect(answers.first?.text("Model") == "Test Camera", "\(layer)")
    }
  }
}
