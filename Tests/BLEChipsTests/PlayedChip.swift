import BLEPackets

@testable import BLEChips

/// Runs a bring-up against answers of a test, in virtual time, and writes down every action.
struct PlayedChip {
    var bringUp: ChipBringUp
    var transcript: [String] = []
    var information: ChipInformation?
    var failure: ChipFailure?
    private var now: UInt64 = 5_000_000

    init(_ settings: ChipSettings) throws(ChipFailure) { bringUp = try ChipBringUp(settings: settings) }

    /// - Parameters:
    ///   - answer: the return parameters of a command, status first; `nil`: it is not answered.
    ///   - files: what is in the folder of firmware.
    mutating func run(files: [ChipFile] = [], answer: (_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8]?) {
        bringUp.start(at: now)
        for _ in 0..<20_000 where failure == nil && information == nil {
            guard let action = bringUp.nextAction() else {
                guard let deadline = bringUp.nextDeadline else { return }
                transcript.append("wait \((deadline - now) / 1_000) ms")
                now = deadline
                bringUp.advance(to: now)
                continue
            }
            switch action {
            case .send(let packet):
                transcript.append(packet.map(Self.hex).joined(separator: " "))
                let opcode = UInt16(packet[1]) | UInt16(packet[2]) << 8
                if let octets = answer(opcode, Array(packet.dropFirst(4))) { give(opcode, octets) }
            case .setBaud(let baud):
                transcript.append("baud \(baud)")
                bringUp.carriedOut(at: now)
            case .restartLink:
                transcript.append("link")
                bringUp.carriedOut(at: now)
            case .readFile(let names):
                transcript.append("read " + names.joined(separator: " "))
                bringUp.fileRead(files.first { names.contains($0.name) }, at: now)
            case .done(let information): self.information = information
            case .failed(let failure): self.failure = failure
            }
        }
    }

    mutating func give(_ opcode: UInt16, _ octets: [UInt8]) {
        var packet: [UInt8] = [0x04, 0x0E, UInt8(3 + octets.count), 0x01]
        packet += [UInt8(truncatingIfNeeded: opcode), UInt8(opcode >> 8)]
        packet += octets
        bringUp.receive(packet.span.bytes, at: now)
    }

    static func hex(_ octet: UInt8) -> String {
        (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
    }

    /// Return parameters of Read Local Version Information.
    static func version(
        manufacturer: UInt16, hciVersion: UInt8 = 9, revision: UInt16 = 0, subversion: UInt16 = 0
    ) -> [UInt8] {
        func two(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
        var octets: [UInt8] = [0, hciVersion]
        octets += two(revision)
        octets.append(hciVersion)
        octets += two(manufacturer)
        return octets + two(subversion)
    }
}
