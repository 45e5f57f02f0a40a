import BLEGateway
import BLEHost
import BLEJSON
import BLEPackets

/// The arguments of a command.
struct MatterArguments {
    private let values: JSONValue

    /// - Parameter values: `nil` and `null` are no arguments.
    init(_ values: JSONValue?) throws(MatterFailure) {
        switch values {
        case nil, .null?: self.values = .object([])
        case .object?: self.values = values ?? .null
        default: throw MatterFailure(.internalError, "‘args’ is no object")
        }
    }

    private static func wrong(_ name: String, _ expected: String) -> MatterFailure {
        MatterFailure(.internalError, "‘\(name)’ is missing or wrong: expected \(expected)")
    }

    /// A value that may be missing.
    private subscript(name: String) -> JSONValue? { values[name] == .null ? nil : values[name] }

    func handle() throws(MatterFailure) -> UInt16 {
        UInt16(try integer("connection_handle", in: 0...0xFFFF))
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(MatterFailure) -> Int {
        guard case .integer(let value)? = self[name], range.contains(value) else {
            throw Self.wrong(name, "an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func boolean(_ name: String) throws(MatterFailure) -> Bool? {
        switch self[name] {
        case nil: nil
        case .boolean(let value)?: value
        default: throw Self.wrong(name, "true or false")
        }
    }

    func milliseconds(_ name: String, atMost limit: Microseconds) throws(MatterFailure) -> Microseconds? {
        guard let value = self[name] else { return nil }
        guard let number = value.double, number.isFinite, number >= 1 else {
            throw Self.wrong(name, "a number of milliseconds")
        }
        return number * 1000 < Double(limit.rawValue) ? Microseconds(rawValue: Int64(number * 1000)) : limit
    }

    private func text(_ name: String) throws(MatterFailure) -> String {
        guard case .string(let text)? = self[name] else { throw Self.wrong(name, "a string") }
        return text
    }

    func address() throws(MatterFailure) -> UInt64 {
        let text = try text("address")
        guard text.utf8.count == 17, let address = DeviceAddress(text) else {
            throw MatterFailure(.deviceNotFound, "‘address’ is no address, such as AA:BB:CC:DD:EE:FF")
        }
        return address.value
    }

    func octets(_ name: String) throws(MatterFailure) -> [UInt8] {
        guard let octets = Base64.octets(of: try text(name).utf8) else { throw Self.wrong(name, "Base64") }
        return octets
    }

    func characteristic(_ name: String) throws(MatterFailure) -> BluetoothUUID {
        try uuid(name, orElse: .characteristicNotFound)
    }

    func uuid(_ name: String, orElse word: MatterFailure.Word) throws(MatterFailure) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(matter: try text(name)) else {
            throw MatterFailure(word, "‘\(name)’ is no UUID")
        }
        return uuid
    }

    func uuids(_ name: String, limit: Int) throws(MatterFailure) -> [BluetoothUUID] {
        guard let value = self[name] else { return [] }
        guard case .array(let values) = value, values.count <= limit else {
            throw Self.wrong(name, "a list of at most \(limit) UUIDs")
        }
        var uuids: [BluetoothUUID] = []
        for value in values {
            guard case .string(let text) = value, let uuid = BluetoothUUID(matter: text) else {
                throw Self.wrong(name, "a list of at most \(limit) UUIDs")
            }
            uuids.append(uuid)
        }
        return uuids
    }
}

extension BluetoothUUID {
    /// Parses the short forms, and 128 bits with dashes and without.
    init?(matter text: String) {
        var digits = Array(text.utf8)
        if digits.count == 32 {
            for index in [20, 16, 12, 8] { digits.insert(UInt8(ascii: "-"), at: index) }
        }
        self.init(String(decoding: digits, as: UTF8.self))
    }

    /// As the protocol's own examples write it: short ones in lower case, others in upper case.
    var matterText: String { shortValue == nil ? fullDescription : description.lowercased() }
}
