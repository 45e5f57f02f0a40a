import Foundation

// `NSLog("%@", peripheral)`: on Apple's system any object may be an argument.

extension CBPeer: CVarArg {
    /// The description, as an argument of a format string.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBManager: CVarArg {
    /// The description, as an argument of a format string.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBAttribute: CVarArg {
    /// The description, as an argument of a format string.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBUUID: CVarArg {
    /// The description, as an argument of a format string.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBATTRequest: CVarArg {
    /// The description, as an argument of a format string.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBL2CAPChannel: CVarArg {
    /// The description, as an argument of a format string.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

private enum FormattedText {
    /// The most recent texts. A format receives its arguments as plain addresses, and Linux has no autorelease pool to
    /// keep an object alive: each text lasts until `limit` others have been formatted.
    private static let kept = Locked((texts: [NSString](), next: 0))
    private static let limit = 256

    static func encode(_ description: String) -> [Int] {
        let text = NSString(string: description)
        kept.with { kept in
            if kept.texts.count < limit {
                kept.texts.append(text)
            } else {
                kept.texts[kept.next] = text
                kept.next = (kept.next + 1) % limit
            }
        }
        return text._cVarArgEncoding
    }
}
