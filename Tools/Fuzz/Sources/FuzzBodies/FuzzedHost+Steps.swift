import BLEHost
import BLEPackets

/// What the octets of an input mean.
extension FuzzedHost {
    /// The first octet of a step chooses; in the role `bearer` only frames, fragments, answers and time.
    mutating func step(_ input: inout FuzzInput, _ role: Role) {
        let choice = input.byte() % (role == .bearer ? 8 : 20)
        let home: UInt16 = role == .peripheral ? Self.peripheralHandle : Self.centralHandle
        switch choice {
        case 0, 1:
            // An ATT PDU, on the link of this or of the other role.
            let handle = role == .bearer && choice == 1 ? Self.peripheralHandle : home
            receive(Self.data(input.counted(), channel: 4, handle: handle))
        case 2:
            let flags = input.byte()
            let handle = flags & 1 == 0 ? home : Self.peripheralHandle
            receive(Self.fragment(input.counted(), handle: handle, isStart: flags & 2 == 0))
        case 3:
            let channel = [4, 5, 6, 0x40, 0x41, 0x42, 0x3F, 0xFFFF][Int(input.byte() % 8)] as UInt16
            receive(
                Self.data(input.counted(), channel: channel, handle: role == .central ? home : Self.peripheralHandle))
        case 4: advance(by: Int64(input.word()) * 1000)
        case 5: answerLastRequest(&input, handle: home)
        case 6:
            if let link = pick(links, input.byte()) { command(&input, on: link) }
        case 7: serve(&input)
        case 8:
            controller.isBufferCountLost = true
            controller.isEncryptionLost = true
            receive([H4PacketType.event.rawValue] + input.counted())
        case 9: controllerAnswers(&input)
        case 10:
            let flags = input.byte()
            let handle = UInt16(0x40 + flags % 4)
            // A handle that is given again is that of a link which is gone, and so are its packets.
            controller.linkEnded(handle)
            receive(
                Self.connected(
                    handle: handle, peer: Int(flags >> 2 & 3), role: flags & 0x80 == 0 ? .central : .peripheral))
        case 11:
            // Also for links that nobody knows.
            let handle = UInt16(0x40 + input.byte() % 4)
            controller.linkEnded(handle)
            receive(
                FuzzedController.packet(
                    DisconnectionComplete(
                        connectionHandle: ConnectionHandle(rawValue: handle), reason: HCIStatus(rawValue: input.byte()))
                ))
        case 12: report(&input)
        case 13: submit(.radio(.connect(ConnectRequest(peer: Self.peer(Int(input.byte() % 4))))))
        case 14: scan(&input)
        case 15:
            if let operation = pick(operations, input.byte()) { submit(.cancel(operation)) }
        case 16: advertise(&input)
        case 17: transport(&input)
        case 18: buffers(&input)
        default: publish(&input)
        }
    }

    func pick<Element>(_ list: [Element], _ octet: UInt8) -> Element? {
        list.isEmpty ? nil : list[list.count - 1 - Int(octet) % list.count]
    }

    /// A response that fits the engine's last request by its opcode; what it says is the input's.
    private mutating func answerLastRequest(_ input: inout FuzzInput, handle: UInt16) {
        let contents = input.counted()
        guard let opcode = controller.lastPDU[handle]?.first else { return }
        let answer: [UInt8] =
            if opcode == 0x1D { [0x1E] } else if contents.first == 0xFF { [0x01, opcode] + contents.dropFirst() } else {
                [opcode &+ 1] + contents
            }
        receive(Self.data(answer, channel: 4, handle: handle))
    }

