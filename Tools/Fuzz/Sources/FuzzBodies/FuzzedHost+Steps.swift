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
        case 6: submitOperation(&input)
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
            // Also for links that do not exist.
            let handle = UInt16(0x40 + input.byte() % 4)
            controller.linkEnded(handle)
            receive(
                FuzzedController.packet(
                    DisconnectionComplete(
                        connectionHandle: ConnectionHandle(rawValue: handle), reason: HCIStatus(rawValue: input.byte()))
                ))
        case 12: report(&input)
        case 13, 14: submitRadioCommand(&input)
        case 15: submitCommand(&input)
        case 16: submitProcedure(&input)
        case 17: transport(&input)
        case 18: buffers(&input)
        default: submitChannelCommand(&input)
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

    /// What an app does that serves, or an answer of its crypto provider.
    private mutating func serve(_ input: inout FuzzInput) {
        let choice = input.byte()
        guard choice % 5 == 4 else { return submitServerCommand(&input) }
        guard let question = pick(questions, choice >> 4) else { return }
        let result = input.counted()
        apply { $0.answer(question, with: .octets(result), at: $1) }
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

    private mutating func transport(_ input: inout FuzzInput) {
        switch input.byte() % 8 {
        case 0:
            apply { $0.transportClosed(at: $1) }
            for handle in 0x40...0x43 as ClosedRange<UInt16> { controller.linkEnded(handle) }
        case 1...4: apply { $0.transportOpened(at: $1) }
        case 5: submit(.stop)
        case 6: apply { $0.packetsLost(at: $1) }
        default: submit(.sendHCICommand(opcode: HCIOpcode(rawValue: input.word()), parameters: input.counted()))
        }
    }

    /// Buffers of the controller: withheld, returned, and returned too often.
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
}
