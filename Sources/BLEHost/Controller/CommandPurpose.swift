import BLEPackets

/// Why a command was sent: who takes its answer.
enum CommandPurpose: Equatable {
    case startup(StartupStep)
    case scan
    case initiate
    case advertise
    /// A new private address.
    case ownAddress
    /// A change of the controller's resolving list.
    case resolvingList
    case link(LinkID, LinkProcedure)
    /// Something about the link of this handle whose answer nobody waits for.
    case unattendedOnLink(ConnectionHandle)
    /// A client's own command.
    case client(OperationID)
    /// Nobody waits for the answer.
    case unattended

    /// The handle in the command, of which it is known that it belongs to a link.
    var handle: ConnectionHandle? {
        switch self {
        case .link(let link, _): link.handle
        case .unattendedOnLink(let handle): handle
        default: nil
        }
    }
}

/// A procedure of the link layer that runs on a link.
enum LinkProcedure: Equatable {
    case disconnect
    case readRSSI
    case readRemoteVersion
    case readRemoteFeatures
    case updateParameters
    case setDataLength
    case readPHY
    case setPHY
    /// The central's part of encryption.
    case encrypt
    /// The peripheral's part of encryption.
    case replyWithKey

    /// The class of clients' operations that wait for this procedure.
    var operationClass: LinkOperations.Class? {
        switch self {
        case .disconnect, .encrypt, .replyWithKey: nil
        case .readRSSI: .readRSSI
        case .readRemoteVersion: .readRemoteVersion
        case .readRemoteFeatures: .readRemoteFeatures
        case .updateParameters: .updateParameters
        case .setDataLength: .setDataLength
        case .readPHY: .readPHY
        case .setPHY: .setPHY
        }
    }
}
