extension L2CAPDisconnectionResponse {
    /// The response to a request.
    public init(answering request: L2CAPDisconnectionRequest) {
        self.init(destination: request.destinationChannelIdentifier, source: request.sourceChannelIdentifier)
    }
}

extension L2CAPLECreditBasedConnectionResponse {
    /// A refusal.
    /// - Parameter result: any but `.success`.
    public init(refusing result: L2CAPCreditBasedConnectionResult) {
        self.init(
            destination: .null, maximumTransmissionUnit: 0, maximumPayloadSize: 0, initialCredits: 0, result: result)
    }
}

extension L2CAPCreditBasedConnectionResponse {
    /// Refuses all requested channels.
    public init(refusing request: L2CAPCreditBasedConnectionRequest, result: L2CAPCreditBasedConnectionResult) {
        self.init(
            maximumTransmissionUnit: 0, maximumPayloadSize: 0, initialCredits: 0, result: result,
            destinations: request.sourceChannelIdentifiers.map { _ in .null })
    }
}
