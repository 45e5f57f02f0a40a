extension String {
    /// The UTF-8 octets of the longest prefix that fits and splits no Unicode scalar (SPEC 3.5 step 5).
    ///
    /// A combining mark counts as one character: the end of the prefix does not depend on the machine's
    /// version of Unicode.
    /// - Parameter limit: the maximum number of octets; if it is negative, the result is empty.
    package func utf8Prefix(_ limit: Int) -> [UInt8] {
        // By span: in Embedded Swift, counting and copying `utf8` brings tables of UTF-16.
        let octets = utf8.span
        var end = max(0, min(limit, octets.count))
        // Continuation octets begin with the bits 10.
        if end < octets.count {
            while end > 0, octets[end] & 0xC0 == 0x80 { end -= 1 }
        }
        var prefix: [UInt8] = []
        prefix.reserveCapacity(end)
        for index in 0..<end { prefix.append(octets[index]) }
        return prefix
    }
}