    private mutating func command(_ input: inout FuzzInput, on link: LinkID) {
        let choice = input.byte()
        let handle = AttributeHandle(rawValue: UInt16(input.byte()))
        let range = AttributeHandleRange(.first, AttributeHandle(rawValue: UInt16(input.byte()) | 0x10))
        let uuid = BluetoothUUID(UInt16(0x2A37))
        switch choice % 22 {
        case 0: submit(.link(link, .gatt(.discoverServices(uuids: []))))
        case 1: submit(.link(link, .gatt(.discoverServices(uuids: [BluetoothUUID(0x180D as UInt16)]))))
        case 2: submit(.link(link, .gatt(.discoverSecondaryServices)))
        case 3: submit(.link(link, .gatt(.discoverIncludedServices(range))))
        case 4: submit(.link(link, .gatt(.discoverCharacteristics(range, uuids: []))))
        case 5: submit(.link(link, .gatt(.discoverDescriptors(range))))
        case 6: submit(.link(link, .gatt(.read(handle))))
        case 7: submit(.link(link, .gatt(.readLong(handle, offset: UInt16(input.byte())))))
        case 8: submit(.link(link, .gatt(.readUsingUUID(uuid, range))))
        case 9: submit(.link(link, .gatt(.readMultiple([handle, .first]))))
        case 10: submit(.link(link, .gatt(.readMultipleVariable([handle, .first]))))
        case 11: submit(.link(link, .gatt(.write(handle, value: input.counted()))))
        case 12: submit(.link(link, .gatt(.writeLong(handle, value: input.counted() + input.counted()))))
        case 13: submit(.link(link, .gatt(.reliableWrite([AttributeWrite(handle: handle, value: input.counted())]))))
        case 14: submit(.link(link, .gatt(.writeCommand(handle, value: input.counted()))))
        case 15: submit(.link(link, .gatt(.subscribe(handle, configuration: .first, mode: .notifications))))
        case 16: submit(.link(link, .gatt(.unsubscribe(handle))))
        case 17: submit(.link(link, .gatt(.exchangeMTU(preferred: input.word()))))
        case 18: submit(.channel(.open(link, spsm: UInt16(input.byte()), ChannelSettings(credits: 2))))
        case 19:
            guard let channel = pick(channels, input.byte()) else { return }
            submit(.channel(.send(channel, input.counted())))
        case 20:
            guard let channel = pick(channels, input.byte()) else { return }
            submit(.channel(.consume(channel, units: Int(input.byte()))))
        default: linkCommand(&input, on: link)
        }
    }

    private mutating func linkCommand(_ input: inout FuzzInput, on link: LinkID) {
        switch input.byte() % 9 {
        case 0: submit(.link(link, .disconnect))
        case 1: submit(.link(link, .procedure(.readRSSI)))
        case 2: submit(.link(link, .procedure(.readRemoteVersion)))
        case 3: submit(.link(link, .procedure(.readRemoteFeatures)))
        case 4: submit(.link(link, .procedure(.readPHY)))
        case 5: submit(.link(link, .procedure(.setPHY(transmit: .le2M, receive: .le2M))))
        case 6: submit(.link(link, .procedure(.setDataLength(octets: input.word(), microseconds: input.word()))))
        case 7:
            submit(
                .link(
                    link,
                    .procedure(
                        .updateParameters(
                            ConnectionParameterRequest(
                                interval: ConnectionInterval(
                                    rawValue: 6)...ConnectionInterval(rawValue: max(6, input.word())),
                                peripheralLatency: UInt16(input.byte()),
                                supervisionTimeout: SupervisionTimeout(rawValue: input.word()))))))
        default:
            if let channel = pick(channels, input.byte()) { submit(.channel(.close(channel))) }
        }
    }

    /// What an app does that serves: answers, new values, answers of the toolbox.
    private mutating func serve(_ input: inout FuzzInput) {
        let choice = input.byte()
        switch choice % 5 {
        case 0:
            if let request = pick(requests, choice >> 4) { submit(.server(.respond(request, .value(input.counted())))) }
        case 1:
            if let request = pick(requests, choice >> 4) { submit(.server(.respond(request, .success))) }
        case 2:
            if let request = pick(requests, choice >> 4) {
                submit(.server(.respond(request, .failure(ATTError(rawValue: input.byte())))))
            }
        case 3:
            submit(
                .server(
                    .updateValue(AttributeHandle(rawValue: UInt16(input.byte())), value: input.counted(), links: nil)))
        default:
            guard let question = pick(questions, choice >> 4) else { return }
            let result = input.counted()
            apply { $0.answer(question, with: .octets(result), at: $1) }
        }
    }

