import BLEHost
import BLEPackets

/// An advertisement of a client (`LEAdvertisement1`).
struct Advertisement: Registration {
    enum State: Equatable {
        /// Its properties are asked for.
        case loading
        /// The controller has not begun.
        case starting
        case active
    }

    static let method = "RegisterAdvertisement"
    static let limits = RegistrationLimits(all: 5, client: 5, user: 4)
    static let isFull = BusError.notPermitted("Maximum advertisements reached")

    let number: Int
    let client: String
    let path: String
    var state = State.loading
    var call: BusCall?
    /// The advertising set at the daemon; `nil` while the adapter is off, and while others have their turn.
    var ticket: Ticket?
    var content = AdvertisementContent()
    /// When it ends by itself.
    var end: Instant?
    /// Whether its changed properties are asked for, and whether they have changed meanwhile.
    var isBeingRead = false
    var hasChangedAgain = false

    init(number: Int, call: BusCall) {
        self.number = number
        client = call.sender
        path = call.text(at: 0)
        self.call = call
    }
}

/// What an advertisement says.
struct AdvertisementContent: Equatable {
    var isConnectable = true
    var serviceUUIDs: [BluetoothUUID] = []
    var solicitedUUIDs: [BluetoothUUID] = []
    var manufacturerData: [(company: UInt16, data: [UInt8])] = []
    var serviceData: [(uuid: BluetoothUUID, data: [UInt8])] = []
    /// Other structures, by their types.
    var otherData: [(type: UInt8, data: [UInt8])] = []
    var localName: String?
    var includesName = false
    var includesAppearance = false
    var includesPower = false
    var appearance: UInt16?
    /// `nil`: as the adapter is.
    var isDiscoverable: Bool?
    /// In seconds; 0: without end.
    var timeout: UInt16 = 0
    /// In milliseconds.
    var interval: UInt32 = 100
    /// How long its turn is where advertisements take turns.
    var turn = Self.usualTurn

    /// As the kernel has it.
    static let usualTurn = Microseconds.seconds(2)

    static func == (a: Self, b: Self) -> Bool {
        a.isConnectable == b.isConnectable && a.serviceUUIDs == b.serviceUUIDs && a.solicitedUUIDs == b.solicitedUUIDs
            && a.manufacturerData.elementsEqual(b.manufacturerData, by: ==)
            && a.serviceData.elementsEqual(b.serviceData, by: ==) && a.otherData.elementsEqual(b.otherData, by: ==)
            && a.localName == b.localName && a.includesName == b.includesName
            && a.includesAppearance == b.includesAppearance && a.includesPower == b.includesPower
            && a.appearance == b.appearance && a.isDiscoverable == b.isDiscoverable && a.timeout == b.timeout
            && a.interval == b.interval && a.turn == b.turn
    }

    init() {}

    /// - Throws: `Failed` for a type or UUID that there is none, and for values of other types than they have.
    init(_ properties: [(name: String, value: BusValue)]) throws(BusError) {
        var hasType = false
        for (name, value) in properties {
            switch (name, value) {
            case ("Type", .string("peripheral")): hasType = true
            case ("Type", .string("broadcast")): (hasType, isConnectable) = (true, false)
            case ("ServiceUUIDs", .array("s", let values)): serviceUUIDs = try Self.uuids(values)
            case ("SolicitUUIDs", .array("s", let values)): solicitedUUIDs = try Self.uuids(values)
            case ("ManufacturerData", .dictionary("qv", let entries)):
                for entry in entries {
                    guard case .uint16(let company) = entry.key, case .variant(.octets(let data)) = entry.value else {
                        throw Self.unusable
                    }
                    manufacturerData.append((company, data))
                }
            case ("ServiceData", .dictionary("sv", let entries)):
                for entry in entries {
                    guard case .string(let text) = entry.key, let uuid = BluetoothUUID(bluez: text),
                        case .variant(.octets(let data)) = entry.value
                    else { throw Self.unusable }
                    serviceData.append((uuid, data))
                }
            case ("Data", .dictionary("yv", let entries)):
                for entry in entries {
                    guard case .byte(let type) = entry.key, case .variant(.octets(let data)) = entry.value,
                        // What the other properties say has no place here.
                        ![0x01, 0x02, 0x03, 0x06, 0x07, 0x08, 0x09, 0x16, 0x21, 0xFF].contains(type)
                    else { throw Self.unusable }
                    otherData.append((type, data))
                }
            case ("Includes", .array("s", let values)):
                for include in values.compactMap(\.text) {
                    switch include {
                    case "local-name": includesName = true
                    case "appearance": includesAppearance = true
                    case "tx-power": includesPower = true
                    default: throw Self.unusable
                    }
                }
            case ("LocalName", .string(let text)): localName = text.isEmpty ? nil : text
            case ("Appearance", .uint16(let value)): appearance = value
            case ("Discoverable", .boolean(let value)): isDiscoverable = value
            case ("Timeout", .uint16(let seconds)): timeout = seconds
            case ("MinInterval", .uint32(let milliseconds)): interval = min(max(milliseconds, 20), 10_240)
            case ("Duration", .uint16(let seconds)): turn = seconds == 0 ? Self.usualTurn : .seconds(Int32(seconds))
            case ("MaxInterval", .uint32), ("DiscoverableTimeout", .uint16), ("SecondaryChannel", .string),
                ("TxPower", .int16), ("ScanResponseData", .dictionary), ("ScanResponseServiceUUIDs", .array),
                ("ScanResponseManufacturerData", .dictionary),
                ("ScanResponseSolicitUUIDs", .array), ("ScanResponseServiceData", .dictionary):
                break
            case ("Type", _), ("ServiceUUIDs", _), ("SolicitUUIDs", _), ("ManufacturerData", _), ("ServiceData", _),
                ("Data", _), ("Includes", _), ("LocalName", _), ("Appearance", _), ("Discoverable", _),
                ("Timeout", _), ("MinInterval", _), ("MaxInterval", _), ("Duration", _):
                // Empty lists of another type are what some bindings make of nothing.
                if case .array(_, let values) = value, values.isEmpty { continue }
                if case .dictionary(_, let entries) = value, entries.isEmpty { continue }
                throw Self.unusable
            default: break
            }
        }
        guard hasType else { throw Self.unusable }
    }

    static let unusable = BusError.failed("Failed to parse advertisement.")

    private static func uuids(_ values: [BusValue]) throws(BusError) -> [BluetoothUUID] {
        var uuids: [BluetoothUUID] = []
        for value in values {
            guard let uuid = value.text.flatMap({ BluetoothUUID(bluez: $0) }) else { throw unusable }
            uuids.append(uuid)
        }
        return uuids
    }
}
