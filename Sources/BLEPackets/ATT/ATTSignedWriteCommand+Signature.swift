extension ATTSignedWriteCommand {
    /// Octets of the signature: a counter of four and a code of eight (Core 5.4, Vol 3, Part H, 2.4.5).
    public static var signatureLength: Int { 12 }
}
