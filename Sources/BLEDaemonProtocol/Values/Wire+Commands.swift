import BLEHost
import BLEPackets
import FoundationEssentials

extension WireRequest {
    /// A command as the client sends it; `nil` for one that this version of the protocol does not carry.
    public init?(_ command: HostCommand, operation: OperationID) {
        self.init()
        self.operation = operation.rawValue
        switch command {
        case .radio(.scan(let request)): scan = WireScan(request)
        case .radio(.changeScan(let scan, let request)):
            changeScan.operation = scan.rawValue
            changeScan.scan = WireScan(request)
        case .radio(.connect(let request)):
            connect = WireConnect(request)
        case .cancel(let operation): cancel.operation = operation.rawValue
        case .link(let link, .disconnect): disconnect.link = link.wire
        case .link(let link, .gatt(let operation)): gatt = WireGATT(operation, link: link)
        case .link(let link, .procedure(let procedure)): self.command = OneOf_Command(procedure, on: link)
        case .security(.pair(let link, let options)):
            pair.link = link.wire
            if let options { pair.options = WirePairingOptions(options) }
        case .security(.answerPairing(let question, let answer)):
            answerPairing = WireAnswerPairing(question, answer)
        case .security(.encrypt(let link)): encrypt.link = link.wire
        case .radio(.advertise(let request)): advertise = WireAdvertise(request)
        case .radio(.changeAdvertising(let advertising, let request)):
            changeAdvertising.operation = advertising.rawValue
            changeAdvertising.advertise = WireAdvertise(request)
        case .server(let command):
            guard let request = Self.command(command) else { return nil }
            self.command = request
        case .channel(let command): self.command = Self.command(command)
        case .security(.removeBond(let identity)): removeBond = WireAddress(identity)
        case .security(.nameBond(let identity, let name)):
            nameBond.identity = WireAddress(identity)
            nameBond.name = name
        case .radio(.advertiseSet(let request)): advertiseSet = WireAdvertisingSet(request)
        case .radio(.changeAdvertisingSet(let set, let request)):
            changeAdvertisingSet.operation = set.rawValue
            changeAdvertisingSet.set = WireAdvertisingSet(request)
        case .radio(.followTrain(let request)): followTrain = WireFollowTrain(request)
        case .radio(.receiveTrains(let link, let options)):
            receiveTrains.link = link.wire
            receiveTrains.options = WireTrainOptions(options)
        case .radio(.transferTrain(let operation, let link, let serviceData)):
            transferTrain.operation = operation.rawValue
            transferTrain.link = link.wire
            transferTrain.serviceData = UInt32(serviceData)
        case .radio(.sendSubevents(let subevents, let set)): sendSubevents = WireSendSubevents(subevents, of: set)
        case .radio(.respondInTrain(let response, let train)):
            respondInTrain = WireRespondInTrain(response, in: train)
        case .radio(.classifyChannels(let map)): useChannels = map.rawValue
        case .sendHCICommand(let opcode, let parameters):
            hciCommand.opcode = UInt32(opcode.rawValue)
            hciCommand.parameters = Data(parameters)
        case .security(.createOutOfBandData): createOutOfBand = WireNothing()
        case .security(.setOutOfBandData(let peer, let data)): setOutOfBand = WireSetOutOfBand(data, for: peer)
        case .security(.unlockPasskey): unlockPasskey = WireNothing()
        case .security(.setSecurity), .security(.restoreBonds), .holdIndications, .stop: return nil
        }
    }
}

extension WireRequest {
    /// The revision of the protocol that first had the request (`Welcome.revision`).
    public var revision: UInt32 {
        switch command {
        case .sendSubevents, .respondInTrain: 3
        // A daemon that does not know subevents would send or follow another train.
        case .advertiseSet(let set): set.train.hasSubevents ? 3 : 1
        case .changeAdvertisingSet(let change): change.set.train.hasSubevents ? 3 : 1
        case .followTrain(let train): train.options.subevents.isEmpty ? 1 : 3
        case .receiveTrains(let receive): receive.options.subevents.isEmpty ? 1 : 3
        case .transferTrain, .useChannels, .procedure, .hciCommand: 1
        case .createOutOfBand, .setOutOfBand, .unlockPasskey: 2
        // A daemon that does not know these fields would scan or connect otherwise than asked.
        case .scan(let scan): scan.acceptList.isEmpty ? 0 : 2
        case .changeScan(let change): change.scan.acceptList.isEmpty ? 0 : 2
        case .connect(let connect):
            if connect.hasParameterPolicy {
                3
            } else {
                connect.phys != 0 || connect.hasPace || connect.enhancedBearers != 0 ? 1 : 0
            }
        default: 0
        }
    }
}