    private mutating func controllerAnswers(_ input: inout FuzzInput) {
        switch input.byte() % 4 {
        case 0: controller.next = .status(input.byte())
        case 1: controller.next = .silence
        case 2: controller.next = .octets(input.counted())
        default: receive(FuzzedController.packet(HardwareError(hardwareCode: input.byte())))
        }
    }

    private mutating func report(_ input: inout FuzzInput) {
        let flags = input.byte()
        let type = LegacyAdvertisingEventType(rawValue: flags % 5)
        receive(
            FuzzedController.packet(
                LEAdvertisingReport(reports: [
                    .init(
                        eventType: type, address: Self.peer(Int(flags >> 4)), data: Array(input.counted().prefix(31)),
                        rssi: -50)
                ])))
    }

    private mutating func scan(_ input: inout FuzzInput) {
        let flags = input.byte()
        submit(
            .radio(
                .scan(
                    ScanRequest(
                        isActive: flags & 1 == 0, allowsDuplicates: flags & 2 != 0,
                        serviceUUIDs: flags & 4 != 0 ? [BluetoothUUID(0x180D as UInt16)] : [],
                        name: flags & 8 != 0 ? "Fuzz" : nil, isInBackground: flags & 16 != 0))))
    }

    private mutating func advertise(_ input: inout FuzzInput) {
        let flags = input.byte()
        let content: AdvertiseRequest.Content =
            flags & 1 == 0
            ? .packed(localName: "Fuzz", serviceUUIDs: [BluetoothUUID(UInt16(input.word()))])
            : .raw(advertisement: input.counted(), scanResponse: input.counted())
        submit(
            .radio(
                .advertise(
                    AdvertiseRequest(
                        content, isConnectable: flags & 2 == 0, isInBackground: flags & 4 != 0,
                        resumesAfterConnection: flags & 8 == 0))))
    }

    private mutating func transport(_ input: inout FuzzInput) {
        switch input.byte() % 8 {
        case 0:
            apply { $0.transportClosed(at: $1) }
            for handle in 0x40...0x43 as ClosedRange<UInt16> { controller.linkEnded(handle) }
        case 1...4: apply { $0.transportOpened(at: $1) }
        case 5: submit(.stop)
        default: submit(.sendHCICommand(opcode: HCIOpcode(rawValue: input.word()), parameters: input.counted()))
        }
    }

    /// Buffers of the controller: held back, given back, and given back too often.
    mutating func buffers(_ input: inout FuzzInput) {
        let choice = input.byte()
        let handle = UInt16(0x40 + choice >> 4 & 3)
        switch choice % 4 {
        case 0: controller.confirmsData = false
        case 1:
            controller.confirmsData = true
            for handle in 0x40...0x43 as ClosedRange<UInt16> {
                if let event = controller.confirm(handle) { receive(event) }
            }
        case 2:
            if let event = controller.confirm(handle) { receive(event) }
        default:
            controller.isBufferCountLost = true
            receive(FuzzedController.completed(Int(input.byte()), handle: handle))
        }
    }

    private mutating func publish(_ input: inout FuzzInput) {
        switch input.byte() % 4 {
        case 0: submit(.server(.publish(Self.service)))
        case 1: submit(.server(.removeService(AttributeHandle(rawValue: UInt16(input.byte())))))
        case 2: submit(.server(.setDeviceName(String(decoding: input.counted(), as: UTF8.self))))
        default: submit(.channel(.stopListening(spsm: UInt16(input.byte()))))
        }
    }
}
