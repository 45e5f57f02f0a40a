extension HCIStatus {
    /// Whether the code is zero; every other code is an error or the reason of a disconnection.
    @inlinable public var isSuccess: Bool { rawValue == 0 }
}

extension HCIStatus: CustomStringConvertible {
    /// The meaning of the code and its number: `connection timeout (0x08)`; only the number of an unnamed code.
    public var description: String {
        let number: [UInt8] = [hexadecimalCharacter(rawValue >> 4), hexadecimalCharacter(rawValue & 15)]
        let code = "0x" + String(decoding: number, as: UTF8.self)
        guard let meaning else { return code }
        return meaning + " (" + code + ")"
    }
}
