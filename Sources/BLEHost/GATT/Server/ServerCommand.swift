import BLEPackets

/// What a client may ask of the local GATT server.
public enum ServerCommand: Equatable, Sendable {
    /// Adds a service to the local database (SPEC PER-6).
    case publish(GATTServiceDefinition)
    /// Removes the service with this first handle from the local database.
    case removeService(AttributeHandle)
    /// Disables the values and descriptors of this client's services with this error for all centrals; `nil` enables
    /// access (SPEC FGO-3). Discovery continues to work in any case.
    case disableServices(ATTError?)
    /// Changes the device name in the Generic Access service; cut to 248 octets.
    case setDeviceName(String)
    /// Answers a read or write of `GATTServerEvent`, once.
    case respond(GATTRequestID, GATTAnswer)
    /// Sends a value to all its subscribers, or only to those on the given links (SPEC PER-21).
    case updateValue(AttributeHandle, value: [UInt8], links: [LinkID]?)
}
