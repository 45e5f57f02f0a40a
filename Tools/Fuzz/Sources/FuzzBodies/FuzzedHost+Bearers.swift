import BLEHost
import BLEPackets

/// Steps about enhanced attribute bearers, on two links that a bond has encrypted: one in each role.
extension FuzzedHost {
    private static let bearerSPSM: UInt16 = 0x27
    private static let key = Key128(rawValue: 7)

    mutating func restoreBonds() {
        let bonds = [1, 2].map { number in
            Bond(
                identity: Self.peer(number), isSecureConnections: true, isAuthenticated: true,
                localKey: LongTermKey(key: Self.key), peerKey: LongTermKey(key: Self.key))
        }
        submit(.security(.restoreBonds(bonds)))
    }

    mutating func encryptLinks() {
        receive(
            FuzzedController.packet(
                LELongTermKeyRequest(
                    connectionHandle: ConnectionHandle(rawValue: Self.peripheralHandle), randomNumber: 0,
                    encryptedDiversifier: 0)))
        for handle in [Self.centralHandle, Self.peripheralHandle] { encrypt(handle) }
    }

    private mutating func encrypt(_ handle: UInt16) {
        controller.encryptionChanged(handle, isOn: true)
        receive(
            FuzzedController.packet(
                EncryptionChange(
                    status: .success, connectionHandle: ConnectionHandle(rawValue: handle),
                    state: EncryptionState(rawValue: 1))))
    }

    mutating func bearerStep(_ input: inout FuzzInput) {
        let choice = input.byte()
        let handle = choice & 0x80 == 0 ? Self.centralHandle : Self.peripheralHandle
        switch (choice & 0x7F) % 18 {
        case 0: receive(Self.data(input.counted(), channel: 4, handle: handle))
        case 1, 2, 3, 4: unit(input.counted(), &input, handle)
        case 5: requestBearers(&input, handle)
        case 6: answerSignal(&input, handle)
        case 7:
            // Reconfigure.
            var values = [23 + UInt16(input.byte()) * 4, 23 + UInt16(input.byte())]
            for _ in 0..<(input.byte() % 6) { values.append(0x40 + UInt16(input.byte() & 15)) }
            signal(0x19, input.byte(), values, handle)
        case 8: signal(0x16, input.byte(), [0x40 + UInt16(input.byte() & 15), UInt16(input.byte())], handle)
        case 9:
            signal(
                0x06, input.byte(), [ownBearer(input.byte(), handle), 0x40 + UInt16(input.byte() & 15)], handle)
        case 10, 11: answerRequest(&input, handle)
        case 12: answerPlainRequest(&input, handle)
        case 13:
            let isOn = input.byte() & 1 == 0
            controller.encryptionChanged(handle, isOn: isOn)
            receive(
                FuzzedController.packet(
                    EncryptionChange(
                        status: .success, connectionHandle: ConnectionHandle(rawValue: handle),
                        state: EncryptionState(rawValue: isOn ? 1 : 0))))
        case 14: submitChannelCommand(&input)
        case 15: advance(by: Int64(input.word()) * 1000)
        default: step(&input, handle == Self.centralHandle ? .central : .peripheral)
        }
    }

    /// A channel that the engine has called its own.
    private func ownBearer(_ octet: UInt8, _ handle: UInt16) -> UInt16 {
        pick(controller.announcedChannels[handle] ?? [], octet) ?? 0x40 + UInt16(octet & 15)
    }

    /// A PDU in one frame, or a frame whose length says something else.
    private mutating func unit(_ pdu: [UInt8], _ input: inout FuzzInput, _ handle: UInt16) {
        let flags = input.byte()
        let length = pdu.count + (flags & 0x40 == 0 ? 0 : Int(flags & 0x0F))
        let start = flags & 0x80 == 0 ? [UInt8(length & 0xFF), UInt8(length >> 8)] : []
        receive(Self.data(start + pdu, channel: ownBearer(flags & 7, handle), handle: handle))
    }

    private mutating func requestBearers(_ input: inout FuzzInput, _ handle: UInt16) {
        let (flags, sizes) = (input.byte(), input.byte())
        let spsm: UInt16 = flags & 0x80 == 0 ? Self.bearerSPSM : flags & 0x40 == 0 ? 0x80 : UInt16(input.byte())
        var values: [UInt16] = [
            spsm, 64 + UInt16(sizes & 0x3F) * 8, 64 + UInt16(sizes >> 6) * 60, UInt16(input.byte() & 7),
        ]
        for number in 0..<(1 + flags % 6) { values.append(0x40 + UInt16(input.byte() & 3) * 6 + UInt16(number)) }
        signal(0x17, input.byte(), values, handle)
    }

    /// What a peer says to the engine's last command, with its identifier.
    private mutating func answerSignal(_ input: inout FuzzInput, _ handle: UInt16) {
        guard let last = controller.lastSignal[handle], last.count >= 4 else { return }
        let (flags, sizes) = (input.byte(), input.byte())
        switch last[0] {
        case 0x17:
            let count = max(0, (last.count - 12) / 2)
            var values: [UInt16] = [
                64 + UInt16(sizes & 0x3F) * 8, 64 + UInt16(sizes >> 6) * 60, UInt16(flags & 7),
                flags & 0x80 == 0 ? 0 : UInt16(flags >> 3 & 15),
            ]
            for number in 0..<count { values.append(flags >> 3 & 1 == 0 || number > 0 ? 0x50 + UInt16(number) : 0) }
            signal(0x18, last[1], values, handle)
        case 0x19: signal(0x1A, last[1], [UInt16(flags & 7)], handle)
        case 0x06 where last.count >= 8:
            let values = [UInt16(last[4]) | UInt16(last[5]) << 8, UInt16(last[6]) | UInt16(last[7]) << 8]
            signal(0x07, last[1], values, handle)
        default: signal(0x01, last[1], [UInt16(flags & 3)], handle)
        }
    }

    /// A response that fits the engine's last request on a bearer by its opcode.
    private mutating func answerRequest(_ input: inout FuzzInput, _ handle: UInt16) {
        let contents = input.counted()
        guard let opcode = controller.lastFrame[handle]?.first else { return }
        unit(Self.response(to: opcode, contents), &input, handle)
    }

    /// The same on the bearer that every link has; this is how the engine learns that its peer has others.
    private mutating func answerPlainRequest(_ input: inout FuzzInput, _ handle: UInt16) {
        let contents = input.counted()
        guard let request = controller.lastPDU[handle], let opcode = request.first else { return }
        // Server Supported Features, with the bit for enhanced bearers.
        let asksForFeatures = opcode == 0x08 && request.suffix(2) == [0x3A, 0x2B]
        let pdu = asksForFeatures && contents.count < 4 ? [0x09, 3, 9, 0, 1] : Self.response(to: opcode, contents)
        receive(Self.data(pdu, channel: 4, handle: handle))
    }

    private static func response(to opcode: UInt8, _ contents: [UInt8]) -> [UInt8] {
        if opcode == 0x1D { return [0x1E] }
        if contents.first == 0xFF { return [0x01, opcode] + contents.dropFirst() }
        return [opcode &+ 1] + contents
    }
}
