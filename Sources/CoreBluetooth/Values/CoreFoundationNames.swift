// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized, NeverUseImplicitlyUnwrappedOptionals

import Dispatch
import Foundation

// Names of Core Foundation that programs use with Core Bluetooth, and that Foundation lacks on Linux (SPEC 6.1).

/// Seconds since 2001-01-01 00:00 UTC.
public typealias CFAbsoluteTime = Double

/// A duration in seconds.
public typealias CFTimeInterval = Double

/// Returns the current time.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// A UUID, for `CBUUID(cfuuid:)`.
public typealias CFUUID = NSUUID

/// The older name of a queue's type.
public typealias dispatch_queue_t = DispatchQueue

/// Creates a UUID from its text; `nil` if the text is not a UUID.
/// - Parameter allocator: ignored.
public func CFUUIDCreateFromString(_ allocator: Any?, _ text: String?) -> CFUUID! {
    text.flatMap { NSUUID(uuidString: $0) }
}

/// Creates a random UUID.
/// - Parameter allocator: ignored.
public func CFUUIDCreate(_ allocator: Any?) -> CFUUID! { NSUUID() }
