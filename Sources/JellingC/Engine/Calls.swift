import BLEHost
import BLEPackets
import CJelling

// Short names for what the exported functions have in common.
public typealias Status = jelling_status
public typealias Link = jelling_link
/// A `jelling_engine *`.
public typealias Handle = OpaquePointer?
/// Octets of a caller.
public typealias Octets = UnsafePointer<UInt8>?
/// Where a call writes the number of its operation, if it is wanted.
public typealias Number = UnsafeMutablePointer<jelling_operation>?

/// Runs a call on an engine, unless it is gone or in use.
@inline(__always)
func call(_ handle: Handle, _ body: (Engine) -> jelling_status) -> jelling_status {
    let pointer = unsafe UnsafeRawPointer(handle)
    let status = unsafe jelling_engines_enter(pointer)
    guard status == JELLING_OK, let pointer = unsafe pointer else { return status }
    let result = unsafe body(Unmanaged<Engine>.fromOpaque(pointer).takeUnretainedValue())
    unsafe jelling_engines_leave(pointer)
    return result
}

/// As `call`, with the moment of the input.
@inline(__always)
func input(
    _ handle: Handle, _ now: Int64, _ body: (Engine, Instant) -> jelling_status
) -> jelling_status {
    unsafe call(handle) { engine in
        guard now >= 0 else { return JELLING_ERROR_ARGUMENT }
        let moment = engine.moment(now)
        return body(engine, moment)
    }
}

/// Submits a command, where the caller's arguments made one.
func submit(
    _ handle: Handle, _ command: HostCommand?, _ now: Int64,
    _ operation: Number
) -> jelling_status {
    unsafe input(handle, now) { engine, now in
        guard let command else { return JELLING_ERROR_ARGUMENT }
        guard command.isBuiltIn else { return JELLING_ERROR_UNSUPPORTED }
        let number = engine.host.submit(command, from: engine.client, at: now).rawValue
        if let operation = unsafe operation { unsafe operation.pointee = number }
        return JELLING_OK
    }
}

/// Submits a command to a room of the engine. In a build without the room, the call is refused before its arguments are
/// read, and the code that reads them goes as well.
@inline(__always)
func submit(
    _ handle: Handle, to isBuiltIn: Bool, _ command: @autoclosure () -> HostCommand?, _ now: Int64,
    _ operation: Number
) -> jelling_status {
    guard isBuiltIn else { return unsafe refuse(handle, now) }
    return unsafe submit(handle, command(), now, operation)
}

/// Submits a command for a link.
@inline(__always)
func submit(
    _ handle: Handle, on link: jelling_link, _ command: @autoclosure () -> LinkCommand?, _ now: Int64,
    _ operation: Number
) -> jelling_status {
    guard Features.links else { return unsafe refuse(handle, now) }
    return unsafe submitToLink(handle, link, command(), now, operation)
}

/// Submits an operation of the GATT client.
@inline(__always)
func submit(
    _ handle: Handle, on link: jelling_link, gatt operation: @autoclosure () -> GATTOperation?, _ now: Int64,
    _ number: Number
) -> jelling_status {
    guard Features.links else { return unsafe refuse(handle, now) }
    return unsafe submitToLink(handle, link, operation().map { .gatt($0) }, now, number)
}

/// Apart from its callers, so that each of them is small.
@inline(never)
private func submitToLink(
    _ handle: Handle, _ link: jelling_link, _ command: LinkCommand?, _ now: Int64,
    _ operation: Number
) -> jelling_status {
    unsafe submit(handle, command.map { .link(LinkID(link), $0) }, now, operation)
}

/// The end of a call to a room that this build does not have.
@inline(never)
func refuse(_ handle: Handle, _ now: Int64) -> jelling_status {
    unsafe input(handle, now) { _, _ in JELLING_ERROR_UNSUPPORTED }
}
