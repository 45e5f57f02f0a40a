import BLECapture
import BLEDecoder
import BLEPackets

/// What a sniffer heard: each step is a packet of the link layer with the sniffer's notes, and its time after the one before.
/// The same records go to text, JSON and counts.
enum AirBody {
    /// More steps reach nothing new.
    private static let greatestStepCount = 400

    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        // A key, or none; the cipher is one that a fuzzer can see through.
        let hasKeys = input.byte() & 1 == 1
        var keys = LinkLayerKeys(
            encrypt: { key, block in zip(key, block).map { $0 ^ $1 } },
            open: { text, _, _, _, code in code == [0, 0, 0, 0] ? text : nil })
        keys.add([UInt8](repeating: 7, count: 16))
        var file = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 12) + [0, 1, 0, 0]
        var time: UInt32 = 0
        var steps = 0
        while !input.isAtEnd, steps < greatestStepCount {
            steps += 1
            time &+= UInt32(input.byte()) << 4
            let flags = input.word()
            let channel = input.byte() % 41
            let packet = input.counted()
            let count = UInt32(packet.count + 10)
            let missing = UInt32(flags >> 13 == 5 ? 3 : 0)
            for number in [time / 1_000_000, time % 1_000_000, count, count + missing] {
                file += (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            }
            file += [channel, 0xC0, 0xA0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: flags), UInt8(flags >> 8)] + packet
        }
        var texts = CaptureDecoder(style: .text(isColoured: false), keys: hasKeys ? keys : nil)
        var objects = CaptureDecoder(style: .json, keys: hasKeys ? keys : nil)
        var summary = CaptureSummary(keys: hasKeys ? keys : nil)
        do throws(CaptureError) {
            var reader = try CaptureReader(bytes: file)
            while let record = try reader.next() {
                texts.decode(record)
                objects.decode(record)
                summary.count(record)
                if texts.output.byteCount > 1 << 20 { return "a packet becomes a text without end" }
                texts.removeOutput()
                objects.removeOutput()
            }
        } catch { return "a record cannot be read: \(error)" }
        let counts = summary.linkLayer
        guard counts.packets == steps else { return "\(counts.packets) packets of \(steps) are counted" }
        guard texts.malformedCount == objects.malformedCount else { return "text and JSON differ" }
        return nil
    }
}
