// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

/// Submits a measurement, in a build that has them.
@inline(__always)
private func submit(
    _ engine: OpaquePointer?, on link: jelling_link, measuring procedure: @autoclosure () -> LinkProcedure?,
    _ now: Int64, _ operation: Number
) -> jelling_status {
    guard Features.linkReports else { return unsafe refuse(engine, now) }
    return unsafe submit(engine, on: link, procedure().map { .procedure($0) }, now, operation)
}

private func managedPHY(_ phy: UInt8) -> PowerPHY? { (1...4).contains(phy) ? PowerPHY(rawValue: phy) : nil }

private func pathLoss(_ pointer: UnsafePointer<jelling_path_loss_zones>?) -> LinkProcedure? {
    guard let pointer = unsafe pointer else { return .monitorPathLoss(zones: nil) }
    var zones = jelling_path_loss_zones()
    guard unsafe read(&zones, from: pointer) else { return nil }
    var wished = PathLossZones(
        low: zones.low, high: zones.high == 0 ? nil : zones.high, hysteresis: zones.low_hysteresis,
        minimumEvents: zones.minimum_events == 0 ? 10 : zones.minimum_events)
    if zones.high != 0 { wished.highHysteresis = zones.high_hysteresis }
    return .monitorPathLoss(zones: wished)
}

private func payloadTimeout(_ milliseconds: UInt32) -> LinkProcedure? {
    guard (10...655_350).contains(milliseconds) else { return nil }
    return .setAuthenticatedPayloadTimeout(.microseconds(Int64(milliseconds) * 1000))
}

@c @implementation
public func jelling_read_transmit_power(
    _ engine: Handle, _ link: Link, _ phy: UInt8, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, measuring: managedPHY(phy).map { .readTransmitPower(phy: $0) }, now, operation)
}

@c @implementation
public func jelling_read_remote_transmit_power(
    _ engine: Handle, _ link: Link, _ phy: UInt8, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link, measuring: managedPHY(phy).map { .readRemoteTransmitPower(phy: $0) }, now, operation)
}

@c @implementation
public func jelling_report_transmit_power(
    _ engine: Handle, _ link: Link, _ local: UInt32, _ remote: UInt32, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, on: link, measuring: .reportTransmitPower(local: local != 0, remote: remote != 0), now, operation)
}

@c @implementation
public func jelling_monitor_path_loss(
    _ engine: Handle, _ link: Link, _ zones: UnsafePointer<jelling_path_loss_zones>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, measuring: pathLoss(zones), now, operation)
}

@c @implementation
public func jelling_set_authenticated_payload_timeout(
    _ engine: Handle, _ link: Link, _ milliseconds: UInt32, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, measuring: payloadTimeout(milliseconds), now, operation)
}
