/// Events of an attribute server that are not reported otherwise.
public struct GATTServerCounters: Equatable, Sendable {
    /// Answers of the app to a request that had an answer already, or whose client or time was gone.
    public var lateAnswers: UInt64 = 0
    /// Requests that the app left without an answer until the time was over.
    public var expiredRequests: UInt64 = 0
    /// Requests and commands that are not of the form that their opcode demands.
    public var malformedPDUs: UInt64 = 0
    /// Requests with an opcode that the server does not know.
    public var unsupportedRequests: UInt64 = 0
    /// Write Commands that were not carried out, whatever the reason: their sender does not hear of it.
    public var refusedCommands: UInt64 = 0
    /// Signed writes, which need a key that no client has.
    public var refusedSignedWrites: UInt64 = 0
    /// Requests that came before the one under way was answered.
    public var earlyRequests: UInt64 = 0
    /// Bearers that were dropped because their client sent too much at once.
    public var floodedBearers: UInt64 = 0
    /// Confirmations that nothing waited for.
    public var unexpectedConfirmations: UInt64 = 0
    /// Indications that were never confirmed.
    public var unconfirmedIndications: UInt64 = 0
    /// Updates that a client missed since it took those before too slowly, while others went on.
    public var missedUpdates: UInt64 = 0
    /// How often a client took updates so slowly that the others did not wait for it any more.
    public var clientsFallenBehind: UInt64 = 0
    /// PDUs from links that the server does not know, or has given up.
    public var strayPDUs: UInt64 = 0

    /// All zero.
    public init() {}
}
