import BLEHost
import BLEPackets

/// A request of a peripheral manager (SPEC PER-2 to PER-22).
public enum PeripheralManagerRequest: Hashable, Codable, Sendable {
    /// Followed by `serviceAdded` (SPEC PER-6).
    case addService(LocalService)
    /// Removes the service at once; centrals are notified (SPEC PER-6).
    case removeService(LocalAttributeID)
    /// All that this manager has published.
    case removeAllServices
    /// Followed by `advertisingStarted` (SPEC PER-8, PER-9).
    case startAdvertising(AdvertisementRequest)
    /// Stops the advertising of this manager at once.
    case stopAdvertising
    /// Answers a read request, or a group of write requests by the identifier of the group (SPEC PER-15, PER-18).
    /// - Parameters:
    ///   - code: `CBATTError`'s; 0 is success.
    ///   - value: for a read request, the value from the request's offset on.
    case respond(ATTRequestID, code: UInt8, value: [UInt8])
    /// Answered by `ClientEvent.updateQueued` (SPEC PER-21, PER-22).
    /// - Parameter centrals: `nil` for all that have subscribed.
    case updateValue(QueryID, LocalAttributeID, value: [UInt8], centrals: [PeerIdentifier]?)
    /// A hint to a central; its result is not reported.
    case setConnectionLatency(ConnectionLatency, central: PeerIdentifier)
    /// Followed by `channelPublished`.
    case publishChannel(isEncrypted: Bool)
    /// Followed by `channelUnpublished`; channels that were opened by it end (SPEC 2.4).
    case unpublishChannel(psm: UInt16)
}
