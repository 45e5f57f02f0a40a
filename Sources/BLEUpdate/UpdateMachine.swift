import BLE

/// What reaches the machine of an update.
package enum UpdateInput: Sendable, Equatable {
    /// The link is ready: characteristics are known, and notifications arrive.
    case ready
    /// A notification or indication of the control point, or of the one characteristic there is.
    case notified([UInt8])
    /// A write has left: the device has confirmed it, or the link has taken the packet. The device's time begins now.
    case written
}

/// What the machine of an update wants done, in order.
package enum UpdateAction: Sendable, Equatable {
    /// Write to the control point and wait for the response; `UpdateInput.written` follows.
    case writeControl([UInt8])
    /// Write to the packet characteristic without a response; `UpdateInput.written` follows once the link has taken it.
    case writePacket([UInt8])
    /// The device has so many octets of all.
    case progress(done: Int, total: Int)
    /// The update is done, as far as this link goes.
    case finished
    /// The update cannot go on.
    case failed(UpdateError)
}

/// One side of an update's protocol as a value: events and time in, actions out. No I/O, no clock.
package protocol UpdateMachine: Sendable {
    /// Something has happened.
    mutating func receive(_ input: UpdateInput, at now: Instant)
    /// Time has passed: timers that are due.
    mutating func advance(to now: Instant)
    /// When `advance` has something to do.
    var nextDeadline: Instant? { get }
    /// Whether the last step has been asked for, which a device may carry out by a restart without an answer.
    var restartsWithoutAnswer: Bool { get }
    /// Why the update cannot go on, as soon as that is known: actions before it need not be waited for.
    var failure: UpdateError? { get }
    /// Takes the next action; `nil` when there is none before the next input.
    mutating func nextAction() -> UpdateAction?
}

extension UpdateMachine {
    package var restartsWithoutAnswer: Bool { false }
}
