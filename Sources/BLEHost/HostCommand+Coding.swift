#if !hasFeature(Embedded)
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
            try CommandOutsideRooms(procedure, on: link).encode(to: encoder)
        case .cancel(let operation): try CommandOutsideRooms.cancel(operation).encode(to: encoder)
        case .holdIndications(let isHeld): try CommandOutsideRooms.holdIndications(isHeld).encode(to: encoder)
        case .sendHCICommand(let opcode, let parameters):
            try CommandOutsideRooms.sendHCICommand(opcode: opcode, parameters: parameters).encode(to: encoder)
        case .stop: try CommandOutsideRooms.stop.encode(to: encoder)
        }
    }
}

/// Commands that belong to no room or to a link, as recordings write them.
private enum CommandOutsideRooms: Codable {
    case cancel(OperationID)
    case holdIndications(Bool)
    case sendHCICommand(opcode: HCIOpcode, parameters: [UInt8])
    case stop
    case disconnect(LinkID)
    case gatt(LinkID, GATTOperation)
    case readRSSI(LinkID)
    case readRemoteVersion(LinkID)
    case readRemoteFeatures(LinkID)
    case updateConnectionParameters(LinkID, ConnectionParameterRequest)
    case setDataLength(LinkID, octets: UInt16, microseconds: UInt16)
    case readPHY(LinkID)
    case setPHY(LinkID, transmit: PHYSet, receive: PHYSet)

    init(_ procedure: LinkProcedure, on link: LinkID) {
        self =
            switch procedure {
            case .readRSSI: .readRSSI(link)
            case .readRemoteVersion: .readRemoteVersion(link)
            case .readRemoteFeatures: .readRemoteFeatures(link)
            case .updateParameters(let wished): .updateConnectionParameters(link, wished)
            case .setDataLength(let octets, let microseconds):
                .setDataLength(link, octets: octets, microseconds: microseconds)
            case .readPHY: .readPHY(link)
            case .setPHY(let transmit, let receive): .setPHY(link, transmit: transmit, receive: receive)
            }
    }

    var command: HostCommand {
        switch self {
        case .cancel(let operation): .cancel(operation)
        case .holdIndications(let isHeld): .holdIndications(isHeld)
        case .sendHCICommand(let opcode, let parameters): .sendHCICommand(opcode: opcode, parameters: parameters)
        case .stop: .stop
        case .disconnect(let link): .link(link, .disconnect)
        case .gatt(let link, let operation): .link(link, .gatt(operation))
        case .readRSSI(let link): .link(link, .procedure(.readRSSI))
        case .readRemoteVersion(let link): .link(link, .procedure(.readRemoteVersion))
        case .readRemoteFeatures(let link): .link(link, .procedure(.readRemoteFeatures))
        case .updateConnectionParameters(let link, let wished): .link(link, .procedure(.updateParameters(wished)))
        case .setDataLength(let link, let octets, let microseconds):
            .link(link, .procedure(.setDataLength(octets: octets, microseconds: microseconds)))
        case .readPHY(let link): .link(link, .procedure(.readPHY))
        case .setPHY(let link, let transmit, let receive):
            .link(link, .procedure(.setPHY(transmit: transmit, receive: receive)))
        }
    }
}
#endif
