extension ATTExecuteWriteRequest {
    /// What to do with the queue.
    public enum Flags: UInt8, Sendable {
        /// Discard all parts; nothing is written.
        case cancel = 0x00
        /// Write all parts in their order. If one fails, the response is an error, and the values of the attributes are
        /// undefined.
        case write = 0x01
    }
}
