import BLEPackets
import BLESimulator
import Testing

@Suite("The attribute server of a simulated device")
struct DeviceTests {
    static let address = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
    static let long = BluetoothUUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)

    /// Handles: 1 service FFE0; 2/3 FFE1 with 4 (configuration) and 5 (description); 6/7 FFE2; 8/9 FFE3;
    /// 10/11 FFE4 with 12; 0x20 service of 128 bits, which includes the first at 0x21; 0x22/0x23.
    static let peripheral = SimulatedPeripheral(
        name: "Tried", address: address,
        services: [
            SimulatedService(
                BluetoothUUID(0xFFE0 as UInt16),
                characteristics: [
                    SimulatedCharacteristic(
                        BluetoothUUID(0xFFE1 as UInt16), [.read, .write, .notify], value: (0..<60).map { $0 },
                        descriptors: [SimulatedDescriptor(BluetoothUUID(0x2901 as UInt16), value: Array("One".utf8))]),
                    SimulatedCharacteristic(
                        BluetoothUUID(0xFFE2 as UInt16), [.write, .writeWithoutResponse], maximumLength: 4,
                        refuse: { $0.first == 0xEE ? ATTError(rawValue: 0x81) : nil }),
                    SimulatedCharacteristic(
                        BluetoothUUID(0xFFE3 as UInt16), [.read, .write], value: [1],
                        permissions: [.readEncrypted, .writeAuthenticated]),
                    SimulatedCharacteristic(
                        BluetoothUUID(0xFFE4 as UInt16), [.read, .indicate],
                        readValue: { count in [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 30) }),
                ]),
            SimulatedService(
                long, isPrimary: true, includedServices: [BluetoothUUID(0xFFE0 as UInt16)],
                characteristics: [SimulatedCharacteristic(long, [.read], value: [7])], startHandle: 0x20),
        ], hasGenericServices: false)

    let air = SimulatedAir()
    let host: TestHost
    let device: SimulatedDeviceID
    let link: ConnectionHandle

    init() throws {
        host = .ready(air)
        device = air.addPeripheral(Self.peripheral)
        link = try host.connect(to: Self.address)
    }

    private func ask(_ pdu: [UInt8]) -> [UInt8]? { host.request(pdu, on: link) }

    private func error(_ opcode: UInt8, _ handle: UInt16, _ code: UInt8) -> [UInt8] {
        [0x01, opcode] + octets(handle) + [code]
    }

    // MARK: Discovery

    @Test("services come by group, those of one width together")
    func services() {
        #expect(ask([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]) == [0x11, 6, 1, 0, 12, 0, 0xE0, 0xFF])
        let answer = ask([0x10, 13, 0, 0xFF, 0xFF, 0, 0x28])
        #expect(answer?.prefix(6) == [0x11, 20, 0x20, 0, 0x23, 0])
        #expect(answer?.dropFirst(6).prefix(4) == [0x10, 0x32, 0x54, 0x76])
        #expect(ask([0x10, 0x24, 0, 0xFF, 0xFF, 0, 0x28]) == error(0x10, 0x24, 0x0A))
        #expect(ask([0x10, 1, 0, 0xFF, 0xFF, 3, 0x28]) == error(0x10, 1, 0x10))
    }

    @Test("services are found by their UUID, includes and characteristics by their type")
    func byType() {
        #expect(ask([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0xE0, 0xFF]) == [0x07, 1, 0, 12, 0])
        #expect(ask([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0xE9, 0xFF]) == error(0x06, 1, 0x0A))
        #expect(ask([0x08, 0x20, 0, 0x23, 0, 2, 0x28]) == [0x09, 8, 0x21, 0, 1, 0, 12, 0, 0xE0, 0xFF])
        #expect(
            ask([0x08, 1, 0, 12, 0, 3, 0x28])
                == [0x09, 7, 2, 0, 0x1A, 3, 0, 0xE1, 0xFF, 6, 0, 0x0C, 7, 0, 0xE2, 0xFF, 8, 0, 0x0A, 9, 0, 0xE3, 0xFF])
        #expect(ask([0x08, 10, 0, 12, 0, 3, 0x28]) == [0x09, 7, 10, 0, 0x22, 11, 0, 0xE4, 0xFF])
    }

    @Test("a value is read by its type, and a refusal names its handle")
    func readByType() {
        #expect(ask([0x08, 1, 0, 12, 0, 0xE3, 0xFF]) == error(0x08, 9, 0x0F))
        #expect(ask([0x08, 1, 0, 12, 0, 0x01, 0x29]) == [0x09, 5, 5, 0] + Array("One".utf8))
    }

    @Test("descriptors come with their UUIDs, 16 and 128 bits apart")
    func descriptors() {
        #expect(ask([0x04, 4, 0, 5, 0]) == [0x05, 1, 4, 0, 0x02, 0x29, 5, 0, 0x01, 0x29])
        #expect(ask([0x04, 0x23, 0, 0x23, 0])?.prefix(4) == [0x05, 2, 0x23, 0])
        #expect(ask([0x04, 0x22, 0, 0xFF, 0xFF]) == [0x05, 1, 0x22, 0, 0x03, 0x28])
        #expect(ask([0x04, 13, 0, 14, 0]) == error(0x04, 13, 0x0A))
    }

    @Test("invalid ranges are refused with Invalid Handle", arguments: [0x04, 0x08, 0x10] as [UInt8])
    func ranges(opcode: UInt8) {
        let type: [UInt8] = opcode == 0x04 ? [] : [0, 0x28]
        #expect(ask([opcode, 0, 0, 5, 0] + type) == error(opcode, 0, 0x01))
        #expect(ask([opcode, 6, 0, 5, 0] + type) == error(opcode, 6, 0x01))
    }

    // MARK: Reading and writing

    @Test("the MTU is the smaller of both, never below 23")
    func mtu() {
        #expect(ask([0x0A, 3, 0])?.count == 23)
        #expect(ask([0x02, 10, 0]) == [0x03, 0x05, 0x02])
        #expect(air.statistics(of: device).mtu == 23)
        #expect(ask([0x02, 50, 0]) == [0x03, 0x05, 0x02])
        #expect(ask([0x0A, 3, 0])?.count == 50)
    }

    @Test("a long value is read in pieces, until an empty one; beyond its end there is an error")
    func blob() {
        #expect(ask([0x0C, 3, 0, 22, 0]) == [0x0D] + (22..<44).map { UInt8($0) })
        #expect(ask([0x0C, 3, 0, 44, 0]) == [0x0D] + (44..<60).map { UInt8($0) })
        #expect(ask([0x0C, 3, 0, 60, 0]) == [0x0D])
        #expect(ask([0x0C, 3, 0, 61, 0]) == error(0x0C, 3, 0x07))
    }

    @Test("a value that changes with each read stays the same within a long one")
    func changingValue() {
        #expect(ask([0x0A, 11, 0]) == [0x0B] + [UInt8](repeating: 0, count: 22))
        #expect(ask([0x0C, 11, 0, 22, 0]) == [0x0D] + [UInt8](repeating: 0, count: 8))
        #expect(ask([0x0A, 11, 0])?.last == 1)
    }

    @Test("several values are read at once, with lengths or without")
    func multiple() {
        #expect(ask([0x0E, 5, 0, 0x23, 0]) == [0x0F] + Array("One".utf8) + [7])
        #expect(ask([0x20, 5, 0, 0x23, 0]) == [0x21, 3, 0] + Array("One".utf8) + [1, 0, 7])
        #expect(ask([0x20, 5, 0, 0x99, 0]) == error(0x20, 0x99, 0x01))
    }

    @Test("what may not be done is refused with the right error")
    func refusals() {
        #expect(ask([0x0A, 7, 0]) == error(0x0A, 7, 0x02))
        #expect(ask([0x0A, 9, 0]) == error(0x0A, 9, 0x0F))
        #expect(ask([0x12, 9, 0, 1]) == error(0x12, 9, 0x05))
        #expect(ask([0x12, 5, 0, 1]) == error(0x12, 5, 0x03))
        #expect(ask([0x12, 0x99, 0, 1]) == error(0x12, 0x99, 0x01))
        #expect(ask([0x12, 7, 0, 1, 2, 3, 4, 5]) == error(0x12, 7, 0x0D))
        #expect(ask([0x12, 7, 0, 0xEE]) == error(0x12, 7, 0x81))
        #expect(ask([0x0A, 3]) == error(0x0A, 0, 0x04))
        #expect(ask([0x3E]) == error(0x3E, 0, 0x06))
    }

    @Test("errors can be injected into a characteristic at any time")
    func injectedErrors() {
        air.changeCharacteristic(BluetoothUUID(0xFFE1 as UInt16), on: device) {
            $0.readError = ATTError(rawValue: 0x80)
            $0.writeError = .unlikelyError
        }
        #expect(ask([0x0A, 3, 0]) == error(0x0A, 3, 0x80))
        #expect(ask([0x12, 3, 0, 1]) == error(0x12, 3, 0x0E))
    }

    @Test("writes, with an answer or without, leave their values")
    func writes() {
        let uuid = BluetoothUUID(0xFFE2 as UInt16)
        #expect(ask([0x12, 7, 0, 1, 2]) == [0x13])
        #expect(air.value(of: uuid, on: device) == [1, 2])
        host.send([0x52, 7, 0, 3], to: link)
        host.send([0x52, 7, 0, 0xEE], to: link)
        host.run(milliseconds: 100)
        #expect(air.value(of: uuid, on: device) == [3])
        #expect(air.statistics(of: device).writeCommands == 1 && air.statistics(of: device).writes == 1)
        #expect(host.frames.count == 1)
    }

    @Test("a prepared write is echoed and stored as a whole")
    func prepared() {
        #expect(ask([0x16, 3, 0, 0, 0, 9, 8]) == [0x17, 3, 0, 0, 0, 9, 8])
        #expect(ask([0x16, 3, 0, 2, 0, 7]) == [0x17, 3, 0, 2, 0, 7])
        #expect(air.value(of: BluetoothUUID(0xFFE1 as UInt16), on: device)?.count == 60)
        #expect(ask([0x18, 1]) == [0x19])
        #expect(air.value(of: BluetoothUUID(0xFFE1 as UInt16), on: device) == [9, 8, 7])
        #expect(ask([0x16, 3, 0, 0, 0, 1]) == [0x17, 3, 0, 0, 0, 1])
        #expect(ask([0x18, 0]) == [0x19])
        #expect(air.value(of: BluetoothUUID(0xFFE1 as UInt16), on: device) == [9, 8, 7])
    }

    @Test("a prepared write with a hole, or too long, stores nothing at all")
    func preparedWrong() {
        #expect(ask([0x16, 3, 0, 0, 0, 9]) == [0x17, 3, 0, 0, 0, 9])
        #expect(ask([0x16, 7, 0, 3, 0, 1]) == [0x17, 7, 0, 3, 0, 1])
        #expect(ask([0x18, 1]) == error(0x18, 7, 0x07))
        #expect(air.value(of: BluetoothUUID(0xFFE1 as UInt16), on: device)?.count == 60)
        #expect(ask([0x16, 7, 0, 0, 0, 1, 2, 3]) == [0x17, 7, 0, 0, 0, 1, 2, 3])
        #expect(ask([0x16, 7, 0, 3, 0, 4, 5]) == [0x17, 7, 0, 3, 0, 4, 5])
        #expect(ask([0x18, 1]) == error(0x18, 7, 0x0D))
        #expect(air.value(of: BluetoothUUID(0xFFE2 as UInt16), on: device) == [])
    }

    @Test("the queue of prepared writes has an end")
    func prepareQueue() {
        for _ in 0..<64 { #expect(ask([0x16, 3, 0, 0, 0, 1])?.first == 0x17) }
        #expect(ask([0x16, 3, 0, 0, 0, 1]) == error(0x16, 3, 0x09))
    }

    @Test("512 octets are read and written over packets of any size")
    func longValue() throws {
        var peripheral = SimulatedPeripheral.jellingHeart
        peripheral.address = DeviceAddress(value: 0xC000_0000_0002, kind: .random)
        air.addPeripheral(peripheral)
        let link = try host.connect(to: peripheral.address)
        let uuid = BluetoothUUID(high: 0x6A65_6C6C_696E_6700, low: 0x8000_0000_0000_0002)
        var handle: UInt16 = 0
        for candidate in 1..<60 as Range<UInt16> {
            let answer = host.request([0x04] + octets(candidate) + octets(candidate), on: link) ?? []
            if Array(answer.dropFirst(4)) == uuid.bytes.reversed() { handle = candidate }
        }
        #expect(host.request([0x02, 0x05, 0x02], on: link) == [0x03, 0x05, 0x02])
        let value = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        #expect(host.request([0x0A] + octets(handle), on: link) == [0x0B] + value)
        let other = value.reversed() as [UInt8]
        host.send([0x12] + octets(handle) + other, to: link, fragment: 70)
        host.run(milliseconds: 500)
        #expect(host.frames.last?.payload == [0x13])
        #expect(host.request([0x0A] + octets(handle), on: link) == [0x0B] + other)
    }

    // MARK: Notifications

    @Test("a subscription brings values, unsubscribing ends them, and a link's end too (pain 12)")
    func notifications() throws {
        let uuid = BluetoothUUID(0xFFE1 as UInt16)
        air.setValue([1], of: uuid, on: device)
        host.run(milliseconds: 100)
        #expect(host.frames.isEmpty)
        #expect(ask([0x12, 4, 0, 1, 0]) == [0x13])
        host.forget()
        air.setValue([2], of: uuid, on: device)
        host.run(milliseconds: 100)
        #expect(host.frames.map(\.payload) == [[0x1B, 3, 0, 2]])
        #expect(ask([0x12, 4, 0, 0, 0]) == [0x13])
        host.forget()
        air.setValue([3], of: uuid, on: device)
        host.run(milliseconds: 100)
        #expect(host.frames.isEmpty)
        #expect(ask([0x12, 4, 0, 1, 0]) == [0x13])
        host.perform(Disconnect(connectionHandle: link))
        host.run(milliseconds: 100)
        let again = try host.connect(to: Self.address)
        #expect(host.request([0x0A, 4, 0], on: again) == [0x0B, 0, 0])
    }

    @Test("a configuration that the properties do not allow is refused with 0xFD")
    func configuration() {
        #expect(ask([0x12, 4, 0, 2, 0]) == error(0x12, 4, 0xFD))
        #expect(ask([0x12, 4, 0, 1]) == error(0x12, 4, 0x0D))
        #expect(ask([0x12, 12, 0, 1, 0]) == error(0x12, 12, 0xFD))
    }

    @Test("one indication at a time; the next waits for the confirmation")
    func indications() {
        let uuid = BluetoothUUID(0xFFE4 as UInt16)
        #expect(ask([0x12, 12, 0, 2, 0]) == [0x13])
        host.forget()
        air.setValue([1], of: uuid, on: device)
        air.setValue([2], of: uuid, on: device)
        host.run(milliseconds: 1000)
        #expect(host.frames.map(\.payload) == [[0x1D, 11, 0, 1]])
        #expect(ask([0x1E]) == [0x1D, 11, 0, 2])
        host.send([0x1E], to: link)
        host.run(milliseconds: 100)
        let statistics = air.statistics(of: device)
        #expect(statistics.indications == 2 && statistics.confirmations == 2)
    }

    @Test("other services are told by Service Changed (pain 13)")
    func serviceChanged() throws {
        var peripheral = SimulatedPeripheral.jellingHeart
        peripheral.address = DeviceAddress(value: 0xC000_0000_0002, kind: .random)
        let heart = air.addPeripheral(peripheral)
        let link = try host.connect(to: peripheral.address)
        // 1 to 5 are Generic Access, 6 is Generic Attribute, 8 the value and 9 its configuration.
        #expect(host.request([0x12, 9, 0, 2, 0], on: link) == [0x13])
        host.forget()
        air.replaceServices([SimulatedService(BluetoothUUID(0xFFF0 as UInt16))], on: heart)
        host.run(milliseconds: 100)
        #expect(host.frames.map(\.payload) == [[0x1D, 8, 0, 1, 0, 0xFF, 0xFF]])
        host.send([0x1E], to: link)
        let answer = host.request([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], on: link)
        #expect(answer?.count == 2 + 3 * 6)
    }

    // MARK: Other channels, other peers

    @Test("signals that a device does not know are rejected, pairing fails")
    func otherChannels() {
        host.send([0x14, 9, 2, 0, 1, 2], on: .leSignalling, to: link)
        host.send([0x01, 3, 0, 1, 16, 0, 0], on: .securityManager, to: link)
        host.run(milliseconds: 100)
        #expect(host.frames.map(\.payload) == [[0x01, 9, 2, 0, 0, 0], [0x05, 0x05]])
    }

    @Test("a scripted peer says what its script says, and greets")
    func scripted() throws {
        var seen: [[UInt8]] = []
        let peer = SimulatedScriptedPeer(
            name: "Hostile", address: DeviceAddress(value: 0xC000_0000_0002, kind: .random), greeting: [[0x1B, 1, 0]],
            respond: { pdu in
                seen.append(pdu)
                return pdu.first == 0x10 ? [[0x11, 0x00, 0x01], [0x0B]] : []
            })
        let device = air.addScriptedPeer(peer)
        let link = try host.connect(to: peer.address)
        #expect(host.frames.map(\.payload) == [[0x1B, 1, 0]])
        host.forget()
        host.send([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], to: link)
        host.run(milliseconds: 200)
        #expect(host.frames.map(\.payload) == [[0x11, 0x00, 0x01], [0x0B]])
        #expect(seen == [[0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]])
        air.sendFrame([0xFF, 0xFF, 4, 0, 1], from: device)
        air.send([1, 2, 3], on: L2CAPChannelIdentifier(rawValue: 0x77), from: device)
        host.run(milliseconds: 200)
        #expect(
            host.packets.suffix(2).map { Array($0.dropFirst(5)) } == [
                [0xFF, 0xFF, 4, 0, 1], [3, 0, 0x77, 0, 1, 2, 3],
            ])
    }

    @Test("an answer can be delayed")
    func slow() throws {
        var peripheral = Self.peripheral
        peripheral.address = DeviceAddress(value: 0xC000_0000_0003, kind: .random)
        peripheral.link.responseDelayMicroseconds = 2_000_000
        air.addPeripheral(peripheral)
        let link = try host.connect(to: peripheral.address)
        host.send([0x0A, 3, 0], to: link)
        host.run(milliseconds: 1900)
        #expect(host.frames.isEmpty)
        host.run(milliseconds: 300)
        #expect(host.frames.count == 1)
    }

    @Test("no PDU makes a device trap")
    func noise() {
        var generator = SeededGenerator(seed: 99)
        for round in 0..<20_000 {
            var pdu = (0..<generator.next(below: 30)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            if !pdu.isEmpty { pdu[0] &= 0x3F }
            if pdu.count > 4 {
                pdu[1] &= 0x3F
                pdu[2] = 0
                pdu[4] &= 0x01
            }
            host.send(pdu, on: L2CAPChannelIdentifier(rawValue: 4 + UInt16(generator.next(below: 3))), to: link)
            if round % 8 == 7 { host.run(milliseconds: 60) }
            if round % 1024 == 0 { host.forget() }
        }
        #expect(air.statistics(of: device).requests > 1000)
        #expect(air.statistics(of: device).isConnected)
    }
}
