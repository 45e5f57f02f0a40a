import BLEHost

extension ClientEvent {
    /// The request of a remote central in the event.
    var question: GATTRequestID? {
        if case .readRequest(let request) = self { return GATTRequestID(rawValue: request.id.rawValue) }
        if case .writeRequests(let group) = self { return GATTRequestID(rawValue: group.id.rawValue) }
        return nil
    }

    var isRestoration: Bool {
        if case .willRestoreCentral = self { return true }
        if case .willRestorePeripheral = self { return true }
        return false
    }
}
