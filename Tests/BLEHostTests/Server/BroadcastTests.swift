import BLEPackets
import Testing

@testable import BLEHost

/// Server Characteristic Configuration: one for all clients, and what it puts into the advertisement (Core 5.4, Vol 3,
/// Part G, 2.7 and 3.3.3.4).
@Suite("Broadcasts of values")
struct BroadcastTests {
    private func temperature(_ value: [UInt8]? = nil) -> GATTCharacteristicDefinition {
        GATTCharacteristicDefinition(
            uuid: BluetoothUUID(UInt16(0x2A6E)), properties: [.read, .broadcast], permissions: .readable, value: value)
    }

    private func access(
        _ properties: CharacteristicProperties, _ permissions: AttributePermissions
    )
        -> AttributePermissions
    {
        var definition = temperature()
        definition.properties = properties
        definition.permissions = permissions
        return definition.broadcastPermissions
    }

    @Test("a value is broadcast while the bit is set, for all clients together")
    func lifecycle() throws {
        let bench = ServerBench(mtu: 23)
        let other = ServerBench.link(2)
        bench.connect(other)
        let service = try bench.publish(.of(0x181A, [temperature()]))
        #expect(service.range == .init(1, 4))
        #expect(bench.ask("0404000400") == ["0501" + "04000329"])
        #expect(bench.ask("0a0400") == ["0b0000"])
        #expect(bench.update([0x34, 0x08], of: 3))
        #expect(bench.broadcasts.isEmpty)
        #expect(bench.ask("120400" + "0100") == ["13"])
        #expect(bench.broadcasts.last == ["05161a183408"])
        #expect(
            bench.takeEvents() == [
                .stored(ServerBench.link(1), GATTWrite(handle: 4, offset: 0, value: [1, 0]))
            ])
        #expect(bench.ask("0a0400", from: other) == ["0b0100"])
        bench.update([0x35, 0x08], of: 3)
        #expect(bench.broadcasts.last == ["05161a183508"])
        let count = bench.broadcasts.count
        // The same value, and one for a single client, change nothing.
        bench.update([0x35, 0x08], of: 3)
        bench.update([0x00, 0x00], of: 3, to: [other])
        #expect(bench.broadcasts.count == count)
        // The client that switched it on may go.
        bench.disconnect()
        #expect(bench.broadcasts.count == count)
        #expect(bench.ask("120400" + "0000", from: other) == ["13"])
        #expect(bench.broadcasts.last == [])
    }

    @Test("a fixed value needs no update, and goes with its service; values of one service share a structure")
    func fixed() throws {
        let bench = ServerBench(mtu: 23)
        let long = try #require(BluetoothUUID("71DA3FD1-7E10-41C1-B16F-4430B506CDE7"))
        let first = try bench.publish(.of(0x181A, [temperature([1, 2]), temperature([3])]))
        _ = try bench.publish(GATTServiceDefinition(uuid: long, characteristics: [temperature([4])]))
        for handle in ["0400", "0700", "0b00"] { #expect(bench.ask("12" + handle + "0100") == ["13"]) }
        let second = "1221" + "e7cd06b530446fb1c141107ed13fda71" + "04"
        #expect(bench.broadcasts.last == ["06161a18010203", second])
        try bench.remove(first.range.first)
        #expect(bench.broadcasts.last == [second])
    }

    @Test("a configuration has two octets and one bit; commands do not change it")
    func refusals() throws {
        let bench = ServerBench(mtu: 23)
        _ = try bench.publish(.of(0x181A, [temperature([1])]))
        #expect(bench.ask("120400" + "01") == ["0112" + "0400" + "0d"])
        #expect(bench.ask("120400" + "010000") == ["0112" + "0400" + "0d"])
        #expect(bench.ask("120400" + "0200") == ["0112" + "0400" + "13"])
        #expect(bench.ask("120400" + "0101") == ["0112" + "0400" + "13"])
        #expect(bench.ask("520400" + "0100").isEmpty)
        #expect(bench.ask("160400" + "0000" + "0100") == ["17" + "0400" + "0000" + "0100"])
        #expect(bench.broadcasts.isEmpty)
        #expect(bench.ask("1801") == ["19"])
        #expect(bench.broadcasts == [["04161a1801"]])
    }

    @Test("what needs security to be read needs it to be broadcast")
    func security() throws {
        #expect(access([.read, .broadcast], .readable) == [.readable, .writeable])
        #expect(access([.read, .broadcast], .readEncryption) == [.readable, .writeable, .writeEncryption])
        #expect(access([.read, .broadcast], .readAuthentication) == [.readable, .writeable, .writeAuthentication])
        #expect(
            access([.write, .broadcast], [.readable, .writeEncryption]) == [.readable, .writeable, .writeEncryption])
        var secret = temperature([1])
        secret.permissions = .readEncryption
        let bench = ServerBench(mtu: 23)
        _ = try bench.publish(.of(0x181A, [secret]))
        #expect(bench.ask("120400" + "0100") == ["0112" + "0400" + "05"])
        #expect(bench.broadcasts.isEmpty)
    }

    @Test("a value that no advertisement can hold is not broadcast")
    func tooLong() throws {
        let bench = ServerBench(mtu: 23)
        let value = [UInt8](repeating: 7, count: 28)
        _ = try bench.publish(.of(0x181A, [temperature(value)]))
        #expect(bench.ask("120400" + "0100") == ["13"])
        #expect(bench.broadcasts == [[]])
    }

    @Test("the advertisement carries the value while it runs; without room there, the scan response does")
    func advertising() throws {
        let rig = HostRig()
        rig.start()
        let operation = rig.submit(.server(.publish(.of(0x181A, [temperature()]))))
        guard case .success(.published(let service))? = rig.results(of: operation).first else {
            Issue.record("not published")
            return
        }
        let value = try #require(service.characteristics.first?.valueHandle)
        rig.receive(
            LEConnectionComplete(
                connectionHandle: ConnectionHandle(rawValue: 0x40), role: .peripheral, peerAddress: HostRig.peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
        let request = AdvertiseRequest(
            .packed(localName: "Sensor", serviceUUIDs: [BluetoothUUID(UInt16(0x181A))]), isConnectable: false)
        let advertisement = rig.submit(.radio(.advertise(request)))
        rig.submit(.server(.updateValue(value, value: [0x34, 0x08], links: nil)))
        rig.forget()
        let configuration = UInt8(truncatingIfNeeded: value.rawValue + 1)
        rig.receive(frame: [0x12, configuration, 0, 1, 0], handle: 0x40)
        func data(_ opcode: HCIOpcode) -> [UInt8]? {
            rig.commands.last { $0.opcode == opcode }.map {
                Array($0.parameters.dropFirst().prefix(Int($0.parameters[0])))
            }
        }
        let packed: [UInt8] = [2, 1, 6, 3, 3, 0x1A, 0x18, 7, 9] + Array("Sensor".utf8)
        #expect(data(LESetAdvertisingData.opcode) == packed + [5, 0x16, 0x1A, 0x18, 0x34, 0x08])
        #expect(rig.count(of: LESetAdvertisingEnable.opcode) == 0)
        rig.submit(.server(.updateValue(value, value: [UInt8](repeating: 9, count: 14), links: nil)))
        #expect(data(LESetAdvertisingData.opcode) == packed)
        #expect(data(LESetScanResponseData.opcode) == [17, 0x16, 0x1A, 0x18] + [UInt8](repeating: 9, count: 14))
        rig.submit(.cancel(advertisement))
        // It is kept for the next advertisement.
        rig.forget()
        rig.submit(.radio(.advertise(request)))
        #expect(data(LESetScanResponseData.opcode)?.count == 18)
    }
}
