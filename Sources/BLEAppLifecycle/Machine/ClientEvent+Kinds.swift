import BLEHost

extension ClientEvent {
    /// The request of a remote central that it hands over.
    var question: GATTRequestID? {
        switch self {
        case .readRequest(let request): GATTRequestID(rawValue: request.id.rawValue)
        case .writeRequests(let group): GATTRequestID(rawValue: group.id.rawValue)
        default: nil
        }
    }

    var isRestoration: Bool {
        switch self {
        case .willRestoreCentral, .willRestorePeripheral: true
        default: false
        }
    }
}
