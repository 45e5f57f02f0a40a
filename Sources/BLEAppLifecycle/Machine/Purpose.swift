import BLEHost
import BLEPackets

/// What a command was given for: who is to hear of its end.
enum Purpose: Equatable {
    case scan(ClientID)
    case advertise(ClientID)
    case connect(ClientID, PeerIdentifier)
    case peripheral(ClientID, PeerIdentifier, PeripheralTask)
    case publish(ClientID, LocalAttributeID)
    case update(ClientID, QueryID)
    case respond(ClientID)
    case listen(ClientID)
    /// A unit on a channel of so many octets.
    case send(ClientID, L2CAPChannelID, octets: Int)
    /// Of the system itself, on a new link.
    case learn(LinkID, LearningStep)
    /// Nobody waits.
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

/// A request to a remote peripheral that is under way.
enum PeripheralTask: Equatable {
    case discoverServices
    case discoverIncludedServices([BluetoothUUID], service: RemoteAttributeID)
    case discoverCharacteristics(service: RemoteAttributeID)
    case discoverDescriptors(characteristic: RemoteAttributeID)
    /// The descriptors are looked through for the configuration, to subscribe then.
    case findConfiguration(characteristic: RemoteAttributeID)
    case read(characteristic: RemoteAttributeID)
    case readDescriptor(RemoteAttributeID)
    case write(characteristic: RemoteAttributeID)
    case writeWithoutResponse
    case writeDescriptor(RemoteAttributeID)
    case subscribe(characteristic: RemoteAttributeID)
    case unsubscribe(characteristic: RemoteAttributeID)
    case readRSSI
    case openChannel(psm: UInt16)

    /// The characteristic whose notifications are turned on or off by it.
    var notifyingCharacteristic: RemoteAttributeID? {
        switch self {
        case .findConfiguration(let id), .subscribe(let id), .unsubscribe(let id): id
        default: nil
        }
    }
}

/// What the system wants to know of a new link: the device's name, and when its services change.
enum LearningStep: Equatable {
    case name
    case attributeService
    case serviceChanged
    case configuration(AttributeHandle)
    case subscription(AttributeHandle)
    /// Those that connection events were asked for.
    case watchedServices
}

/// A command that the engine was given.
struct Command {
    var purpose: Purpose
    var operation: OperationID?
    /// It is to be ended as soon as the engine has named it.
    var isCancelled = false
}
