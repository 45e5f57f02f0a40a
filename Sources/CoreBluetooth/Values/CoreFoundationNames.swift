// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

// Names of Core Foundation that programs for Core Bluetooth use, and that Foundation lacks on Linux (SPEC 6.1).

/// Seconds since 2001-01-01 00:00 UTC.
public typealias CFAbsoluteTime = Double

/// A span of time in seconds.
public typealias CFTimeInterval = Double

/// The time now.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// A UUID; `CBUUID(cfuuid:)` takes it.
public typealias CFUUID = NSUUID

/// Makes a UUID from its text; `nil` for a text that is none.
/// - Parameter allocator: ignored.
public func CFUUIDCreateFromString(_ allocator: Any?, _ text: String?) -> CFUUID? {
    text.flatMap { NSUUID(uuidString: $0) }
}

/// Makes a random UUID.
/// - Parameter allocator: ignored.
public func CFUUIDCreate(_ allocator: Any?) -> CFUUID? { NSUUID() }
