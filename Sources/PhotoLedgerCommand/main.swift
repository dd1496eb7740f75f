import Foundation

exit(Program.run(Program.arguments))