extension HostCommand {
    /// The command that a client asks for. Operations in it have the client's own numbers.
    /// - Throws: `WireError.invalidField`, also for requests that are not for the engine: `servePairing`,
    ///   `capture` and `leave`.
    public init(_ wire: WireRequest) throws(WireError) {
        guard let command = wire.command else { throw .invalidField }
        switch command {
        case .scan(let scan): self = .radio(.scan(try ScanRequest(scan)))
        case .changeScan(let change):
            self = .radio(
                .changeScan(OperationID(rawValue: change.operation), try ScanRequest(change.scan)))
        case .connect(let connect): self = .radio(.connect(try ConnectRequest(connect)))
        case .cancel(let cancel): self = .cancel(OperationID(rawValue: cancel.operation))
        case .disconnect(let disconnect): self = .link(LinkID(wire: disconnect.link), .disconnect)
        case .gatt(let gatt): self = .link(LinkID(wire: gatt.link), .gatt(try GATTOperation(gatt)))
        case .pair(let pair):
            self = .security(
                .pair(LinkID(wire: pair.link), pair.hasOptions ? try PairingOptions(pair.options) : nil))
        case .answerPairing(let answer): self = .security(try answer.command)
        case .encrypt(let encrypt): self = .security(.encrypt(LinkID(wire: encrypt.link)))
        case .readRssi(let read): self = .link(LinkID(wire: read.link), .procedure(.readRSSI))
        case .updateParameters(let update):
            self = .link(
                LinkID(wire: update.link),
                .procedure(.updateParameters(try ConnectionParameterRequest(update.parameters))))
        case .advertise(let advertise): self = .radio(.advertise(try AdvertiseRequest(advertise)))
        case .changeAdvertising(let change):
            self = .radio(
                .changeAdvertising(
                    OperationID(rawValue: change.operation), try AdvertiseRequest(change.advertise)))
        case .publish(let service): self = .server(.publish(try GATTServiceDefinition(service)))
        case .removeService(let handle): self = .server(.removeService(try AttributeHandle(wire: handle)))
        case .respond(let response): self = .server(try response.command)
        case .updateValue(let update): self = .server(try update.command)
        case .setDeviceName(let name): self = .server(.setDeviceName(name))
        case .removeBond(let identity): self = .security(.removeBond(try DeviceAddress(identity)))
        case .nameBond(let bond):
            self = .security(.nameBond(try DeviceAddress(bond.identity), bond.name))
        case .listen(let listen): self = .channel(try listen.command)
        case .stopListening(let spsm): self = .channel(.stopListening(spsm: UInt16(clamping: spsm)))
        case .openChannel(let open):
            self = .channel(
                .open(
                    LinkID(wire: open.link), spsm: UInt16(clamping: open.spsm), try ChannelSettings(open.settings)))
        case .openEnhancedChannels(let open): self = .channel(try open.command)
        case .reconfigureChannels(let reconfigure): self = .channel(try reconfigure.command)
        case .sendOnChannel(let send):
            self = .channel(.send(ChannelID(wire: send.channel), Array(send.unit)))
        case .consumeOnChannel(let consume):
            self = .channel(.consume(ChannelID(wire: consume.channel), units: Int(clamping: consume.units)))
        case .closeChannel(let channel): self = .channel(.close(ChannelID(wire: channel)))
        case .advertiseSet(let set): self = .radio(.advertiseSet(try AdvertisingSetRequest(set)))
        case .changeAdvertisingSet(let change):
            self = .radio(
                .changeAdvertisingSet(
                    OperationID(rawValue: change.operation), try AdvertisingSetRequest(change.set)))
        case .followTrain(let train): self = .radio(.followTrain(try TrainRequest(train)))
        case .receiveTrains(let receive):
            self = .radio(.receiveTrains(LinkID(wire: receive.link), TrainOptions(receive.options)))
        case .transferTrain(let transfer):
            self = .radio(
                .transferTrain(
                    OperationID(rawValue: transfer.operation), to: LinkID(wire: transfer.link),
                    serviceData: UInt16(clamping: transfer.serviceData)))
        case .sendSubevents(let send): self = .radio(try send.command)
        case .respondInTrain(let response): self = .radio(try response.command)
        case .useChannels(let map): self = .radio(.classifyChannels(ChannelMap(rawValue: map)))
        case .procedure(let procedure):
            self = .link(LinkID(wire: procedure.link), .procedure(try LinkProcedure(procedure)))
        case .hciCommand(let command):
            guard let opcode = UInt16(exactly: command.opcode) else { throw .invalidField }
            self = .sendHCICommand(opcode: HCIOpcode(rawValue: opcode), parameters: Array(command.parameters))
        case .createOutOfBand: self = .security(.createOutOfBandData)
        case .setOutOfBand(let set):
            self = .security(.setOutOfBandData(try DeviceAddress(set.peer), try OutOfBandData(set)))
        case .unlockPasskey: self = .security(.unlockPasskey)
        case .servePairing, .capture, .leave: throw .invalidField
        }
    }
}

