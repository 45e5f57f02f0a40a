// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

private func request(_ parameters: UnsafePointer<jelling_connection_request>?) -> ConnectionParameterRequest? {
    guard let parameters = unsafe parameters else { return nil }
    return unsafe ConnectionParameterRequest(parameters.pointee)
}

private func dataLength(_ octets: UInt16, _ microseconds: UInt16) -> LinkCommand? {
    guard (27...251).contains(octets), (328...17040).contains(microseconds) else { return nil }
    return .procedure(.setDataLength(octets: octets, microseconds: microseconds))
}

private func phys(_ transmit: UInt8, _ receive: UInt8) -> LinkCommand? {
    guard (1...7).contains(transmit), (1...7).contains(receive) else { return nil }
    return .procedure(.setPHY(transmit: PHYSet(rawValue: transmit), receive: PHYSet(rawValue: receive)))
}

private func subrate(_ request: UnsafePointer<jelling_subrate_request>?) -> LinkCommand? {
    guard let request = unsafe request?.pointee, (1...500).contains(request.minimum_factor),
        (request.minimum_factor...500).contains(request.maximum_factor), request.latency < 500,
        request.continuation_number < request.maximum_factor, (10...3200).contains(request.supervision_timeout)
    else { return nil }
    return .procedure(
        .setSubrate(
            SubrateParameters(
                minimumFactor: request.minimum_factor, maximumFactor: request.maximum_factor,
                maximumLatency: request.latency, continuationNumber: request.continuation_number,
                supervisionTimeout: SupervisionTimeout(rawValue: request.supervision_timeout))))
}

@c @implementation
public func jelling_disconnect(_ engine: Handle, _ link: Link, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, on: link, .disconnect, now, operation)
}

@c @implementation
public func jelling_read_rssi(_ engine: Handle, _ link: Link, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, on: link, .procedure(.readRSSI), now, operation)
}

@c @implementation
public func jelling_read_remote_version(_ engine: Handle, _ link: Link, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, on: link, .procedure(.readRemoteVersion), now, operation)
}

@c @implementation
public func jelling_read_remote_features(_ engine: Handle, _ link: Link, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, on: link, .procedure(.readRemoteFeatures), now, operation)
}

@c @implementation
public func jelling_update_parameters(
    _ engine: Handle, _ link: Link, _ parameters: UnsafePointer<jelling_connection_request>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, request(parameters).map { .procedure(.updateParameters($0)) }, now, operation)
}

@c @implementation
public func jelling_set_data_length(
    _ engine: Handle, _ link: Link, _ octets: UInt16, _ microseconds: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, dataLength(octets, microseconds), now, operation)
}

@c @implementation
public func jelling_read_phy(_ engine: Handle, _ link: Link, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, on: link, .procedure(.readPHY), now, operation)
}

@c @implementation
public func jelling_set_phy(
    _ engine: Handle, _ link: Link, _ transmit: UInt8, _ receive: UInt8, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, phys(transmit, receive), now, operation)
}

@c @implementation
public func jelling_set_subrate(
    _ engine: Handle, _ link: Link, _ request: UnsafePointer<jelling_subrate_request>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(engine, on: link, subrate(request), now, operation)
}
