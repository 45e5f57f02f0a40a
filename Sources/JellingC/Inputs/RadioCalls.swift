// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

extension ScanRequest {
    init?(_ pointer: UnsafePointer<jelling_scan_request>?) {
        self.init()
        guard let pointer = unsafe pointer else { return }
        var request = unsafe jelling_scan_request()
        guard unsafe read(&request, from: pointer),
            let services = unsafe uuids(request.services, request.service_count),
            let solicited = unsafe uuids(request.solicited_services, request.solicited_service_count),
            let accepted = unsafe readValues(request.accept_list, request.accept_count, { DeviceAddress($0) }),
            accepted.count <= 255
        else { return nil }
        isActive = unsafe !request.flags.has(JELLING_SCAN_PASSIVE)
        allowsDuplicates = unsafe request.flags.has(JELLING_SCAN_DUPLICATES)
        isInBackground = unsafe request.flags.has(JELLING_SCAN_BACKGROUND)
        scansCodedPHY = unsafe request.flags.has(JELLING_SCAN_CODED)
        includesUnresolvedTargets = unsafe request.flags.has(JELLING_SCAN_UNRESOLVED_TARGETS)
        acceptList = accepted
        serviceUUIDs = services
        solicitedServiceUUIDs = solicited.isEmpty ? nil : solicited
        if let pointer = unsafe request.name {
            guard let text = unsafe text(pointer) else { return nil }
            name = text
        }
        if let address = unsafe request.address { self.address = unsafe DeviceAddress(address.pointee) }
        let rssi = unsafe request.minimum_rssi
        if rssi != 0 {
            guard let limit = Int8(exactly: rssi) else { return nil }
            minimumRSSI = limit
        }
    }
}

extension ConnectRequest {
    init?(_ pointer: UnsafePointer<jelling_connect_request>?) {
        guard let pointer = unsafe pointer else { return nil }
        var request = unsafe jelling_connect_request()
        guard unsafe read(&request, from: pointer), unsafe request.retries <= 255 else { return nil }
        self.init(peer: unsafe DeviceAddress(request.peer))
        guard peer.value != 0 else { return nil }
        if unsafe request.retries != 0 { establishmentRetries = unsafe UInt8(truncatingIfNeeded: request.retries) }
        if let wished = unsafe request.parameters {
            guard let parameters = unsafe ConnectionParameterRequest(wished.pointee) else { return nil }
            self.parameters = parameters
        }
        guard unsafe request.phys <= 7, unsafe request.enhanced_bearers <= 5 else { return nil }
        if unsafe request.phys != 0 { phys = PHYSet(rawValue: unsafe request.phys) }
        if unsafe request.enhanced_bearers != 0 { enhancedBearers = unsafe request.enhanced_bearers }
        if Features.pace, let wished = unsafe request.pace {
            guard let pace = unsafe LinkPace(wished) else { return nil }
            self.pace = pace
        }
        if let wished = unsafe request.parameter_policy {
            guard let policy = unsafe ParameterPolicy(wished) else { return nil }
            parameterPolicy = policy
        }
    }
}

extension ParameterPolicy {
    /// `nil` where the kind is none, or a bound is out of its range.
    init?(_ pointer: UnsafePointer<jelling_parameter_policy>) {
        var policy = jelling_parameter_policy()
        guard unsafe read(&policy, from: pointer) else { return nil }
        switch Int(clamping: policy.kind) {
        case JELLING_PARAMETERS_ACCEPT: self = .accept
        case JELLING_PARAMETERS_REJECT: self = .reject
        case JELLING_PARAMETERS_WITHIN:
            let (shortest, longest) = (policy.minimum_interval, policy.maximum_interval)
            let (earliest, latest) = (policy.minimum_supervision_timeout, policy.maximum_supervision_timeout)
            guard 6 <= shortest, shortest <= longest, longest <= 3200, policy.maximum_latency <= 499 else { return nil }
            var timeouts: ClosedRange<SupervisionTimeout>?
            if (earliest, latest) != (0, 0) {
                guard 10 <= earliest, earliest <= latest, latest <= 3200 else { return nil }
                timeouts = SupervisionTimeout(rawValue: earliest)...SupervisionTimeout(rawValue: latest)
            }
            self = .within(
                ConnectionInterval(rawValue: shortest)...ConnectionInterval(rawValue: longest),
                latency: policy.maximum_latency, supervisionTimeout: timeouts)
        default: return nil
        }
    }
}

extension LinkPace {
    fileprivate init?(_ pointer: UnsafePointer<jelling_pace>) {
        var pace = jelling_pace()
        guard unsafe read(&pace, from: pointer), let busy = ConnectionParameterRequest(pace.busy),
            let idle = ConnectionParameterRequest(pace.idle)
        else { return nil }
        self.init(busy: busy, idle: idle)
        if pace.idle_ms != 0 { idleSpan = .microseconds(Int64(pace.idle_ms) * 1000) }
    }
}

