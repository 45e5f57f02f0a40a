import BLEMessages

/// What a daemon, its controllers and its clients are at.
public typealias DaemonStatus = BLEMessages.DaemonStatus