extension WireConnect {
    public init(_ request: ConnectRequest) {
        self.init()
        peer = WireAddress(request.peer)
        establishmentRetries = UInt32(request.establishmentRetries)
        if let parameters = request.parameters { self.parameters = WireConnectionParameters(parameters) }
        if let phys = request.phys { self.phys = UInt32(phys.rawValue) }
        enhancedBearers = UInt32(request.enhancedBearers ?? 0)
        if let policy = request.parameterPolicy { parameterPolicy = WireParameterPolicy(policy) }
        if let pace = request.pace {
            self.pace.busy = WireConnectionParameters(pace.busy)
            self.pace.idle = WireConnectionParameters(pace.idle)
            self.pace.idleMicroseconds = UInt64(clamping: pace.idleSpan.rawValue)
        }
    }
}

extension ConnectRequest {
    /// - Throws: `WireError.invalidField`.
    init(_ wire: WireConnect) throws(WireError) {
        self.init(
            peer: try DeviceAddress(wire.peer), establishmentRetries: UInt8(clamping: wire.establishmentRetries),
            parameters: wire.hasParameters ? try ConnectionParameterRequest(wire.parameters) : nil)
        if wire.phys != 0 { phys = PHYSet(wire: wire.phys) }
        if wire.enhancedBearers != 0 { enhancedBearers = UInt8(clamping: wire.enhancedBearers) }
        if wire.hasPace {
            pace = LinkPace(
                busy: try ConnectionParameterRequest(wire.pace.busy),
                idle: try ConnectionParameterRequest(wire.pace.idle),
                idleSpan: Microseconds(rawValue: Int64(clamping: wire.pace.idleMicroseconds)))
        }
        if wire.hasParameterPolicy { parameterPolicy = try ParameterPolicy(wire.parameterPolicy) }
    }
}

extension WireScan {
    public init(_ request: ScanRequest) {
        self.init()
        isActive = request.isActive
        allowsDuplicates = request.allowsDuplicates
        services = request.serviceUUIDs.map { Data($0.wire) }
        hasSolicitedServices_p = request.solicitedServiceUUIDs != nil
        solicitedServices = (request.solicitedServiceUUIDs ?? []).map { Data($0.wire) }
        if let value = request.name { name = value }
        if let value = request.minimumRSSI { minimumRssi = Int32(value) }
        if let value = request.address { address = WireAddress(value) }
        isInBackground = request.isInBackground
        scansCodedPhy = request.scansCodedPHY
        includesUnresolvedTargets = request.includesUnresolvedTargets
        acceptList = request.acceptList.map { WireAddress($0) }
    }
}

extension ScanRequest {
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireScan) throws(WireError) {
        self.init(
            isActive: wire.isActive, allowsDuplicates: wire.allowsDuplicates,
            serviceUUIDs: try BluetoothUUID.requested(wire.services), name: wire.hasName ? wire.name : nil,
            minimumRSSI: wire.hasMinimumRssi ? Int8(clamping: wire.minimumRssi) : nil,
            address: wire.hasAddress ? try DeviceAddress(wire.address) : nil, isInBackground: wire.isInBackground)
        if wire.hasSolicitedServices_p { solicitedServiceUUIDs = try BluetoothUUID.requested(wire.solicitedServices) }
        scansCodedPHY = wire.scansCodedPhy
        includesUnresolvedTargets = wire.includesUnresolvedTargets
        guard wire.acceptList.count <= Int(UInt8.max) else { throw .invalidField }
        for address in wire.acceptList { acceptList.append(try DeviceAddress(address)) }
    }
}

extension WireConnectionParameters {
    init(_ request: ConnectionParameterRequest) {
        self.init()
        minimumInterval = UInt32(request.interval.lowerBound.rawValue)
        maximumInterval = UInt32(request.interval.upperBound.rawValue)
        peripheralLatency = UInt32(request.peripheralLatency)
        supervisionTimeout = UInt32(request.supervisionTimeout.rawValue)
    }
}

extension ConnectionParameterRequest {
    init(_ wire: WireConnectionParameters) throws(WireError) {
        guard wire.minimumInterval <= wire.maximumInterval, let maximum = UInt16(exactly: wire.maximumInterval),
            let latency = UInt16(exactly: wire.peripheralLatency),
            let timeout = UInt16(exactly: wire.supervisionTimeout)
        else { throw .invalidField }
        self.init(
            interval: ConnectionInterval(
                rawValue: UInt16(wire.minimumInterval))...ConnectionInterval(rawValue: maximum),
            peripheralLatency: latency, supervisionTimeout: SupervisionTimeout(rawValue: timeout))
    }
}

