import BLEHost
import BLEPackets

/// What follows when a command of an adapter has ended.
enum Work: Equatable {
    /// Nothing.
    case nothing
    /// The scan of an adapter.
    case scan(Int)
    /// The connection of a device.
    case connect(String)
    /// The end of a device's link.
    case disconnect(String, LinkID)
    /// The pairing of a device.
    case pair(String)
    /// A step in finding out what a device offers; `round` is the one of its present link.
    case discovery(String, round: UInt64, DiscoveryStep)
    /// A value that the service itself reads.
    case ownRead(String, AttributeHandle, OwnRead)
    case read(AttributeUse, BusCall, offset: Int)
    case write(AttributeUse, BusCall)
    case subscribe(AttributeUse)
    /// A value that came through a socket.
    case socketWrite(SocketID, LinkID, adapter: Int)
    /// A service of an application: its client, its path, the path of the service.
    case publish(String, String, String)
    /// A value for subscribers: client, application, characteristic.
    case update(String, String, String)
    /// The advertising set of a client's advertisement.
    case advertise(String, String)
    /// The use of a central's services.
    case joinCentral(String, LinkID)
    /// A bond was to be removed, and its device.
    case removeBond(String)

    /// An attribute of a device.
    struct AttributeUse: Hashable {
        var device: String
        var path: String
    }

    enum OwnRead: Hashable { case name, appearance, battery }
}

/// A call of a client's method that has not ended.
struct OpenQuestion {
    enum Purpose: Equatable {
        /// An agent answers a question of a pairing.
        case pairing(device: String, PairingPrompt)
        /// An application shows its objects.
        case application(path: String, Int)
        case servedRead(GATTRequestID, Int)
        case servedWrite(GATTRequestID)
        /// What a client advertises, at first and when it changes.
        case advertisement(path: String, Int)
        case changedAdvertisement(path: String, Int)
        /// A client shows its monitors.
        case monitors(path: String, Int)
        /// The bus has passed on the signal of an indication of this value.
        case passedOn(AttributeHandle, LinkID, Int)
    }

    /// The unique name of the client.
    var client: String
    var purpose: Purpose
    var deadline: Instant
}
