import BLEPackets

/// What commands ask for of which a controller, or the engine, has little: clients that share it have limits for each.
public enum ScarceResource: Hashable, Sendable {
    case scan, advertisement, set, train, service, channel
}

/// What a command needs: a room of this build, what is scarce, memory. A new command is added here.
extension HostCommand {
    /// Whether this build has the room that carries out the command.
    package var isBuiltIn: Bool {
        switch self {
        case .radio(.scan), .radio(.changeScan), .cancel, .sendHCICommand, .stop: true
        case .radio(.connect), .radio(.classifyChannels), .link, .withholdConfirmations: Features.links
        case .channel: Features.channels
        case .radio(.advertise), .radio(.changeAdvertising), .server: Features.server
        case .radio(.advertiseSet), .radio(.changeAdvertisingSet): Features.sets
        case .radio(.followPeriodicAdvertising): Features.trains
        case .radio(.sendSubevents), .radio(.respondInPeriodicAdvertising): Features.responses
        case .radio(.receivePeriodicSyncs), .radio(.transferPeriodicSync): Features.links && Features.trains
        case .security: Features.pairing
        }
    }

    /// What the command occupies until it is undone; `nil` if there is enough of it.
    public var scarceResource: ScarceResource? {
        switch self {
        case .radio(.scan): .scan
        case .radio(.advertise): .advertisement
        case .radio(.advertiseSet): .set
        case .radio(.followPeriodicAdvertising), .radio(.receivePeriodicSyncs): .train
        case .server(.publish): .service
        case .channel(.listen), .channel(.open), .channel(.openEnhanced): .channel
        case .radio(.changeScan), .radio(.changeAdvertising), .radio(.connect), .radio(.changeAdvertisingSet),
            .radio(.transferPeriodicSync), .radio(.sendSubevents), .radio(.respondInPeriodicAdvertising),
            .radio(.classifyChannels),
            .server(.removeService), .server(.disableServices), .server(.setDeviceName), .server(.respond),
            .server(.updateValue), .channel(.stopListening), .channel(.reconfigure), .channel(.send),
            .channel(.consume), .channel(.close), .link, .security, .cancel, .withholdConfirmations, .sendHCICommand,
            .stop:
            nil
        }
    }

    /// The octets that wait with the command: those of its values, and what each of many small values costs in
    /// addition. 0 for a command that takes no more than its place in a queue.
    package var waitingOctets: Int {
        switch self {
        case .radio(let command): command.waitingOctets
        case .link(_, .gatt(let operation)): operation.waitingOctets
        case .channel(.send(_, let octets)): octets.count
        case .channel(.reconfigure(let channels, _, _)): channels.count * MemoryLayout<ChannelID>.stride
        case .server(.publish(let service)): service.octets
        case .sendHCICommand(_, let parameters): parameters.count
        // The others take no more than their place in a queue, or end at once, and what waits then has limits of its
        // own.
        default: 0
        }
    }
}

/// What an array costs beside its elements.
private let arrayOctets = 64

extension RadioCommand {
    fileprivate var waitingOctets: Int {
        switch self {
        case .scan(let request), .changeScan(_, let request):
            let uuids = request.serviceUUIDs.count + (request.solicitedServiceUUIDs?.count ?? 0)
            return uuids * MemoryLayout<BluetoothUUID>.stride + (request.name?.utf8.count ?? 0)
                + request.acceptList.count * MemoryLayout<DeviceAddress>.stride
        case .advertise(let request), .changeAdvertising(_, let request):
            switch request.content {
            case .packed(let name, let uuids):
                return (name?.utf8.count ?? 0) + uuids.count * MemoryLayout<BluetoothUUID>.stride
            case .raw(let advertisement, let scanResponse): return advertisement.count + scanResponse.count
            }
        case .advertiseSet(let request), .changeAdvertisingSet(_, let request):
            return request.data.count + request.scanResponse.count + (request.train?.data.count ?? 0)
        case .followPeriodicAdvertising(let request):
            return request.advertisers.count * MemoryLayout<PeriodicSyncRequest.Advertiser>.stride
        case .sendSubevents(let subevents, _): return subevents.reduce(0) { $0 + $1.data.count + arrayOctets }
        case .respondInPeriodicAdvertising(let response, _): return response.data.count
        case .connect, .receivePeriodicSyncs, .transferPeriodicSync, .classifyChannels: return 0
        }
    }
}

extension GATTOperation {
    fileprivate var waitingOctets: Int {
        switch self {
        case .discoverServices(let uuids), .discoverCharacteristics(_, let uuids):
            uuids.count * MemoryLayout<BluetoothUUID>.stride
        case .readMultiple(let handles), .readMultipleVariable(let handles):
            handles.count * MemoryLayout<AttributeHandle>.stride
        case .write(_, let value), .writeLong(_, let value), .writeCommand(_, let value), .writeSigned(_, let value),
            .writePart(_, _, let value, _):
            value.count
        case .reliableWrite(let writes): writes.reduce(0) { $0 + $1.value.count + arrayOctets }
        case .exchangeMTU, .discoverSecondaryServices, .discoverIncludedServices, .discoverDescriptors, .read,
            .readLong, .readUsingUUID, .subscribe, .subscribeConfirming, .confirm, .unsubscribe:
            0
        }
    }
}

extension GATTServiceDefinition {
    fileprivate var octets: Int {
        let own = arrayOctets + includedServices.count * MemoryLayout<AttributeHandle>.stride
        return characteristics.reduce(own) { sum, characteristic in
            let descriptors = characteristic.descriptors.reduce(0) { $0 + ($1.value?.count ?? 0) + arrayOctets }
            return sum + (characteristic.value?.count ?? 0) + 2 * arrayOctets + descriptors
        }
    }
}
