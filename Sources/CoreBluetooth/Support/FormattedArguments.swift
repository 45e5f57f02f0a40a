import Foundation

// `NSLog("%@", peripheral)`: on Apple's system any object may be an argument.

extension CBPeer: CVarArg {
    /// As an argument of a format: its description.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBManager: CVarArg {
    /// As an argument of a format: its description.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBAttribute: CVarArg {
    /// As an argument of a format: its description.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBUUID: CVarArg {
    /// As an argument of a format: its description.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBATTRequest: CVarArg {
    /// As an argument of a format: its description.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

extension CBL2CAPChannel: CVarArg {
    /// As an argument of a format: its description.
    public var _cVarArgEncoding: [Int] { FormattedText.encode(description) }
}

private enum FormattedText {
    /// A format takes its arguments as plain addresses, and Linux has no pool that would keep an object until it is done:
    /// so many texts last until as many others have been formatted.
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
