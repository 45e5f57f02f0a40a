import BLECapture
import Foundation
import Testing

@testable import BLEDecoder

/// The project's captures, those in the forms of others included.
private let captures: [String] = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures").path
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.filter { CaptureFormat(ending: $0) != nil }.sorted().map { "\(folder)/\($0)" }
}()

@Suite("A summary whose reports are counted in parts")
struct DividedSummaryTests {
    @Test("every capture has the summary that one thread counts, also when it is damaged", arguments: captures)
    func fixtures(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        try compare([bytes, bytes])
        var dice = Dice(seed: UInt64(bytes.count))
        var damaged = bytes
        for _ in 0..<1 + bytes.count / 200 where !damaged.isEmpty {
            damaged[Int.random(in: 0..<damaged.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
        }
        try compare([damaged, bytes])
    }

    @Test("devices are divided evenly")
    func shares() throws {
        for (devices, step) in [(1000, 1), (1000, 256), (1000, 1 << 40)] {
            let packets = (0..<devices).map { event([legacy($0 &* step, [])]) }
            for count in [2, 3, 8] {
                let counters = LateCounters(partCount: count)
                var divided = DividedSummary(counters: counters)
                try forEachRecord([CaptureBytes.btsnoop(packets)]) { divided.count($0) }
                _ = divided.end()
                for share in counters.shares { #expect(share > devices / count / 2 && share < devices / count * 2) }
            }
        }
    }

    @Test("reports of few devices, many in an event, broken and cut off")
    func hostileReports() throws {
        var dice = Dice(seed: 5)
        for _ in 0..<10 { try compare([hostile(400, devices: 24, &dice)]) }
    }

    @Test("reports of a sniffer between those of a host, of the same devices")
    func sniffers() throws {
        var dice = Dice(seed: 6)
        let sniffed = try captures.filter { $0.contains("sniffer") }
            .map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0))) }
        #expect(sniffed.count > 3)
        for bytes in sniffed { try compare([hostile(200, devices: 4, &dice), bytes, hostile(200, devices: 4, &dice)]) }
    }

    @Test("at the limits of devices and names, what has come first counts")
    func limits() throws {
        var dice = Dice(seed: 7)
        let capture = hostile(2000, devices: 1000, &dice)
        for limit in [0, 10, 300, 600, 900, 1000] {
            try compare([capture], limits: .init(batchByteCount: 64, addresses: limit))
            try compare([capture], limits: .init(batchByteCount: 64, names: limit))
            try compare([capture], limits: .init(batchByteCount: 512, addresses: limit, names: limit / 2))
        }
    }

    @Test("a table that is nearly full is filled in the order of the reports")
    func nearlyFull() throws {
        // New devices only, so that many are on their way when there is no more room; then all of them again.
        let packets = (0..<6000).map { event([legacy($0 % 3000, [5, 8] + text($0, 4))]) }
        let bytes = CaptureBytes.btsnoop(packets)
        for limit in stride(from: 400, to: 3200, by: 350) {
            for batchByteCount in [64, 512] {
                let limits = DividedSummary.Limits(
                    batchByteCount: batchByteCount, addresses: limit, names: limit - 50)
                try compare([bytes], parts: [1, 3], limits: limits)
            }
        }
    }

    // MARK: Comparing

    private func compare(
        _ files: [[UInt8]], parts: [Int] = [1, 2, 3, 8], limits: DividedSummary.Limits = .init(batchByteCount: 96)
    ) throws {
        var one = CaptureSummary()
        one.addresses.limit = limits.addresses
        one.addresses.nameLimit = limits.names
        try forEachRecord(files) { one.count($0) }
        let expected = texts(one)
        for count in parts {
            let counters = LateCounters(partCount: count)
            var divided = DividedSummary(counters: counters, limits: limits)
            try forEachRecord(files) { divided.count($0) }
            #expect(texts(divided.end()) == expected, "\(count) parts")
            #expect(counters.hasEnded)
        }
    }

    /// Files that cannot be read have no records.
    private func forEachRecord(_ files: [[UInt8]], _ body: (borrowing CaptureRecord) -> Void) throws {
        for bytes in files {
            guard var reader = try? CaptureReader(bytes: bytes) else { continue }
            while true {
                do throws(CaptureError) {
                    guard let record = try reader.next() else { break }
                    body(record)
                } catch {
                    if error.isFinal { break }
                }
            }
        }
    }

    /// All that a summary has.
    private func texts(_ summary: borrowing CaptureSummary) -> [String] {
        [
            "\(summary.frames) \(summary.commands) \(summary.events) \(summary.aclPackets) \(summary.scoPackets)",
            "\(summary.isoPackets) \(summary.others) \(summary.advertisingReportEvents) \(summary.malformed)",
            "\(summary.linkLayer)", "\(summary.distinctAdvertisers) \(summary.hasMoreAdvertisers)",
            "\(summary.commandsByOpcode)", "\(summary.eventsByCode)", "\(summary.leSubevents)",
            "\(summary.attByOpcode) \(summary.enhancedATTByOpcode) \(summary.smpByCode) \(summary.l2capByChannel)",
            "\(summary.omittedLinkCount) \(summary.failedAttemptCount)",
        ] + summary.advertisers.map { "\($0)" } + summary.links.map { "\($0)" }
    }

    // MARK: Reports

    /// Events with reports, of which many are not what they should be, between other packets.
    private func hostile(_ count: Int, devices: Int, _ dice: inout Dice) -> [UInt8] {
        CaptureBytes.btsnoop(
            (0..<count).map { _ in
                let device = Int.random(in: 0..<devices, using: &dice)
                let kind = Int.random(in: 0..<12, using: &dice)
                let name = text(Int.random(in: 0..<9999, using: &dice), 4)
                let named = [5, kind & 1 == 0 ? 8 : 9] + name
                switch kind {
                case 0: return [1, 3, 0x0C, 0]
                case 1: return [4, 0x0E, 4, 1, 3, 0x0C, 0]
                case 2:
                    let other = Int.random(in: 0..<devices, using: &dice)
                    return event([legacy(device, named), legacy(other, []), legacy(device, [1, 0])])
                case 3: return Array(event([legacy(device, named), legacy(0, named)]).dropLast(3))
                case 4: return event([legacy(device, [9, 9, 1])], stated: Int.random(in: 0...3, using: &dice))
                case 5: return event([extended(device, named), extended(0, [3])], 0x0D)
                case 6: return event([extended(device, named)], 0x0D, stated: Int.random(in: 0...255, using: &dice))
                case 7: return event([directed(device), directed(0)], 0x0B)
                case 8: return Array(event([extended(device, named)], 0x0D).prefix(Int(dice.next() % 40)))
                case 9: return event([extended(device, named)], 0x0D)
                default: return event([legacy(device, named, type: UInt8(dice.next() % 6))])
                }
            })
    }

    private func text(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(0x41 + number >> ($0 * 4) & 0xF) }
    }

    private func address(_ device: Int) -> [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: device >> ($0 * 8)) } }

    private func legacy(_ device: Int, _ data: [UInt8], type: UInt8 = 0) -> [UInt8] {
        [type, UInt8(device & 1)] + address(device) + [UInt8(data.count)] + data + [UInt8(0xA0 + device % 64)]
    }

    private func extended(_ device: Int, _ data: [UInt8]) -> [UInt8] {
        [UInt8(device & 0x13), UInt8(device >> 2 & 0x60), 1] + address(device) + [1, 0, 0xFF, 127, 0xC0]
            + [UInt8](repeating: 0, count: 9) + [UInt8(data.count)] + data
    }

    private func directed(_ device: Int) -> [UInt8] { [1, 1] + address(device) + [1, 6, 5, 4, 3, 2, 0x41, 0xB0] }

    private func event(_ reports: [[UInt8]], _ subevent: UInt8 = 2, stated: Int? = nil) -> [UInt8] {
        let body = [subevent, UInt8(stated ?? reports.count)] + reports.flatMap { $0 }
        return [4, 0x3E, UInt8(truncatingIfNeeded: body.count)] + body
    }
}

