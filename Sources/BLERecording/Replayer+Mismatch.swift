import BLEHost

extension Replayer.Mismatch: CustomStringConvertible {
    private static let octetsPerLine = 16
    private static let lineLimit = 6

    /// The first octet in which the two differ, from 0.
    public var differenceOffset: Int {
        let (expected, sent) = (expected ?? [], sent ?? [])
        return zip(expected, sent).enumerated().first { $1.0 != $1.1 }?.offset ?? min(expected.count, sent.count)
    }

    /// Both packets one above the other, from the line of the first difference on, with marks under the differences.
    public var description: String {
        var lines = ["packet \(index) of the host, at \(time.microseconds) µs, differs at octet \(differenceOffset):"]
        let length = max(expected?.count ?? 0, sent?.count ?? 0)
        let first = differenceOffset / Self.octetsPerLine * Self.octetsPerLine
        for (count, start) in stride(from: first, to: max(length, first + 1), by: Self.octetsPerLine).enumerated() {
            guard count < Self.lineLimit else {
                lines.append("  … \(length - start) octets more")
                break
            }
            lines.append("  recorded  \(Self.text(expected, from: start))")
            lines.append("  now       \(Self.text(sent, from: start))")
            lines.append("            \(marks(from: start))")
        }
        return lines.map { $0.last == " " ? Self.trimmed($0) : $0 }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func text(_ packet: [UInt8]?, from start: Int) -> String {
        guard let packet else { return "(nothing)" }
        return packet.dropFirst(start).prefix(octetsPerLine).map { octet in
            let text = String(octet, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined(separator: " ")
    }

    private func marks(from start: Int) -> String {
        let (expected, sent) = (expected ?? [], sent ?? [])
        return (start..<start + Self.octetsPerLine).map { offset in
            let pair = (
                expected.indices.contains(offset) ? expected[offset] : nil,
                sent.indices.contains(offset) ? sent[offset] : nil
            )
            return pair.0 == pair.1 ? "  " : "^^"
        }.joined(separator: " ")
    }

    private static func trimmed(_ line: String) -> String {
        var line = line[...]
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
