import PhotosUI

/// Lets a person choose pictures, in an order, and keeps what was chosen before.
@MainActor
public final class PictureChooser: NSObject, PHPickerViewControllerDelegate {
  public private(set) var identifiers: [String] = []
  public private(set) var images: [String: UIImage] = [:]
  public private(set) var complaints: [String] = []

  public override init() {}

  public func makePicker() -> PHPickerViewController {
    var configuration = PHPickerConfiguration(photoLibrary: .shared())
    configuration.filter = .any(of: [.images, .not(.videos)])
    configuration.selectionLimit = 0
    configuration.selection = .ordered
    configuration.preferredAssetRepresentationMode = .current
    configuration.preselectedAssetIdentifiers = identifiers
    let picker = PHPickerViewController(configuration: configuration)
    picker.delegate = self
    return picker
  }

  public func picker(_ picker: PHPickerViewController, didFinishPicking results: [PHPickerResult]) {
    picker.dismiss(animated: true)
    identifiers = results.compactMap(\.assetIdentifier)
    for result in results {
      guard let identifier = result.assetIdentifier else { continue }
      let itemProvider = result.itemProvider
      guard itemProvider.canLoadObject(ofClass: UIImage.self) else { continue }
      itemProvider.loadObject(ofClass: UIImage.self) { object, error in
        let image = object as? UIImage
        let complaint = error?.localizedDescription
        Task { @MainActor in
          if let image { self.images[identifier] = image }
          if let complaint { self.complaints.append(complaint) }
        }
      }
    }
  }
}
