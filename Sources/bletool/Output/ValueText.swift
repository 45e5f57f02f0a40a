/// A value for people: its bytes, and beside them the text that they are, where they are text.
enum ValueText {
    static func text(_ value: [UInt8]) -> String {
        guard !value.isEmpty else { return "(empty)" }
        let bytes = Hexadecimal.text(value)
        let isText = value.allSatisfy { (0x20..<0x7F).contains($0) }
        return isText ? "\(bytes)  “\(String(decoding: value, as: UTF8.self))”" : bytes
    }
}
