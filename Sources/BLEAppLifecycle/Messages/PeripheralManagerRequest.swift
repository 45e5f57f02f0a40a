import BLEHost

/// A request of a peripheral manager (SPEC PER-2 to PER-22).
public enum PeripheralManagerRequest: Hashable, Sendable {
    /// Publishes a service; `serviceAdded` follows (SPEC PER-6).
    case addService(LocalService)
    /// Removes the service at once; centrals are notified (SPEC PER-6).
    case removeService(LocalAttributeID)
    /// Removes all services that this manager has published.
    case removeAllServices
    /// Starts advertising; `advertisingStarted` follows (SPEC PER-8, PER-9).
    case startAdvertising(AdvertisementRequest)
    /// Stops the advertising of this manager at once.
    case stopAdvertising
    /// Answers a read request, or a group of write requests by the identifier of the group (SPEC PER-15, PER-18).
    /// - Parameters:
    ///   - code: the raw value of a `CBATTError.Code`; 0 is success.
    ///   - value: for a read request, the value from the request's offset on.
    case respond(ATTRequestID, code: UInt8, value: [UInt8])
    /// Sends a value to subscribed centrals; answered by `ClientEvent.updateQueued` (SPEC PER-21, PER-22).
    /// - Parameter centrals: the centrals to send to; `nil` for all that have subscribed.
    case updateValue(QueryID, LocalAttributeID, value: [UInt8], centrals: [PeerIdentifier]?)
    /// Requests a connection interval and latency; the result is not reported.
    case setConnectionLatency(ConnectionLatency, central: PeerIdentifier)
    /// Publishes an L2CAP channel; `channelPublished` follows.
    case publishChannel(isEncrypted: Bool)
    /// Withdraws a published L2CAP channel; `channelUnpublished` follows, and the channels that centrals opened to it
    /// end (SPEC 2.4).
    case unpublishChannel(psm: UInt16)
}
