/// The specification's names of packets.
public enum PacketNames {
    /// A table of names.
    public enum Table: Sendable {
        /// Commands by opcode.
        case command
        /// Events by code.
        case event
        /// LE Meta events by subevent code.
        case leMetaEvent
        /// PDUs of ATT by opcode.
        case att
        /// PDUs of SMP by code.
        case smp
        /// Fixed L2CAP channels.
        case channel
        /// Statuses and reasons of the controller.
        case controllerError
        /// Error codes of ATT.
        case attError
        /// PDUs of the Link Layer Control Protocol by opcode.
        case linkLayerControl
    }

    /// The name of a number; `nil` if the specification has none.
    public static func name(of number: UInt16, in table: Table) -> String? {
        let tables = PacketTables.shared
        let code = Int(number & 0xFF)
        let place: Int16
        switch table {
        case .command: place = tables.commands[Int(number)]
        case .event: place = tables.events[code]
        case .leMetaEvent: place = tables.subevents[code]
        case .att: place = tables.attOpcodes[code]
        case .smp: place = tables.smpCodes[code]
        case .channel: return channelName(number)
        case .controllerError: return valueName(number, PacketTables.Values.status)
        case .attError: return valueName(number, PacketTables.Values.atterror)
        case .linkLayerControl:
            return UInt8(exactly: number).flatMap(LinkLayerControlTable.name)?.description
        }
        guard place >= 0 else { return nil }
        return unsafe String(decoding: tables.layouts[Int(place)].name.utf8, as: UTF8.self)
    }

    private static func valueName(_ number: UInt16, _ table: Int) -> String? {
        guard let name = PacketTables.shared.name(of: UInt64(number), in: table) else { return nil }
        return unsafe String(decoding: name.utf8, as: UTF8.self)
    }

    private static func channelName(_ number: UInt16) -> String? {
        switch number {
        case 0x0001: "signalling"
        case 0x0002: "connectionless"
        case 0x0004: "ATT"
        case 0x0005: "LE signalling"
        case 0x0006: "SMP"
        case 0x0007: "SMP over BR/EDR"
        default: nil
        }
    }
}
