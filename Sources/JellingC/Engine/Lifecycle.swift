// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

@c @implementation
public func jelling_create(
    _ config: UnsafePointer<jelling_config>?, _ engine: UnsafeMutablePointer<OpaquePointer?>?
) -> Status {
    guard let engine = unsafe engine else { return JELLING_ERROR_ARGUMENT }
    unsafe engine.pointee = nil
    if !Features.enhancedBearers, unsafe wantsEnhancedBearers(config) { return JELLING_ERROR_UNSUPPORTED }
    guard let configuration = unsafe HostConfiguration(config) else { return JELLING_ERROR_ARGUMENT }
    let reference = unsafe Unmanaged.passRetained(Engine(configuration: configuration))
    let status = unsafe jelling_engines_add(reference.toOpaque())
    if status == JELLING_OK {
        unsafe engine.pointee = OpaquePointer(reference.toOpaque())
    } else {
        unsafe reference.release()
    }
    return status
}

private func wantsEnhancedBearers(_ pointer: UnsafePointer<jelling_config>?) -> Bool {
    guard let pointer = unsafe pointer else { return false }
    var config = unsafe jelling_config()
    return unsafe read(&config, from: pointer) && config.flags.has(JELLING_CONFIG_ENHANCED_BEARERS)
}

@c @implementation
public func jelling_destroy(_ engine: Handle) -> Status {
    let pointer = unsafe UnsafeRawPointer(engine)
    let status = unsafe jelling_engines_enter(pointer)
    guard status == JELLING_OK, let pointer = unsafe pointer else { return status }
    unsafe jelling_engines_remove(pointer)
    unsafe Unmanaged<Engine>.fromOpaque(pointer).release()
    return JELLING_OK
}

@c @implementation
public func jelling_transport_opened(_ engine: Handle, _ now: Int64) -> Status {
    unsafe input(engine, now) { engine, now in
        engine.transportOpened(at: now)
        return JELLING_OK
    }
}

@c @implementation
public func jelling_transport_closed(_ engine: Handle, _ now: Int64) -> Status {
    unsafe input(engine, now) { engine, now in
        engine.host.transportClosed(at: now)
        return JELLING_OK
    }
}

@c @implementation
public func jelling_receive(_ engine: Handle, _ packet: Octets, _ length: Int, _ now: Int64) -> Status {
    unsafe input(engine, now) { engine, now in
        guard let packet = unsafe packet, length > 0, length <= H4Framer.maximumPacketByteCount else {
            return JELLING_ERROR_ARGUMENT
        }
        unsafe engine.host.receive(UnsafeRawBufferPointer(start: packet, count: length).bytes, at: now)
        return JELLING_OK
    }
}

@c @implementation
public func jelling_receive_stream(_ engine: Handle, _ bytes: Octets, _ length: Int, _ now: Int64) -> Status {
    unsafe input(engine, now) { engine, now in
        guard let bytes = unsafe bytes, length > 0 else { return JELLING_ERROR_ARGUMENT }
        return unsafe engine.receiveStream(UnsafeRawBufferPointer(start: bytes, count: length).bytes, at: now)
    }
}

@c @implementation
public func jelling_advance(_ engine: Handle, _ now: Int64) -> Status {
    unsafe input(engine, now) { engine, now in
        engine.host.advance(to: now)
        return JELLING_OK
    }
}

@c @implementation
public func jelling_next_deadline(_ engine: OpaquePointer?, _ deadline: UnsafeMutablePointer<Int64>?) -> jelling_status
{
    unsafe call(engine) { engine in
        guard let deadline = unsafe deadline else { return JELLING_ERROR_ARGUMENT }
        unsafe deadline.pointee = engine.host.nextDeadline?.microseconds ?? -1
        return JELLING_OK
    }
}

@c @implementation
public func jelling_drain(_ engine: Handle, _ send: jelling_send?, _ context: UnsafeMutableRawPointer?) -> Status {
    unsafe call(engine) { engine in
        guard let send = unsafe send else { return JELLING_ERROR_ARGUMENT }
        engine.host.drainPackets { packet in
            unsafe packet.withUnsafeBytes {
                unsafe send(context, $0.assumingMemoryBound(to: UInt8.self).baseAddress, $0.count)
            }
        }
        return JELLING_OK
    }
}

@c @implementation
public func jelling_next_event(
    _ engine: Handle, _ event: UnsafeMutablePointer<UnsafePointer<jelling_event>?>?
) -> Status {
    unsafe call(engine) { engine in
        guard let event = unsafe event else { return JELLING_ERROR_ARGUMENT }
        unsafe event.pointee = engine.nextEvent()
        return JELLING_OK
    }
}

@c @implementation
public func jelling_set_client(_ engine: Handle, _ client: UInt32) -> Status {
    unsafe call(engine) { engine in
        engine.client = ClientID(rawValue: client)
        return JELLING_OK
    }
}

@c @implementation
public func jelling_is_ready(_ engine: Handle, _ isReady: UnsafeMutablePointer<UInt32>?) -> Status {
    unsafe call(engine) { engine in
        guard let isReady = unsafe isReady else { return JELLING_ERROR_ARGUMENT }
        unsafe isReady.pointee = engine.host.isReady ? 1 : 0
        return JELLING_OK
    }
}

@c @implementation
public func jelling_read_counters(_ engine: Handle, _ counters: UnsafeMutablePointer<jelling_counters>?) -> Status {
    unsafe call(engine) { engine in
        guard let counters = unsafe counters else { return JELLING_ERROR_ARGUMENT }
        return unsafe write(jelling_counters(engine.host.counters), to: counters)
    }
}

extension jelling_counters {
    fileprivate init(_ counters: HostCounters) {
        self.init()
        malformed_packets = counters.malformedPackets
        unexpected_events = counters.unexpectedEvents
        command_timeouts = counters.commandTimeouts
        controller_resets = counters.controllerResets
        transport_reopenings = counters.transportReopenings
        hardware_errors = counters.hardwareErrors
        desynchronisations = counters.desynchronisations
        scan_restarts = counters.scanRestarts
        advertising_reports = counters.advertisingReports
        forgotten_devices = counters.forgottenDevices
        parked_packets = counters.parkedPackets
        stray_packets = counters.strayPackets
        oversized_frames = counters.oversizedFrames
        connection_retries = counters.connectionRetries
        flooded_links = counters.floodedLinks
        stalled_links = counters.stalledLinks
        refused_cleartext = counters.refusedCleartext
        dropped_discoveries = counters.droppedDiscoveries
        dropped_values = counters.droppedValues
        missed_updates = counters.missedUpdates
        malformed_att_pdus = counters.malformedATTPDUs
        unexpected_att_responses = counters.unexpectedATTResponses
        dropped_early_notifications = counters.droppedEarlyNotifications
        data_buffer_overflows = counters.dataBufferOverflows
    }
}
