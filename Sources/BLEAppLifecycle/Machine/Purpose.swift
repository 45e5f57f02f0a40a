import BLEHost

/// The purpose of a command: the receiver of its completion.
enum Purpose: Equatable {
    case scan(ClientID)
    case advertise(ClientID)
    case connect(ClientID, PeerIdentifier)
    case peripheral(ClientID, PeerIdentifier, PeripheralTask)
    case publish(ClientID, LocalAttributeID)
    case update(ClientID, QueryID)
    case respond(ClientID)
    case listen(ClientID)
    /// An SDU on a channel, with its length in octets.
    case send(ClientID, L2CAPChannelID, octets: Int)
    /// For the system itself, on a new link.
    case learn(LinkID, LearningStep)
    /// No manager waits for the completion.
    case none

    var client: ClientID? {
        switch self {
        case .scan(let client), .advertise(let client), .connect(let client, _), .peripheral(let client, _, _),
            .publish(let client, _), .update(let client, _), .respond(let client), .listen(let client),
            .send(let client, _, _):
            client
        case .learn, .none: nil
        }
    }
}
