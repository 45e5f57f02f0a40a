import BLECapture
import Testing

@testable import BLEDecoder

@Suite("Summaries of connections")
struct LinkSummaryTests {
    private static let address: [UInt8] = [6, 5, 4, 3, 2, 0xC1]

    private func create() -> [UInt8] {
        [1, 0x0D, 0x20, 25, 0x60, 0, 0x30, 0, 0, 1] + Self.address + [0, 24, 0, 40, 0, 0, 0, 42, 0, 0, 0, 0, 0]
    }

    private func complete(status: UInt8 = 0, role: UInt8 = 0, handle: UInt8 = 0x40) -> [UInt8] {
        [4, 0x3E, 19, 1, status, handle, 0, role, 1] + Self.address + [24, 0, 0, 0, 42, 0, 0]
    }

    private func att(_ pdu: [UInt8], handle: UInt8 = 0x40) -> [UInt8] {
        [2, handle, 0, UInt8(pdu.count + 4), 0, UInt8(pdu.count), 0, 4, 0] + pdu
    }

    private func summary(_ packets: [[UInt8]], received: Set<Int> = []) throws -> [LinkSummary] {
        var summary = CaptureSummary()
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(packets) { received.contains($0) })
        while let record = try reader.next() { summary.count(record) }
        return summary.links
    }

    @Test("who, how long, why it ended, and how it went")
    func whole() throws {
        let links = try summary(
            [
                create(), complete(), att([2, 0x05, 2]), att([3, 185, 0]),
                // A read that is refused, and sent again after encryption.
                att([0x0A, 3, 0]), att([1, 0x0A, 3, 0, 5]), [4, 8, 4, 0, 0x40, 0, 1], att([0x0A, 3, 0]),
                att([0x0B, 1, 2, 3]),
                att([0x1B, 9, 0, 1, 2]),
                [4, 0x3E, 6, 0x0C, 0, 0x40, 0, 2, 1], [4, 5, 4, 0, 0x40, 0, 0x08],
            ], received: [3, 5, 8, 9])
        let link = try #require(links.first)
        #expect(links.count == 1)
        #expect(link.address == 0xC102_0304_0506)
        #expect(link.addressType == 1)
        #expect(link.isCentral == true)
        #expect(link.duration == 10)
        #expect(link.ending == .disconnected(reason: 0x08))
        #expect(link.isFailure)
        #expect(link.mtu == 185)
        #expect(link.interval == 24)
        #expect(link.timeout == 42)
        #expect(link.transmitPHY == 2)
        #expect(link.receivePHY == 1)
        #expect(link.isEncrypted)
        #expect(link.requests == 3)
        #expect(link.answers == 3)
        #expect(link.totalLatency == 3)
        #expect(link.worstLatency == 1)
        #expect(link.repeatedRequests == 1)
        #expect(link.errors == [.init(code: 5, count: 1)])
        #expect(link.values == 1)
        #expect(link.valueOctets == 5)
        #expect(link.sentOctets == 9)
        #expect(link.receivedOctets == 17)
        #expect(link.failedAttempts == 0)
    }

    @Test("failed attempts count for the next connection with the device; cancelled ones do not")
    func attempts() throws {
        let links = try summary([
            create(), complete(status: 0x3E), create(), complete(status: 0x02), create(), complete(),
            // Established, but the device never answered: an attempt, too.
            [4, 5, 4, 0, 0x40, 0, 0x3E], create(), complete(handle: 0x41),
        ])
        #expect(links.map(\.failedAttempts) == [1, 1])
        #expect(links.map(\.ending) == [.disconnected(reason: 0x3E), .none])
        var summary = CaptureSummary()
        try summary.countAll([create(), complete(status: 0x3E)])
        #expect(summary.links.isEmpty)
        #expect(summary.failedAttemptCount == 1)
    }

    @Test("a reset ends what is open; a handle that is used again replaces its connection")
    func endings() throws {
        let reset: [UInt8] = [4, 0x0E, 4, 1, 3, 0x0C, 0]
        let links = try summary([complete(), complete(), reset, att([0x52, 3, 0, 1])])
        #expect(links.map(\.ending) == [.replaced, .reset, .none])
        // What crossed a link whose beginning the capture lacks counts, too.
        #expect(links[2].address == nil)
        #expect(links[2].isCentral == nil)
        #expect(links[2].valueOctets == 1)
    }

    @Test("data under handles that no connection has, and events that end early, make no connection")
    func hostile() throws {
        #expect(try summary([[2, 0xFF, 0x0F, 5, 0, 1, 0, 4, 0, 0x0A]]).isEmpty)
        for count in 4..<22 {
            var event = Array(complete().prefix(count))
            event[2] = UInt8(count - 3)
            #expect(try summary([event]).isEmpty)
        }
    }

    @Test("logs and dumps of controllers make no connection, unless one has their handle")
    func traces() throws {
        func data(_ field: UInt16) -> [UInt8] {
            [2, UInt8(field & 0xFF), UInt8(field >> 8), 7, 0, 3, 0, 4, 0, 0x0A, 3, 0]
        }
        let fields: [UInt16] = [0x2EDC, 0x2EDD, 0x05FE, 0x05FF, 0xFC6F]
        var summary = CaptureSummary()
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(fields.map(data)) { _ in true })
        while let record = try reader.next() { summary.count(record) }
        #expect(summary.links.isEmpty)
        #expect(summary.aclPackets == 5 && summary.malformed == 0)
        #expect(summary.attByOpcode.isEmpty && summary.l2capByChannel.isEmpty)
        // Data of hosts, other flags, and a connection with this handle.
        #expect(try self.summary(fields.map(data)).count == 5)
        #expect(try self.summary([data(0x25FF), data(0x25FE)], received: [0, 1]).map(\.handle) == [0x5FF, 0x5FE])
        var begun = complete(handle: 0xDC)
        begun[6] = 0x0E
        let links = try self.summary([begun, data(0x2EDC)], received: [1])
        #expect(links.map(\.handle) == [0xEDC])
        #expect(links.first?.requests == 1)
    }

    @Test("a connection of BR/EDR is one by its event, or by its channels if it began before the capture")
    func classic() throws {
        let begun: [UInt8] = [4, 3, 11, 0, 0x0B, 0] + Self.address + [1, 0]
        func data(_ channel: UInt8, _ payload: [UInt8]) -> [UInt8] {
            [2, 0x0B, 0x20, UInt8(payload.count + 4), 0, UInt8(payload.count), 0, channel, 0] + payload
        }
        let signalling = data(1, [0x0A, 1, 2, 0, 2, 0])
        #expect(try summary([begun, data(4, [0x0A, 3, 0])]).map(\.isClassic) == [true])
        #expect(try summary([signalling]).map(\.isClassic) == [true])
        #expect(try summary([data(4, [0x0A, 3, 0]), data(7, [1, 3, 0, 1, 16, 1, 1])]).map(\.isClassic) == [true])
        #expect(try summary([data(4, [0x0A, 3, 0])]).map(\.isClassic) == [false])
        #expect(try summary([data(5, [0x12, 1, 8, 0, 24, 0, 24, 0, 0, 0, 42, 0])]).map(\.isClassic) == [false])
        // What an event has said stays.
        #expect(try summary([complete(handle: 0x0B), signalling]).map(\.isClassic) == [false])
    }

    @Test("many connections are counted in bounded memory")
    func many() throws {
        var summary = CaptureSummary()
        for _ in 0..<5 {
            try summary.countAll((0..<1000).flatMap { _ in [complete(), [4, 5, 4, 0, 0x40, 0, 0x13]] })
        }
        #expect(summary.links.count == LinkSummaries.maximumCount)
        #expect(summary.links.count + summary.omittedLinkCount == 5000)
    }

    @Test("names come from advertisements of the same capture")
    func names() throws {
        let report: [UInt8] = [2, 1, 0, 1] + Self.address + [4, 3, 9, 0x48, 0x69, 0xC0]
        let links = try summary([[4, 0x3E, UInt8(report.count)] + report, complete()])
        #expect(links.first?.name == "Hi")
    }

    @Test("requests and answers on an enhanced bearer count for its connection")
    func enhanced() throws {
        func signal(_ command: [UInt8]) -> [UInt8] {
            [2, 0x40, 0, UInt8(command.count + 4), 0, UInt8(command.count), 0, 5, 0] + command
        }
        func unit(_ channel: UInt8, _ pdu: [UInt8]) -> [UInt8] {
            [2, 0x40, 0, UInt8(pdu.count + 6), 0, UInt8(pdu.count + 2), 0, channel, 0, UInt8(pdu.count), 0] + pdu
        }
        let links = try summary(
            [
                complete(), signal([0x17, 1, 10, 0, 0x27, 0, 64, 0, 64, 0, 10, 0, 0x50, 0]),
                signal([0x18, 1, 10, 0, 64, 0, 64, 0, 10, 0, 0, 0, 0x60, 0]), unit(0x60, [0x0A, 3, 0]),
                unit(0x50, [0x0B, 7]),
            ], received: [2, 4])
        #expect(links.first?.requests == 1)
        #expect(links.first?.answers == 1)
        #expect(links.first?.valueOctets == 1)
    }
}
