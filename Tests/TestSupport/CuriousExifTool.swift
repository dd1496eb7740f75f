import Foundation
import MediaImport

/// A program under the name of exiftool that gives as the type of a file what it can read: the file, and the store of
/// the library in which the file lies: among its uploads, in a work folder of its server, or on its way in.
package enum CuriousExifTool {
  /// Whether programs run in a sandbox that keeps files away from them, and Perl is there.
  package static var isPossible: Bool {
    let layers: [SandboxLayer] = [.bubblewrap, .landlock]
    return layers.contains(SandboxLayer.active) && FileManager.default.isExecutableFile(atPath: "/usr/bin/perl")
  }

  /// Writes it into a folder. It answers as an exiftool that stays open.
  package static func write(in folder: String) throws {
    try writeProgram(script, at: folder + "/exiftool")
  }

  private static let script = #"""
    #!/usr/bin/perl
    $| = 1;
    my $path = "";
    my $inside = qr{/(?:server/uploads|server/photoledger-work-[^/]*|resources/incoming)/.*$};
    while (my $line = <STDIN>) {
      chomp $line;
      $path = $line if $line =~ m{^/};
      next unless $line =~ /^-execute(\d+)$/;
      my $number = $1;
      (my $store = $path) =~ s{$inside}{/store/data.mdb};
      my $own = open(my $first, "<", $path) ? "own" : "no-own";
      my $other = open(my $second, "<", $store) ? "STORE" : "no-store";
      print qq([{"SourceFile":"a","File:MIMEType":"$own $other"}]\n{ready$number}\n);
    }

    """#
}

/// A program under the name of exiftool that gives as the type of a file how many answers its process has given. The
/// number of its process is not its own in a sandbox.
package enum CountingExifTool {
  /// Writes it into a folder. It answers as an exiftool that stays open.
  package static func write(in folder: String) throws {
    try writeProgram(script, at: folder + "/exiftool")
  }

  private static let script = #"""
    #!/usr/bin/perl
    $| = 1;
    my $count = 0;
    while (my $line = <STDIN>) {
      next unless $line =~ /^-execute(\d+)$/;
      $count += 1;
      print qq([{"SourceFile":"a","File:MIMEType":"answer $count"}]\n{ready$1}\n);
    }

    """#
}