extension AdvertiseRequest {
    init?(_ pointer: UnsafePointer<jelling_advertise_request>?) {
        self.init(.packed(localName: nil, serviceUUIDs: []))
        guard let pointer = unsafe pointer else { return }
        var request = unsafe jelling_advertise_request()
        guard unsafe read(&request, from: pointer), let content = unsafe Content(request) else { return nil }
        self.content = content
        isConnectable = unsafe !request.flags.has(JELLING_ADVERTISE_NOT_CONNECTABLE)
        isInBackground = unsafe request.flags.has(JELLING_ADVERTISE_BACKGROUND)
        resumesAfterConnection = unsafe !request.flags.has(JELLING_ADVERTISE_ONCE)
        if unsafe request.interval != 0 {
            let interval = AdvertisingInterval(rawValue: unsafe request.interval)
            guard interval >= .least, interval <= .greatest else { return nil }
            self.interval = interval
        }
        guard let peer = unsafe request.target else { return }
        let forms: [AdvertisingTarget.Form] = [.lowDutyCycle, .highDutyCycle, .extended]
        let form = unsafe Int(clamping: request.target_form)
        guard form < forms.count else { return nil }
        target = unsafe AdvertisingTarget(peer: DeviceAddress(peer.pointee), form: forms[form])
    }
}

extension AdvertiseRequest.Content {
    fileprivate init?(_ request: jelling_advertise_request) {
        if unsafe request.flags.has(JELLING_ADVERTISE_RAW) {
            guard let advertisement = unsafe octets(request.advertisement, limit: 31),
                let scanResponse = unsafe octets(request.scan_response, limit: 31)
            else { return nil }
            self = .raw(advertisement: advertisement, scanResponse: scanResponse)
            return
        }
        guard let services = unsafe uuids(request.services, request.service_count) else { return nil }
        var name: String?
        if let pointer = unsafe request.name {
            guard let text = unsafe text(pointer) else { return nil }
            name = text
        }
        self = .packed(localName: name, serviceUUIDs: services)
    }
}

extension AdvertiseRequest {
    fileprivate func octets(_ settings: AdvertisingPackerSettings) -> (advertisement: [UInt8], scanResponse: [UInt8]) {
        switch content {
        case .raw(let advertisement, let scanResponse): return (advertisement, scanResponse)
        case .packed(let name, let services):
            let packed = AdvertisingPacker.pack(
                AdvertisingContribution(
                    localName: name, serviceUUIDs: services, state: isInBackground ? .background : .foreground),
                settings: settings)
            return (packed.advertisement, packed.scanResponse)
        }
    }
}

@c @implementation
public func jelling_scan(
    _ engine: Handle, _ request: UnsafePointer<jelling_scan_request>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, ScanRequest(request).map { .radio(.scan($0)) }, now, operation)
}

@c @implementation
public func jelling_change_scan(
    _ engine: Handle, _ scan: jelling_operation, _ request: UnsafePointer<jelling_scan_request>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(
        engine, ScanRequest(request).map { .radio(.changeScan(OperationID(rawValue: scan), $0)) }, now, operation)
}

@c @implementation
public func jelling_connect(
    _ engine: Handle, _ request: UnsafePointer<jelling_connect_request>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.links, ConnectRequest(request).map { .radio(.connect($0)) }, now, operation)
}

@c @implementation
public func jelling_advertise(
    _ engine: Handle, _ request: UnsafePointer<jelling_advertise_request>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.server, AdvertiseRequest(request).map { .radio(.advertise($0)) }, now, operation)
}

@c @implementation
public func jelling_pack_advertisement(
    _ engine: Handle, _ request: UnsafePointer<jelling_advertise_request>?,
    _ packed: UnsafeMutablePointer<jelling_packed_advertisement>?
) -> Status {
    unsafe call(engine) { engine in
        guard Features.server else { return JELLING_ERROR_UNSUPPORTED }
        guard let packed = unsafe packed, let request = unsafe AdvertiseRequest(request) else {
            return JELLING_ERROR_ARGUMENT
        }
        let octets = request.octets(engine.configuration.advertising)
        var result = jelling_packed_advertisement()
        result.advertisement_length = UInt8(clamping: octets.advertisement.count)
        result.scan_response_length = UInt8(clamping: octets.scanResponse.count)
        unsafe withUnsafeMutableBytes(of: &result.advertisement) {
            unsafe $0.copyBytes(from: octets.advertisement.prefix(31))
        }
        unsafe withUnsafeMutableBytes(of: &result.scan_response) {
            unsafe $0.copyBytes(from: octets.scanResponse.prefix(31))
        }
        return unsafe write(result, to: packed)
    }
}

@c @implementation
public func jelling_change_advertising(
    _ engine: Handle, _ advertising: jelling_operation, _ request: UnsafePointer<jelling_advertise_request>?,
    _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.server,
        AdvertiseRequest(request).map { .radio(.changeAdvertising(OperationID(rawValue: advertising), $0)) },
        now, operation)
}

@c @implementation
public func jelling_cancel(_ engine: Handle, _ target: jelling_operation, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, .cancel(OperationID(rawValue: target)), now, operation)
}

@c @implementation
public func jelling_classify_channels(
    _ engine: Handle, _ channels: UInt64, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.links, .radio(.classifyChannels(ChannelMap(rawValue: channels))), now, operation)
}

@c @implementation
public func jelling_stop(_ engine: Handle, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, .stop, now, operation)
}

@c @implementation
public func jelling_hci_command(
    _ engine: Handle, _ opcode: UInt16, _ parameters: Octets, _ length: Int, _ now: Int64, _ operation: Number
) -> Status {
    let command = unsafe octets(parameters, length, limit: 255).map {
        HostCommand.sendHCICommand(opcode: HCIOpcode(rawValue: opcode), parameters: $0)
    }
    return unsafe submit(engine, command, now, operation)
}

@c @implementation
public func jelling_hold_indications(_ engine: Handle, _ isHeld: UInt32, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.links, .withholdConfirmations(isHeld != 0), now, operation)
}