/// Counts batches late, and those of one part before those of another, as threads do.
private final class LateCounters: ReportCounters {
    let partCount: Int
    private var counts: [ReportCounts]
    private var waiting: [[ReportBatch]]
    private var dice = Dice(seed: 1)
    private(set) var hasEnded = false

    init(partCount: Int) {
        self.partCount = partCount
        counts = (0..<partCount).map { ReportCounts(part: $0, of: partCount) }
        waiting = [[ReportBatch]](repeating: [], count: partCount)
    }

    /// Reports of each part.
    var shares: [Int] { counts.map(\.progress.reports) }

    var progress: ReportCounts.Progress { counts.reduce(into: ReportCounts.Progress()) { $0 += $1.progress } }

    func count(_ batch: ReportBatch, part: Int) {
        #expect(!hasEnded)
        waiting[part].append(batch)
        for part in 0..<partCount where waiting[part].count > Int.random(in: 0...4, using: &dice) { work(part) }
    }

    private func work(_ part: Int) { counts[part].count(waiting[part].removeFirst()) }

    func end() -> [ReportCounts] {
        hasEnded = true
        for part in (0..<partCount).reversed() {
            while !waiting[part].isEmpty { work(part) }
        }
        return counts
    }
}

/// Numbers that look random and are the same in each run.
private struct Dice: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
