// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Photos
import PhotosUI

/// A screen from which pictures are picked, and more of them are shared with the app.
@MainActor
public final class PickerScreen: UIViewController, PHPickerViewControllerDelegate {
  public private(set) var picked: [String] = []
  public private(set) var isOver = false

  public func pick(_ limit: Int) {
    var configuration = PHPickerConfiguration(photoLibrary: PHPhotoLibrary.shared())
    configuration.selectionLimit = limit
    let picker = PHPickerViewController(configuration: configuration)
    picker.delegate = self
    present(picker, animated: true)
  }

  public func picker(_ picker: PHPickerViewController, didFinishPicking results: [PHPickerResult]) {
    picked = results.compactMap(\.assetIdentifier)
    picker.dismiss(animated: true) { self.isOver = true }
  }

  public func shareMore(_ done: @escaping @Sendable ([String]) -> Void) {
    PHPhotoLibrary.shared().presentLimitedLibraryPicker(from: self, completionHandler: done)
  }

  public func shareMore() async -> [String] {
    await PHPhotoLibrary.shared().presentLimitedLibraryPicker(from: self)
  }

  public func shareMoreWithoutWaiting() {
    PHPhotoLibrary.shared().presentLimitedLibraryPicker(from: self)
  }
}
