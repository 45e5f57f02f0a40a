import BLE
import BLECapture
import BLEPackets
import BLESimulator
import Foundation
import Testing

@testable import BLEVirtualTransports

@Suite("A capture plays the controller")
struct ReplayTransportTests {
    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures")

    private func open(_ text: String) async throws -> Adapter {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = VirtualTransports.open
        return try await Adapter.open(text, configuration: configuration)
    }

    @Test(
        "an app finds the device of a recorded session and reads what was read then",
        arguments: ["bumble-session.btsnoop", "btvirt-session.btsnoop", "bumble-acl251-session.pcap"])
    func session(_ name: String) async throws {
        let adapter = try await open("replay:\(Self.fixtures.appendingPathComponent(name).path)@50")
        var found: DeviceAddress?
        for try await discovery in adapter.scan(ScanRequest()) {
            found = discovery.address
            break
        }
        let peer = try await adapter.connect(to: try #require(found))
        let battery = try await peer.findCharacteristic(BluetoothUUID(UInt16(0x2A19)))
        #expect(try await peer.read(battery) == [0x57])
        await adapter.close()
    }

    @Test("reports keep their recorded distances, and wait while nobody scans")
    func spacing() throws {
        var writer = PacketWriter()
        LEAdvertisingReport(reports: [
            .init(
                eventType: .nonConnectableUndirected, address: DeviceAddress(value: 0xC0_0000_000001, kind: .random),
                data: [2, 1, 6], rssi: -50)
        ]).encodePacket(into: &writer)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("reports.btsnoop").path
        var capture = try CaptureWriter(path: path, format: .btsnoop)
        for time in [0, 100_000, 350_000] as [Int64] {
            _ = try capture.append(
                packet: writer.bytes.span.bytes, direction: .controllerToHost,
                timestampMicroseconds: 1_700_000_000_000_000 + time)
        }
        try capture.close()

        let played = try PlayedCapture(path: path)
        #expect(played.reports.map(\.time) == [0, 100_000, 350_000])
        let (air, controller) = played.makeAir(rate: 2)
        func send(_ command: some HCICommand) {
            var packet = PacketWriter()
            command.encodePacket(into: &packet)
            air.send(packet.bytes.span.bytes, to: controller, at: air.nowMicroseconds)
        }
        send(SetEventMask(mask: EventMask(rawValue: .max)))
        send(LESetEventMask(mask: LEEventMask(rawValue: .max)))
        air.advance(to: 10_000_000)
        while air.nextPacket(from: controller) != nil {}
        send(LESetScanEnable(isEnabled: true))
        var times: [Int64] = []
        for step in 0..<300 {
            air.advance(to: 10_000_000 + Int64(step) * 1000)
            while let packet = air.nextPacket(from: controller) {
                if packet.starts(with: [0x04, 0x3E]) { times.append(air.nowMicroseconds - 10_000_000) }
            }
        }
        #expect(times == [1_000, 51_000, 176_000])
    }

    @Test("what follows the @ is a speed, unless a file or a folder has it in its name")
    func rates() throws {
        let fast = try PlayedCapture.pathAndRate("file@0.5")
        #expect(fast.path == "file" && fast.rate == 0.5)
        let inFolder = try PlayedCapture.pathAndRate("a@b/file")
        #expect(inFolder.path == "a@b/file" && inFolder.rate == 1)
        for wrong in ["x", "", "0", "-1", "1e-300", "1e7", "nan", "inf", "10x", "1,5"] {
            let text = "file@\(wrong)"
            do throws(TransportError) {
                _ = try PlayedCapture.pathAndRate(text)
                Issue.record("\(text) is accepted")
            } catch {
                guard case .unusableFile(text, let reason) = error else { throw error }
                #expect(reason.contains("FILE@RATE") && reason.contains("0.001 to 1000000"))
            }
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())@x").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data().write(to: URL(fileURLWithPath: path))
        let named = try PlayedCapture.pathAndRate(path)
        #expect(named.path == path && named.rate == 1)
    }

    @Test("clocks that jumped while it was recorded neither stop playback nor break it")
    func oddClocks() throws {
        let pace = PlayedPace(rate: 1)
        #expect(pace.microseconds(.max) == PlayedPace.longestSilence)
        #expect(pace.microseconds(.min) == 0)
        #expect(PlayedPace(rate: PlayedPace.rates.lowerBound).microseconds(.max) == 1000 * PlayedPace.longestSilence)

        var writer = PacketWriter()
        LEAdvertisingReport(reports: [
            .init(
                eventType: .nonConnectableUndirected, address: DeviceAddress(value: 0xC0_0000_000001, kind: .random),
                data: [2, 1, 6], rssi: -50)
        ]).encodePacket(into: &writer)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var capture = try CaptureWriter(path: path, format: .btsnoop)
        // btsnoop counts from the year 0 and can hold any time of 64 bits.
        for time in [-8_000_000_000_000_000_000, 9_000_000_000_000_000_000, 0] as [Int64] {
            _ = try capture.append(
                packet: writer.bytes.span.bytes, direction: .controllerToHost, timestampMicroseconds: time)
        }
        try capture.close()
        let times = try PlayedCapture(path: path).reports.map(\.time)
        #expect(times.count == 3 && times == times.sorted() && times[0] == 0)
    }

    @Test("a capture that cannot be played is reported with its file and the reason")
    func unusable() async throws {
        for text in ["replay:/nonexistent/file", "sim:/nonexistent/file", "replay:\(#filePath)", "sim:\(#filePath)"] {
            do {
                _ = try await open(text)
                Issue.record("\(text) was opened")
            } catch {
                #expect("\(error)".contains(text.drop { $0 != ":" }.dropFirst()), "\(error)")
            }
        }
    }
}
