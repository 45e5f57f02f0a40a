import BLEPackets

/// The controller under a fuzzed engine: it answers every command at once, as the input wishes, and watches that the
/// engine follows the rules.
struct FuzzedController {
    /// What becomes of the next command.
    enum NextAnswer {
        case sensible
        case status(UInt8)
        case octets([UInt8])
        case silence
    }

    var next = NextAnswer.sensible
    var features: LEFeatures = [.encryption]
    var aclLength: UInt16 = 27
    var aclCount: UInt8 = 4
    var confirmsData = true
    /// The input has sent events about buffers itself, so that they can no longer be counted here.
    var isBufferCountLost = false
    /// The input has sent events that may say anything about encryption.
    var isEncryptionLost = false
    /// Links that are encrypted.
    private var encryptedLinks: [UInt16] = []
    /// Packets in the controller's buffers, by handle.
    private(set) var heldPackets: [UInt16: Int] = [:]
    /// Links that the engine has asked to end and that have not ended.
    private(set) var endingLinks: [UInt16] = []
    /// The last command of L2CAP that the engine sent on each handle, and the channels that it has called its own
    /// there.
    private(set) var lastSignal: [UInt16: [UInt8]] = [:]
    private(set) var announcedChannels: [UInt16: [UInt16]] = [:]
    /// The last frame that the engine sent on a channel of its peer's, without the length of its unit.
    private(set) var lastFrame: [UInt16: [UInt8]] = [:]
    /// The last ATT PDU that the engine sent on each handle.
    private(set) var lastPDU: [UInt16: [UInt8]] = [:]

    init(_ choice: UInt8) {
        if choice & 1 != 0 { features.insert(.extendedAdvertising) }
        if choice & 2 != 0 { features.insert(.dataPacketLengthExtension) }
        if choice & 4 != 0 { (aclLength, aclCount) = (251, 8) }
        if choice & 8 != 0 { aclCount = 1 }
    }

    mutating func linkEnded(_ handle: UInt16) {
        heldPackets[handle] = nil
        endingLinks.removeAll { $0 == handle }
        encryptedLinks.removeAll { $0 == handle }
        lastSignal[handle] = nil
        announcedChannels[handle] = nil
        lastFrame[handle] = nil
    }

    mutating func encryptionChanged(_ handle: UInt16, isOn: Bool) {
        if isOn {
            encryptedLinks.append(handle)
        } else {
            // Keys that were on their way are sent all the same; controllers end such a link.
            isEncryptionLost = true
        }
    }

    mutating func confirm(_ handle: UInt16) -> [UInt8]? {
        guard let count = heldPackets[handle], count > 0 else { return nil }
        heldPackets[handle] = nil
        return FuzzedController.completed(count, handle: handle)
    }

    static func completed(_ count: Int, handle: UInt16) -> [UInt8] {
        packet(
            NumberOfCompletedPackets(links: [
                .init(connectionHandle: ConnectionHandle(rawValue: handle), count: UInt16(clamping: count))
            ]))
    }

    static func packet(_ event: some HCIEvent) -> [UInt8] {
        var writer = PacketWriter()
        event.encodePacket(into: &writer)
        return writer.bytes
    }

    static func packet(_ event: some LEMetaEvent) -> [UInt8] {
        var writer = PacketWriter()
        event.encodePacket(into: &writer)
        return writer.bytes
    }

