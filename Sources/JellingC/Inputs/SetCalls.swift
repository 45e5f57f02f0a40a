// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

extension AdvertisingSetRequest {
    fileprivate init?(_ pointer: UnsafePointer<jelling_set_request>?) {
        self.init()
        guard let pointer = unsafe pointer else { return nil }
        var request = unsafe jelling_set_request()
        guard unsafe read(&request, from: pointer),
            let data = unsafe octets(request.data, limit: Self.longestData),
            let scanResponse = unsafe octets(request.scan_response, limit: Self.longestData)
        else { return nil }
        self.data = data
        self.scanResponse = scanResponse
        let flags = unsafe request.flags
        usesLegacyPDUs = flags.has(JELLING_SET_LEGACY)
        isConnectable = flags.has(JELLING_SET_CONNECTABLE)
        isScannable = flags.has(JELLING_SET_SCANNABLE)
        isAnonymous = flags.has(JELLING_SET_ANONYMOUS)
        includesTransmitPower = flags.has(JELLING_SET_POWER)
        resumesAfterConnection = !flags.has(JELLING_SET_ONCE)
        if flags.has(JELLING_SET_HAS_IDENTIFIER) { identifier = unsafe request.identifier }
        if flags.has(JELLING_SET_HAS_POWER) { transmitPower = unsafe request.power }
        if unsafe request.interval != 0 { interval = ExtendedAdvertisingInterval(rawValue: unsafe request.interval) }
        if unsafe request.duration != 0 { duration = .microseconds(unsafe Int64(request.duration) * 1000) }
        if unsafe request.primary_phy != 0 { primaryPHY = PHY(rawValue: unsafe request.primary_phy) }
        if unsafe request.secondary_phy != 0 { secondaryPHY = PHY(rawValue: unsafe request.secondary_phy) }
        maximumEvents = unsafe request.maximum_events
        if let address = unsafe request.address { self.address = unsafe DeviceAddress(address.pointee) }
        if let train = unsafe request.train {
            guard let train = unsafe PeriodicAdvertising(train) else { return nil }
            self.train = train
        }
    }
}

extension PeriodicAdvertising {
    fileprivate init?(_ pointer: UnsafePointer<jelling_train>) {
        var train = unsafe jelling_train()
        guard unsafe read(&train, from: pointer),
            let data = unsafe octets(train.data, limit: AdvertisingSetRequest.longestData)
        else { return nil }
        self.init(data: data)
        if unsafe train.interval != 0 { interval = PeriodicAdvertisingInterval(rawValue: unsafe train.interval) }
        includesDataInformation = unsafe train.flags.has(JELLING_TRAIN_DATA_INFORMATION)
        includesTransmitPower = unsafe train.flags.has(JELLING_TRAIN_POWER)
        if unsafe train.subevent_count != 0 {
            guard Features.responses else { return nil }
            subevents = unsafe PeriodicSubevents(train)
        }
    }
}

extension PeriodicSubevents {
    fileprivate init(_ train: jelling_train) {
        unsafe self.init(
            count: train.subevent_count, responseSlotDelay: train.response_slot_delay,
            responseSlotSpacing: train.response_slot_spacing, responseSlotCount: train.response_slot_count)
        if unsafe train.subevent_interval != 0 { interval = unsafe train.subevent_interval }
    }
}

extension SubeventData {
    fileprivate init?(_ item: jelling_subevent_data) {
        guard let data = unsafe octets(item.data, limit: Self.longestData) else { return nil }
        unsafe self.init(
            subevent: item.subevent, firstResponseSlot: item.first_response_slot,
            responseSlotCount: item.response_slot_count, data: data)
    }
}

extension PeriodicResponse {
    fileprivate init?(_ pointer: UnsafePointer<jelling_train_response>?) {
        guard let pointer = unsafe pointer else { return nil }
        var response = unsafe jelling_train_response()
        guard unsafe read(&response, from: pointer), let data = unsafe octets(response.data, limit: Self.longestData)
        else { return nil }
        unsafe self.init(
            toEvent: response.event, subevent: response.subevent, in: response.response_subevent, slot: response.slot,
            data: data)
    }
}

