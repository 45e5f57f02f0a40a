/// Counts events of an attribute server that are not reported otherwise.
public struct GATTServerCounters: Equatable, Sendable {
    /// Answers of the app that came too late: to a request that was already answered or expired, or whose client is
    /// gone.
    public var lateAnswers: UInt64 = 0
    /// Requests that the app did not answer in time.
    public var expiredRequests: UInt64 = 0
    /// Requests and commands whose format does not match their opcode.
    public var malformedPDUs: UInt64 = 0
    /// Requests with an opcode that the server does not know.
    public var unsupportedRequests: UInt64 = 0
    /// Write Commands that were not carried out, for any reason: their sender gets no error.
    public var refusedCommands: UInt64 = 0
    /// Signed writes without a valid signature.
    public var refusedSignedWrites: UInt64 = 0
    /// Requests that came before the previous one was answered.
    public var earlyRequests: UInt64 = 0
    /// Bearers that were given up because their client sent too much at once.
    public var floodedBearers: UInt64 = 0
    /// Confirmations without an unconfirmed indication.
    public var unexpectedConfirmations: UInt64 = 0
    /// Indications that were never confirmed.
    public var unconfirmedIndications: UInt64 = 0
    /// Updates that a client missed because it accepts them too slowly, while others received them.
    public var missedUpdates: UInt64 = 0
    /// How often a client was so slow that the others stopped waiting for it.
    public var clientsFallenBehind: UInt64 = 0
    /// PDUs from links that the server does not know or has given up.
    public var strayPDUs: UInt64 = 0

    /// All zero.
    public init() {}
}
