extension String {
    /// The UTF-8 octets of the longest prefix that fits and splits no Unicode scalar (SPEC 3.5 step 5).
    ///
    /// A combining mark counts as a character of its own: the end of the prefix does not depend on the machine's
    /// version of Unicode.
    /// - Parameter limit: the maximum number of octets; if it is negative, the result is empty.
    func utf8Prefix(_ limit: Int) -> [UInt8] {
        let octets = Array(utf8)
        guard octets.count > limit else { return octets }
        var end = max(0, limit)
        // Continuation octets begin with the bits 10.
        while end > 0, octets[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(octets[..<end])
    }
}
