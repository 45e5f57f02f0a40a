import BLEPackets

/// Why a command was sent, which decides who handles its answer.
enum CommandPurpose: Equatable {
    case startup(StartupStep)
    case scan
    case initiate
    case advertise
    /// Whether the controller still advertises.
    case advertisingProbe
    /// How many advertising sets the controller has, with how much data.
    case advertisingSetCapacity
    /// The set with this handle.
    case advertisingSet(UInt8)
    /// An attempt to find a periodic train.
    case train
    /// What becomes of trains that the peer of a link transfers.
    case trainReceiver(OperationID, LinkID)
    /// The same, after a request for it has ended. It may not overtake what came before.
    case unusedTrainReceiver(ConnectionHandle)
    /// The subevents of a train to which this device synchronizes.
    case trainSubevents(SynchronizationHandle)
    /// The transfer of a train to the peer of a link.
    case trainTransfer(OperationID, LinkID)
    /// The end of a train that no client wants.
    case unwantedTrain
    /// A command whose success is all that its operation ends with.
    case plain(OperationID)
    /// A new private address.
    case ownAddress
    /// A change of the controller's resolving list.
    case resolvingList
    case link(LinkID, LinkPurpose)
    /// A command for the link with this handle whose answer does not matter.
    case unattendedOnLink(ConnectionHandle)
    /// A client's own command.
    case client(OperationID)
    /// A harmless command: whether the controller answers at all.
    case probe
    /// A command whose answer does not matter.
    case unattended

    /// Whether a link, its encryption or its end waits for the command.
    var isUrgent: Bool {
        switch self {
        case .link(_, .disconnect), .link(_, .encrypt), .link(_, .replyWithKey), .unattendedOnLink:
            true
        case .link(_, .procedure), .startup, .scan, .initiate, .advertise, .advertisingProbe, .advertisingSetCapacity,
            .advertisingSet,
            .train, .trainReceiver, .trainSubevents, .trainTransfer, .unusedTrainReceiver, .unwantedTrain, .plain,
            .ownAddress, .resolvingList, .client, .probe, .unattended:
            false
        }
    }

    /// The operation that ends with the answer.
    var operation: OperationID? {
        switch self {
        case .client(let operation), .plain(let operation), .trainTransfer(let operation, _): operation
        case .startup, .scan, .initiate, .advertise, .advertisingProbe, .advertisingSetCapacity, .advertisingSet,
            .train, .trainReceiver,
            .trainSubevents, .unusedTrainReceiver, .unwantedTrain, .ownAddress, .resolvingList, .link,
            .unattendedOnLink, .probe, .unattended:
            nil
        }
    }

    /// The handle of the link that the command belongs to; `nil` if it belongs to no link.
    var handle: ConnectionHandle? {
        switch self {
        case .link(let link, _), .trainReceiver(_, let link), .trainTransfer(_, let link): link.handle
        case .unattendedOnLink(let handle), .unusedTrainReceiver(let handle): handle
        case .startup, .scan, .initiate, .advertise, .advertisingProbe, .advertisingSetCapacity, .advertisingSet,
            .train, .trainSubevents, .unwantedTrain, .plain, .ownAddress, .resolvingList, .client, .probe, .unattended:
            nil
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