extension PeriodicSyncRequest {
    fileprivate init?(_ pointer: UnsafePointer<jelling_train_request>?) {
        self.init([])
        guard let pointer = unsafe pointer else { return }
        var request = unsafe jelling_train_request()
        guard unsafe read(&request, from: pointer),
            let sources = unsafe readValues(request.sources, request.source_count, { Advertiser($0) })
        else { return nil }
        advertisers = sources
        scansCodedPHY = unsafe request.flags.has(JELLING_FOLLOW_CODED)
        resumesAfterLoss = unsafe !request.flags.has(JELLING_FOLLOW_ONCE)
        options.reportsOnlyChanges = unsafe request.flags.has(JELLING_FOLLOW_CHANGES)
        options.skip = unsafe request.skip
        if unsafe request.timeout != 0 { options.timeout = SupervisionTimeout(rawValue: unsafe request.timeout) }
        guard let subevents = unsafe octets(request.subevents, request.subevent_count, limit: 128) else { return nil }
        guard !subevents.isEmpty else { return }
        guard Features.responses else { return nil }
        options.subevents = subevents
    }
}

extension PeriodicSyncRequest.Advertiser {
    fileprivate init?(_ source: jelling_train_source) {
        self.init(address: DeviceAddress(source.address), identifier: source.identifier)
    }
}

private func receiving(_ link: jelling_link, _ request: UnsafePointer<jelling_train_request>?) -> HostCommand? {
    guard let request = unsafe PeriodicSyncRequest(request), request.advertisers.isEmpty else { return nil }
    return .radio(.receivePeriodicSyncs(LinkID(link), request.options))
}

@c @implementation
public func jelling_advertise_set(
    _ engine: Handle, _ request: UnsafePointer<jelling_set_request>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.sets, AdvertisingSetRequest(request).map { .radio(.advertiseSet($0)) }, now, operation)
}

@c @implementation
public func jelling_change_set(
    _ engine: Handle, _ set: jelling_operation, _ request: UnsafePointer<jelling_set_request>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.sets,
        AdvertisingSetRequest(request).map { .radio(.changeAdvertisingSet(OperationID(rawValue: set), $0)) }, now,
        operation)
}

@c @implementation
public func jelling_follow_train(
    _ engine: Handle, _ request: UnsafePointer<jelling_train_request>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.trains, PeriodicSyncRequest(request).map { .radio(.followPeriodicAdvertising($0)) }, now,
        operation)
}

@c @implementation
public func jelling_receive_trains(
    _ engine: Handle, _ link: Link, _ request: UnsafePointer<jelling_train_request>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.links && Features.trains, receiving(link, request), now, operation)
}

@c @implementation
public func jelling_send_subevents(
    _ engine: Handle, _ set: jelling_operation, _ subevents: UnsafePointer<jelling_subevent_data>?, _ count: Int,
    _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.responses,
        readValues(subevents, count) { unsafe SubeventData($0) }.map {
            .radio(.sendSubevents($0, of: OperationID(rawValue: set)))
        }, now, operation)
}

@c @implementation
public func jelling_respond_in_train(
    _ engine: Handle, _ train: jelling_operation, _ response: UnsafePointer<jelling_train_response>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.responses,
        PeriodicResponse(response).map { .radio(.respondInPeriodicAdvertising($0, in: OperationID(rawValue: train))) },
        now, operation)
}

@c @implementation
public func jelling_transfer_train(
    _ engine: Handle, _ train: jelling_operation, _ link: Link, _ serviceData: UInt16, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.links && Features.trains,
        .radio(.transferPeriodicSync(OperationID(rawValue: train), to: LinkID(link), serviceData: serviceData)), now,
        operation)
}
