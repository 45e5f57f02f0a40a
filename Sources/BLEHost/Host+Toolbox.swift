/// Cryptography that others do for the engine.
extension Host {
    /// The oldest request that nobody has taken yet; its answer comes by `answer(_:with:at:)`.
    public mutating func nextToolboxQuestion() -> ToolboxQuestion? { desk.next() }

    /// What came of a request. An answer that nobody waits for is passed over.
    ///
    /// - Parameter question: `ToolboxQuestion.id`.
    public mutating func answer(_ question: UInt64, with result: ToolboxResult, at now: Instant) {
        guard let purpose = desk.take(question) else { return }
        switch purpose {
        case .databaseHash(let revision):
            guard case .octets(let octets) = result else { break }
            gattServer.databaseHash(octets, revision: revision, at: now)
            drainServer(at: now)
        }
        settle(at: now)
    }
}
