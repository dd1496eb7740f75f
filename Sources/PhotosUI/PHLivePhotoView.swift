// A Live Photo is played in time: the delegate is told of the beginning and, when the video would be over, of the end.
// Nothing is drawn and nothing is heard.

/// How a Live Photo is played (Apple: `PHLivePhotoViewPlaybackStyle`).
public enum PHLivePhotoViewPlaybackStyle: Int, Sendable, CaseIterable {
  /// Not said.
  case undefined = 0
  /// All of it, with sound.
  case full = 1
  /// A short part without sound, to show that it is a Live Photo.
  case hint = 2
}

/// Is told when a Live Photo is played (Apple: `PHLivePhotoViewDelegate`). Everything is optional.
@MainActor @preconcurrency
public protocol PHLivePhotoViewDelegate: AnyObject {
  /// Whether it may be played.
  func livePhotoView(
    _ livePhotoView: PHLivePhotoView, canBeginPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
  ) -> Bool
  /// It is about to be played.
  func livePhotoView(
    _ livePhotoView: PHLivePhotoView, willBeginPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle)
  /// It has been played, or was stopped.
  func livePhotoView(
    _ livePhotoView: PHLivePhotoView, didEndPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle)
}

extension PHLivePhotoViewDelegate {
  /// Yes.
  public func livePhotoView(
    _ livePhotoView: PHLivePhotoView, canBeginPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
  ) -> Bool { true }
  /// Nothing is done.
  public func livePhotoView(
    _ livePhotoView: PHLivePhotoView, willBeginPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
  ) {}
  /// Nothing is done.
  public func livePhotoView(
    _ livePhotoView: PHLivePhotoView, didEndPlaybackWith playbackStyle: PHLivePhotoViewPlaybackStyle
  ) {}
}

/// Shows and plays a Live Photo (Apple: `PHLivePhotoView`); here only its time passes.
@MainActor @preconcurrency
open class PHLivePhotoView: UIView {
  /// What is shown; another one ends the playback of the former.
  open var livePhoto: PHLivePhoto? {
    didSet { if livePhoto !== oldValue { stopPlayback() } }
  }
  /// Is told of playbacks; not retained.
  open weak var delegate: (any PHLivePhotoViewDelegate)?
  /// Whether the sound is off. Nothing is heard either way.
  open var isMuted = false
  /// The part of the photo that is shown, in shares of its sides.
  open var contentsRect = CGRect(x: 0, y: 0, width: 1, height: 1)

  private var playing: (style: PHLivePhotoViewPlaybackStyle, task: Task<Void, Never>)?
  /// The longest a hint lasts, seconds.
  private static let hintLength = 1.0

  /// Plays: the delegate is told of the beginning before this returns, and of the end when the time is over.
  ///
  /// Nothing happens without a Live Photo, while one is played, and if the delegate says no.
  open func startPlayback(with playbackStyle: PHLivePhotoViewPlaybackStyle) {
    guard let livePhoto, playing == nil else { return }
    guard delegate?.livePhotoView(self, canBeginPlaybackWith: playbackStyle) ?? true else { return }
    let length = playbackStyle == .hint ? min(Self.hintLength, livePhoto.duration) : livePhoto.duration
    delegate?.livePhotoView(self, willBeginPlaybackWith: playbackStyle)
    playing = (
      playbackStyle,
      Task { [weak self] in
        // Ended early only by being cancelled, and then somebody else tells the delegate.
        guard (try? await Task.sleep(for: .seconds(length))) != nil else { return }
        self?.end()
      }
    )
  }

  /// Ends the playback; the delegate is told before this returns.
  open func stopPlayback() {
    playing?.task.cancel()
    end()
  }

  private func end() {
    guard let (style, _) = playing else { return }
    playing = nil
    delegate?.livePhotoView(self, didEndPlaybackWith: style)
  }
}
