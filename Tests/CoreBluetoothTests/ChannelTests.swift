import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

/// L2CAP channels between two apps, as streams.
@Suite("L2CAP channels")
struct ChannelTests {
    /// Both ends of one channel.
    private final class Ends: @unchecked Sendable {
        // @unchecked Sendable is safe because the streams of a channel may be used from any thread.
        let central: CBL2CAPChannel
        let peripheral: CBL2CAPChannel
        let client: CentralProbe
        let server: PeripheralProbe

        init(_ client: CentralProbe, _ server: PeripheralProbe) {
            self.client = client
            self.server = server
            central = client.channels.current[0]
            peripheral = server.channels.current[0]
            for channel in [central, peripheral] {
                channel.inputStream.open()
                channel.outputStream.open()
            }
        }
    }

    private func open() async throws -> Ends {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch("org.example.server"))
        try await server.wait(for: "state poweredOn")
        await server.run { server.manager.publishL2CAPChannel(withEncryption: false) }
        let line = try await server.wait(for: "published")
        #expect(line == "published 128 nil")
        await server.run {
            server.manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFF0")]])
        }
        try await server.wait(for: "advertising nil")
        let client = CentralProbe(stage.launch("org.example.client"))
        try await client.find(nil)
        try await client.connect(stopsScan: false)
        await client.run { client.peripheral.openL2CAPChannel(0x81) }
        #expect(try await client.wait(for: "channel") == "channel nil CBErrorDomain 13")
        await client.run { client.peripheral.openL2CAPChannel(0x80) }
        #expect(try await client.wait(for: "channel", count: 2) == "channel 128 nil")
        #expect(try await server.wait(for: "channel") == "channel 128 nil")
        return Ends(client, server)
    }

    /// Writes all octets as fast as there is room.
    private func write(_ octets: [UInt8], to stream: OutputStream) async throws {
        var rest = octets[...]
        while !rest.isEmpty {
            try await waitUntil("room for \(rest.count) octets") { stream.hasSpaceAvailable }
            let count = unsafe rest.withUnsafeBufferPointer {
                unsafe stream.write($0.baseAddress!, maxLength: $0.count)
            }
            guard count >= 0 else { throw Missing(description: "\(rest.count) left") }
            rest = rest.dropFirst(count)
        }
    }

    private func read(_ count: Int, from stream: InputStream) async throws -> [UInt8] {
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 333)
        while octets.count < count {
            try await waitUntil("\(count - octets.count) octets") { stream.hasBytesAvailable }
            let read = unsafe stream.read(&buffer, maxLength: buffer.count)
            guard read >= 0 else { throw Missing(description: "\(octets.count) read") }
            octets += buffer[..<read]
        }
        return octets
    }

    @Test("octets cross in order both ways, in any pieces, with flow control (SPEC 2.3, 2.4)")
    func streams() async throws {
        let ends = try await open()
        let octets = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        async let writing: Void = write(octets, to: ends.central.outputStream)
        #expect(try await read(octets.count, from: ends.peripheral.inputStream) == octets)
        try await writing
        try await write(Array(octets.prefix(5000)), to: ends.peripheral.outputStream)
        #expect(try await read(5000, from: ends.central.inputStream) == Array(octets.prefix(5000)))
        #expect(ends.central.psm == 0x80 && ends.central.peer === ends.client.peripheral)
        #expect(ends.peripheral.peer is CBCentral)
    }

    @Test("when one side closes, the other's streams come to their end (SPEC 2.5)")
    func closing() async throws {
        let ends = try await open()
        ends.central.outputStream.close()
        try await waitUntil("the end") { ends.peripheral.inputStream.streamStatus == .atEnd }
        #expect(!ends.peripheral.outputStream.hasSpaceAvailable)
    }

    @Test("data accepted before a stream is closed arrives before the end (SPEC 2.3, 2.5)")
    func tail() async throws {
        let ends = try await open()
        let octets = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let count = unsafe octets.withUnsafeBufferPointer {
            unsafe ends.central.outputStream.write($0.baseAddress!, maxLength: $0.count)
        }
        #expect(count > 2048)
        ends.central.outputStream.close()
        #expect(try await read(count, from: ends.peripheral.inputStream) == Array(octets.prefix(count)))
        try await waitUntil("the end") { ends.peripheral.inputStream.streamStatus == .atEnd }
    }

    @Test("unpublishing ends the offer and its channels (SPEC 2.4)")
    func unpublishing() async throws {
        let ends = try await open()
        await ends.server.run { ends.server.manager.unpublishL2CAPChannel(0x80) }
        try await waitUntil("the end") { ends.central.inputStream.streamStatus == .atEnd }
        await ends.client.run { ends.client.peripheral.openL2CAPChannel(0x80) }
        #expect(try await ends.client.wait(for: "channel", count: 3) == "channel nil CBErrorDomain 13")
    }
}