extension WireGATT {
    init(_ request: GATTOperation, link: LinkID) {
        self.init()
        self.link = link.wire
        switch request {
        case .exchangeMTU(let preferred): exchangeMtu = UInt32(preferred)
        case .discoverServices(let uuids): discoverServices.uuids = uuids.map { Data($0.wire) }
        case .discoverSecondaryServices: discoverSecondaryServices = WireNothing()
        case .discoverIncludedServices(let range): discoverIncludedServices = WireRange(range)
        case .discoverCharacteristics(let range, let uuids):
            discoverCharacteristics.range = WireRange(range)
            discoverCharacteristics.uuids = uuids.map { Data($0.wire) }
        case .discoverDescriptors(let range): discoverDescriptors = WireRange(range)
        case .read(let handle): read = handle.wire
        case .readLong(let handle, let offset):
            readLong.handle = handle.wire
            readLong.offset = UInt32(offset)
        case .readUsingUUID(let uuid, let range):
            readUsingUuid.uuid = Data(uuid.wire)
            readUsingUuid.range = WireRange(range)
        case .readMultiple(let handles): readMultiple.handles = handles.map(\.wire)
        case .readMultipleVariable(let handles): readMultipleVariable.handles = handles.map(\.wire)
        case .write(let handle, let value): write = WireValue(handle, value)
        case .writeLong(let handle, let value): writeLong = WireValue(handle, value)
        case .reliableWrite(let writes): reliableWrite.values = writes.map { WireValue($0.handle, $0.value) }
        case .writeCommand(let handle, let value): writeCommand = WireValue(handle, value)
        case .writeSigned(let handle, let value): writeSigned = WireValue(handle, value)
        case .subscribe(let handle, let configuration, let mode):
            subscribe.handle = handle.wire
            subscribe.configuration = configuration.wire
            subscribe.indications = mode == .indications
        case .unsubscribe(let handle): unsubscribe = handle.wire
        }
    }
}

extension GATTOperation {
    init(_ wire: WireGATT) throws(WireError) {
        guard let operation = wire.operation else { throw .invalidField }
        switch operation {
        case .exchangeMtu(let preferred): self = .exchangeMTU(preferred: UInt16(clamping: preferred))
        case .discoverServices(let list): self = .discoverServices(uuids: try BluetoothUUID.requested(list.uuids))
        case .discoverSecondaryServices: self = .discoverSecondaryServices
        case .discoverIncludedServices(let range):
            self = .discoverIncludedServices(try AttributeHandleRange(range))
        case .discoverCharacteristics(let search):
            self = .discoverCharacteristics(
                try AttributeHandleRange(search.range), uuids: try BluetoothUUID.requested(search.uuids))
        case .discoverDescriptors(let range): self = .discoverDescriptors(try AttributeHandleRange(range))
        case .read(let handle): self = .read(try AttributeHandle(wire: handle))
        case .readLong(let read):
            guard let offset = UInt16(exactly: read.offset) else { throw .invalidField }
            self = .readLong(try AttributeHandle(wire: read.handle), offset: offset)
        case .readUsingUuid(let read):
            self = .readUsingUUID(try BluetoothUUID(wire: read.uuid), try AttributeHandleRange(read.range))
        case .readMultiple(let list): self = .readMultiple(try Self.handles(list.handles))
        case .readMultipleVariable(let list): self = .readMultipleVariable(try Self.handles(list.handles))
        case .write(let value): self = .write(try AttributeHandle(wire: value.handle), value: Array(value.value))
        case .writeLong(let value):
            self = .writeLong(try AttributeHandle(wire: value.handle), value: Array(value.value))
        case .reliableWrite(let list):
            var writes: [AttributeWrite] = []
            for value in list.values {
                writes.append(
                    AttributeWrite(handle: try AttributeHandle(wire: value.handle), value: Array(value.value)))
            }
            self = .reliableWrite(writes)
        case .writeCommand(let value):
            self = .writeCommand(try AttributeHandle(wire: value.handle), value: Array(value.value))
        case .writeSigned(let value):
            self = .writeSigned(try AttributeHandle(wire: value.handle), value: Array(value.value))
        case .subscribe(let subscription):
            self = .subscribe(
                try AttributeHandle(wire: subscription.handle),
                configuration: try AttributeHandle(wire: subscription.configuration),
                mode: subscription.indications ? .indications : .notifications)
        case .unsubscribe(let handle): self = .unsubscribe(try AttributeHandle(wire: handle))
        }
    }

    private static func handles(_ wire: [UInt32]) throws(WireError) -> [AttributeHandle] {
        var handles: [AttributeHandle] = []
        for handle in wire { handles.append(try AttributeHandle(wire: handle)) }
        return handles
    }
}
