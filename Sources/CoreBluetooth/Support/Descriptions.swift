import Foundation

// Descriptions of objects in logs, in the format of Apple's system.

extension NSObject {
    /// The class and the address of the object.
    var reference: String {
        let place = unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        return "\(type(of: self)): 0x\(String(place, radix: 16))"
    }
}

extension Bool {
    var text: String { self ? "YES" : "NO" }
}

extension Data {
    /// The length and the first octets.
    var text: String {
        let beginning = prefix(24).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "{length = \(count), bytes = 0x\(beginning)\(count > 24 ? " …" : "")}"
    }
}
