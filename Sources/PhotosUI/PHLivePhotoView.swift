// A Live Photo is played in time only: the delegate is called at the beginning and, when the video would end, at the
// end. Nothing is drawn or heard.

/// How a Live Photo is played (Apple: `PHLivePhotoViewPlaybackStyle`).
public enum PHLivePhotoViewPlaybackStyle: Int, Sendable, CaseIterable {
  /// Not said.
  case undefined = 0
  /// All of it, with sound.
  case full = 1
  /// A short part without sound, to show that it is a Live Photo.
  case hint = 2
}

/// The delegate of a Live Photo view (Apple: `PHLivePhotoViewDelegate`). Everything is optional.
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
  /// The delegate; not retained.
  open weak var delegate: (any PHLivePhotoViewDelegate)?
  /// Whether the sound is off. Nothing is heard either way.
  open var isMuted = false
  /// The part of the photo that is shown, in shares of its sides.
  open var contentsRect = CGRect(x: 0, y: 0, width: 1, height: 1)

  private var playing: (style: PHLivePhotoViewPlaybackStyle, task: Task<Void, Never>)?
  /// The longest a hint lasts, seconds.
  private static let hintLength = 1.0

  /// Plays: the delegate is called for the beginning before this returns, and for the end when the time is over.
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
        // Ended early only by cancellation, whose caller calls the delegate.
        guard (try? await Task.sleep(for: .seconds(length))) != nil, !Task.isCancelled else { return }
        self?.end()
      }
    )
  }

  /// Ends the playback; the delegate is called before this returns.
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
