extension PhotoLibrary {
  /// The exact changes of a result since it was fetched, and from now on.
  /// - Parameters:
  ///   - result: a result of this library.
  ///   - backlogLimit: the number of touching commits that are delivered one by one before they are composed into one
  ///     change.
  public func changes<Element>(
    to result: FetchResult<Element>, composingBeyond backlogLimit: Int = 8
  ) -> ResultChanges<Element> {
    requireCorrectUse(backlogLimit >= 0, "A backlog limit must be 0 or more commits.")
    return ResultChanges(held: result, backlogLimit: backlogLimit)
  }

  /// Registers an observer of every commit from now on; the observer is not retained (OB-04).
  /// - Throws: ``LibraryError`` if the log cannot be read.
  public func register(_ observer: any PhotoLibraryChangeObserver) throws {
    try checkIsNow("observe changes")
    try store.observation.add(ObserverBox(ChangeListener(observer, client: client), for: observer))
  }

  /// Unregisters an observer.
  public func unregisterChangeObserver(_ observer: any PhotoLibraryChangeObserver) {
    store.observation.remove(observer, from: ChangeListener.self)
  }

  /// Registers an observer of the history; the observer is not retained (PH-09, OB-04).
  /// - Throws: ``LibraryError`` if the log cannot be read.
  public func register(_ observer: any PhotoLibraryPersistentChangesObserver) throws {
    try checkIsNow("observe changes")
    try store.observation.add(ObserverBox(HistoryListener(observer, of: self), for: observer))
  }

  /// Unregisters an observer of the history.
  public func unregisterPersistentChangesObserver(_ observer: any PhotoLibraryPersistentChangesObserver) {
    store.observation.remove(observer, from: HistoryListener.self)
  }
}