    /// - Returns: The answer, and what was wrong with the packet.
    mutating func answer(_ packet: [UInt8]) -> (answer: [UInt8]?, violation: String?) {
        guard packet.count >= 4 else { return (nil, "a packet without a header: \(packet)") }
        switch packet[0] {
        case H4PacketType.command.rawValue:
            guard packet.count == 4 + Int(packet[3]) else { return (nil, "a command of a wrong length: \(packet)") }
            if Array(packet[1...2]) == [0x06, 0x04], packet.count >= 6 {
                endingLinks.append(UInt16(packet[4]) | UInt16(packet[5]) << 8)
            }
            return (answer(HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)), nil)
        case H4PacketType.acl.rawValue: return answerData(packet)
        default: return (nil, "a packet of a wrong type: \(packet)")
        }
    }

    private mutating func answerData(_ packet: [UInt8]) -> (answer: [UInt8]?, violation: String?) {
        guard packet.count >= 5, packet.count == 5 + Int(packet[3]) + Int(packet[4]) << 8 else {
            return (nil, "data of a wrong length: \(packet)")
        }
        let handle = (UInt16(packet[1]) | UInt16(packet[2]) << 8) & 0x0FFF
        if packet.count > 5 + Int(aclLength) { return (nil, "data that no buffer holds: \(packet)") }
        if packet.count > 9, packet[2] >> 4 & 3 == 0, packet[7] == 4, packet[8] == 0 {
            lastPDU[handle] = Array(packet[9...])
        }
        if packet.count > 11, packet[2] >> 4 & 3 == 0, packet[7] >= 0x40 { lastFrame[handle] = Array(packet[11...]) }
        if packet.count >= 13, packet[2] >> 4 & 3 == 0, packet[7] == 5, packet[8] == 0 {
            readSignal(Array(packet[9...]), handle)
        }
        if packet.count > 9, packet[2] >> 4 & 3 == 0, packet[7] == 6, packet[8] == 0,
            let violation = checkPairing(code: packet[9], length: Int(packet[5]) + Int(packet[6]) << 8, handle)
        {
            return (nil, violation)
        }
        if confirmsData, heldPackets[handle] == nil { return (Self.completed(1, handle: handle), nil) }
        heldPackets[handle, default: 0] += 1
        let held = heldPackets.values.reduce(0, +)
        if held > Int(aclCount), !isBufferCountLost { return (nil, "\(held) packets for \(aclCount) buffers") }
        return (nil, nil)
    }

    private mutating func readSignal(_ command: [UInt8], _ handle: UInt16) {
        // Requests are what peers answer.
        if [0x06, 0x12, 0x14, 0x17, 0x19].contains(command[0]) { lastSignal[handle] = command }
        if command[0] == 0x17 || command[0] == 0x18, command.count >= 14 {
            var known = announcedChannels[handle] ?? []
            for place in stride(from: 12, to: command.count - 1, by: 2) {
                known.append(UInt16(command[place]) | UInt16(command[place + 1]) << 8)
            }
            announcedChannels[handle] = known.filter { $0 >= 0x40 }.suffix(12)
        }
        let place = command[0] == 0x14 ? 6 : 4
        guard command[0] == 0x14 || command[0] == 0x15, command.count > place + 1 else { return }
        var known = announcedChannels[handle] ?? []
        known.append(UInt16(command[place]) | UInt16(command[place + 1]) << 8)
        announcedChannels[handle] = known.suffix(8)
    }

    /// Every PDU is as long as its code says, and keys travel encrypted (Core 5.4, Vol 3, Part H, 3.5 and 3.6).
    private func checkPairing(code: UInt8, length: Int, _ handle: UInt16) -> String? {
        let expected: Int? =
            switch code {
            case 0x01, 0x02: 7
            case 0x03, 0x04, 0x06, 0x08, 0x0A, 0x0D: 17
            case 0x05, 0x0B, 0x0E: 2
            case 0x07: 11
            case 0x09: 8
            case 0x0C: 65
            default: nil
            }
        guard let expected, expected == length else { return "a pairing PDU \(code) of \(length) octets" }
        let isKey = (0x06...0x0A).contains(code)
        if isKey, !isEncryptionLost, !encryptedLinks.contains(handle) { return "the key \(code) goes out in the clear" }
        return nil
    }

    private mutating func answer(_ opcode: HCIOpcode) -> [UInt8]? {
        if opcode == Reset.opcode { (heldPackets, endingLinks) = ([:], []) }
        let wish = next
        next = .sensible
        // Refused, it says that there is no such link: what becomes of its packets is then anybody's guess.
        if case .sensible = wish {} else if opcode == Disconnect.opcode { isBufferCountLost = true }
        var parameters = PacketWriter()
        switch wish {
        case .silence: return nil
        case .status(let status):
            return Self.isAnsweredByStatus(opcode)
                ? Self.packet(CommandStatus(status: HCIStatus(rawValue: status), opcode: opcode))
                : Self.packet(CommandComplete(opcode: opcode, returnParameters: [status]))
        case .octets(let octets):
            return Self.packet(CommandComplete(opcode: opcode, returnParameters: Array(octets.prefix(200))))
        case .sensible: break
        }
        if Self.isAnsweredByStatus(opcode) { return Self.packet(CommandStatus(status: .success, opcode: opcode)) }
        switch opcode {
        case ReadBDADDR.opcode:
            ReadBDADDR.ReturnParameters(address: DeviceAddress(value: 0x0011_2233_4455, kind: .public))
                .encode(into: &parameters)
        case LEReadLocalSupportedFeatures.opcode:
            LEReadLocalSupportedFeatures.ReturnParameters(features: features).encode(into: &parameters)
        case LEReadBufferSize.opcode:
            LEReadBufferSize.ReturnParameters(aclDataPacketLength: aclLength, totalACLDataPackets: aclCount)
                .encode(into: &parameters)
        case LEReadSupportedStates.opcode:
            LEReadSupportedStates.ReturnParameters(states: 0x0000_03FF_FFFF_FFFF).encode(into: &parameters)
        case LEReadFilterAcceptListSize.opcode:
            LEReadFilterAcceptListSize.ReturnParameters(size: 4).encode(into: &parameters)
        default: parameters.write(zeros: 65)
        }
        return Self.packet(CommandComplete(opcode: opcode, returnParameters: parameters.bytes))
    }

    private static func isAnsweredByStatus(_ opcode: HCIOpcode) -> Bool {
        switch opcode {
        case LECreateConnection.opcode, LEExtendedCreateConnection.opcode, Disconnect.opcode,
            LEReadRemoteFeatures.opcode, LEConnectionUpdate.opcode, ReadRemoteVersionInformation.opcode,
            LESetPHY.opcode, LEEnableEncryption.opcode:
            true
        default: false
        }
    }
}
