import BLEPackets

/// Why a command was sent, which decides who handles its answer.
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
    /// A command for the link with this handle whose answer does not matter.
    case unattendedOnLink(ConnectionHandle)
    /// A client's own command.
    case client(OperationID)
    /// A command whose answer does not matter.
    case unattended

    /// The handle of the link that the command belongs to; `nil` if it belongs to no link.
    var handle: ConnectionHandle? {
        switch self {
        case .link(let link, _): link.handle
        case .unattendedOnLink(let handle): handle
        case .startup, .scan, .initiate, .advertise, .ownAddress, .resolvingList, .client, .unattended: nil
        }
    }
}

/// Why a command for a link was sent.
enum LinkPurpose: Equatable {
    case disconnect
    /// The command of a `LinkProcedure`.
    case procedure
    /// The central's part of encryption.
    case encrypt
    /// The peripheral's part of encryption.
    case replyWithKey
}
