#if !hasFeature(Embedded) && !JELLING_WITHOUT_CODING
import BLEPackets

/// A recording names a command without its room, and the link before the link's command: `{"scan":{"_0":…}}`,
/// `{"gatt":{"_0":link,"_1":…}}`. So recordings remain valid when commands move to other rooms.
extension HostCommand: Codable {
    public init(from decoder: any Decoder) throws {
        func names<Key: CodingKey>(_ keys: Key.Type) throws -> Bool {
            try !decoder.container(keyedBy: keys).allKeys.isEmpty
        }
        if try names(RadioCommand.CodingKeys.self) {
            self = .radio(try RadioCommand(from: decoder))
        } else if try names(ChannelCommand.CodingKeys.self) {
            self = .channel(try ChannelCommand(from: decoder))
        } else if try names(ServerCommand.CodingKeys.self) {
            self = .server(try ServerCommand(from: decoder))
        } else if try names(SecurityCommand.CodingKeys.self) {
            self = .security(try SecurityCommand(from: decoder))
        } else if let (link, procedure) = try LinkProcedure.recorded(by: decoder) {
            self = .link(link, .procedure(procedure))
        } else {
            self = try CommandOutsideRooms(from: decoder).command
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .radio(let command): try command.encode(to: encoder)
        case .channel(let command): try command.encode(to: encoder)
        case .server(let command): try command.encode(to: encoder)
        case .security(let command): try command.encode(to: encoder)
        case .link(let link, .disconnect): try CommandOutsideRooms.disconnect(link).encode(to: encoder)
        case .link(let link, .gatt(let operation)):
            try CommandOutsideRooms.gatt(link, operation).encode(to: encoder)
        case .link(let link, .procedure(let procedure)):
            try procedure.record(on: link, to: encoder)
        case .cancel(let operation): try CommandOutsideRooms.cancel(operation).encode(to: encoder)
        case .holdIndications(let isHeld): try CommandOutsideRooms.holdIndications(isHeld).encode(to: encoder)
        case .sendHCICommand(let opcode, let parameters):
            try CommandOutsideRooms.sendHCICommand(opcode: opcode, parameters: parameters).encode(to: encoder)
        case .stop: try CommandOutsideRooms.stop.encode(to: encoder)
        }
    }
}

extension LinkProcedure {
    private enum LinkKey: String, CodingKey { case link = "_0" }

    /// The procedure and its link; `nil` if this is another command.
    fileprivate static func recorded(by decoder: any Decoder) throws -> (LinkID, LinkProcedure)? {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let name = container.allKeys.first else { return nil }
        let parameters = try container.nestedContainer(keyedBy: LinkKey.self, forKey: name)
        return (try parameters.decode(LinkID.self, forKey: .link), try LinkProcedure(from: decoder))
    }

    fileprivate func record(on link: LinkID, to encoder: any Encoder) throws {
        try encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        var parameters = container.nestedContainer(keyedBy: LinkKey.self, forKey: codingKey)
        try parameters.encode(link, forKey: .link)
    }
}

/// Other commands that belong to no room or to a link, as recordings write them.
private enum CommandOutsideRooms: Codable {
    case cancel(OperationID)
    case holdIndications(Bool)
    case sendHCICommand(opcode: HCIOpcode, parameters: [UInt8])
    case stop
    case disconnect(LinkID)
    case gatt(LinkID, GATTOperation)

    var command: HostCommand {
        switch self {
        case .cancel(let operation): .cancel(operation)
        case .holdIndications(let isHeld): .holdIndications(isHeld)
        case .sendHCICommand(let opcode, let parameters): .sendHCICommand(opcode: opcode, parameters: parameters)
        case .stop: .stop
        case .disconnect(let link): .link(link, .disconnect)
        case .gatt(let link, let operation): .link(link, .gatt(operation))
        }
    }
}
#endif
