import Foundation
import MediaImport
import PhotoLedger

/// What went wrong, as a sentence.
func sentence(of error: any Error) -> String {
  switch error {
  case let error as LibraryError: error.description
  case let error as ImportError: error.description
  case let error as CocoaError: error.localizedDescription
  default: "\(error)"
  }
}
