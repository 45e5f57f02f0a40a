import BLEPackets

/// What a client may ask of the local GATT server.
public enum ServerCommand: Equatable, Sendable {
    /// Puts a service into the local database (SPEC PER-6).
    case publish(GATTServiceDefinition)
    /// Removes the service with this first handle from the local database.
    case removeService(AttributeHandle)
    /// The error for centrals that read or write values and descriptors of this client's services; `nil` enables access
    /// (SPEC FGO-3). Discovery goes on in any case.
    case disableServices(ATTError?)
    /// Changes what the Generic Access service calls this device.
    case setDeviceName(String)
    /// Answers a question of `GATTServerEvent`, once.
    case respond(GATTRequestID, GATTAnswer)
    /// Sends a value to those who subscribed to it, or to those of them that are named (SPEC PER-21).
    case updateValue(AttributeHandle, value: [UInt8], links: [LinkID]?)
}

#if !hasFeature(Embedded)
// As recordings name them.
extension ServerCommand: Codable {
    enum CodingKeys: String, CodingKey {
        case publish, removeService, disableServices, setDeviceName, respond, updateValue
    }
}
#endif
