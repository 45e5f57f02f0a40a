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
    case link(LinkID, LinkPurpose)
    /// Something about the link of this handle whose answer is not waited for.
    case unattendedOnLink(ConnectionHandle)
    /// A client's own command.
    case client(OperationID)
    /// The answer is not waited for.
    case unattended

    /// The handle in the command, of which it is known that it belongs to a link.
    var handle: ConnectionHandle? {
        switch self {
        case .link(let link, _): link.handle
        case .unattendedOnLink(let handle): handle
        case .startup, .scan, .initiate, .advertise, .ownAddress, .resolvingList, .client, .unattended: nil
        }
    }
}

/// Why a command was sent that belongs to a link.
enum LinkPurpose: Equatable {
    case disconnect
    /// A `LinkProcedure`, by its command.
    case procedure
    /// The central's part of encryption.
    case encrypt
    /// The peripheral's part of encryption.
    case replyWithKey
}
