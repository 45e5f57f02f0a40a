extension ATTError {
    /// Whether the code is one of 0x80 to 0x9F, whose meaning the service defines.
    @inlinable public var isApplicationError: Bool { rawValue >= 0x80 && rawValue <= 0x9F }
    /// Whether the code is one of 0xE0 to 0xFF, which mean the same in every profile and service (Core Specification
    /// Supplement, Part B).
    @inlinable public var isCommonProfileError: Bool { rawValue >= 0xE0 }
}

extension ATTError: CustomStringConvertible {
    /// The specification's name, or only the code: `Read Not Permitted`, `application error 0x80`.
    public var description: String {
        if let meaning { return meaning }
        return isApplicationError ? "application error " + code : "error " + code
    }

    /// `0x80`
    public var code: String {
        let digits =
            [UInt8(ascii: "0"), UInt8(ascii: "x")]
            + [hexadecimalCharacter(rawValue >> 4), hexadecimalCharacter(rawValue & 15)]
        return String(decoding: digits, as: UTF8.self)
    }
}
