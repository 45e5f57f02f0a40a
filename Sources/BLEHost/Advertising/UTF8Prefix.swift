extension String {
    /// The UTF-8 octets of the longest beginning that fits and splits no Unicode scalar (SPEC 3.5 step 5).
    ///
    /// Marks that combine with what stands before them count as characters of their own: where text ends does not
    /// depend on the version of Unicode that a machine knows.
    /// - Parameter limit: octets; nothing fits in less than none.
    func utf8Prefix(_ limit: Int) -> [UInt8] {
        let octets = Array(utf8)
        guard octets.count > limit else { return octets }
        var end = max(0, limit)
        // Continuation octets begin with the bits 10.
        while end > 0, octets[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(octets[..<end])
    }
}
