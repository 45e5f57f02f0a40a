import Foundation

// How objects look in a log: in the form that Apple's system gives them.

extension NSObject {
    /// The class and where the object is.
    var reference: String {
        let place = unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        return "\(type(of: self)): 0x\(String(place, radix: 16))"
    }
}

extension Bool {
    var text: String { self ? "YES" : "NO" }
}

extension Data {
    /// Length and beginning.
    var text: String {
        let beginning = prefix(24).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "{length = \(count), bytes = 0x\(beginning)\(count > 24 ? " …" : "")}"
    }
}
