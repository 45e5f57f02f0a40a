/// The init command of Nordic's secure DFU: what a bootloader wants to know before it takes an image (nRF5 SDK,
/// `dfu-cc.proto`).
public struct NordicInitCommand: Hashable, Sendable {
    /// What is in the image.
    public enum FirmwareType: Int, Sendable {
        case application, softDevice, bootloader, softDeviceAndBootloader, externalApplication
    }

    /// How the image's hash is computed.
    public enum HashType: Int, Sendable { case none, crc, sha128, sha256, sha512 }

    /// The version of the firmware; a bootloader refuses an older one.
    public var firmwareVersion: Int?
    /// The hardware for which it is: 52 for nRF52.
    public var hardwareVersion: Int?
    /// The SoftDevices with which it runs.
    public var softDevices: [Int] = []
    /// What is in the image.
    public var type = FirmwareType.application
    /// The octets of the SoftDevice.
    public var softDeviceByteCount = 0
    /// The octets of the bootloader.
    public var bootloaderByteCount = 0
    /// The octets of the application.
    public var applicationByteCount = 0
    /// How `hash` is computed.
    public var hashType = HashType.none
    /// The image's hash, its last octet first.
    public var hash: [UInt8] = []
    /// Whether bootloaders skip their checks of versions.
    public var isDebug = false
    /// Whether there is a signature, which only the device can check.
    public var isSigned = false

    /// - Throws: what is wrong in the packet.
    public init(_ packet: [UInt8]) throws(FirmwareFileError) {
        var command: ArraySlice<UInt8>?
        for field in try ProtobufReader.fields(packet[...]) {
            switch field {
            case (1, .octets(let octets)): command = octets
            case (2, .octets(let octets)):
                for inner in try ProtobufReader.fields(octets) {
                    switch inner {
                    case (1, .octets(let octets)): command = octets
                    case (3, .octets(let octets)): isSigned = !octets.isEmpty
                    default: break
                    }
                }
            default: break
            }
        }
        guard let command else { throw .invalidInitPacket("it has no command") }
        var initial: ArraySlice<UInt8>?
        for field in try ProtobufReader.fields(command) {
            switch field {
            case (1, .number(let operation)):
                guard operation == 1 else { throw .invalidInitPacket("it is no init command") }
            case (2, .octets(let octets)): initial = octets
            default: break
            }
        }
        guard let initial else { throw .invalidInitPacket("it has no init command") }
        for field in try ProtobufReader.fields(initial) { try read(field) }
    }

    private mutating func read(_ field: ProtobufReader.Field) throws(FirmwareFileError) {
        switch field {
        case (1, .number(let number)): firmwareVersion = Int(clamping: number)
        case (2, .number(let number)): hardwareVersion = Int(clamping: number)
        case (3, .number(let number)): try add(number)
        case (3, .octets(let octets)):
            var place = octets.startIndex
            while place < octets.endIndex { try add(try ProtobufReader.number(octets, &place)) }
        case (4, .number(let number)):
            guard let type = FirmwareType(rawValue: Int(clamping: number)) else {
                throw .invalidInitPacket("its firmware is of an unknown type (\(number))")
            }
            self.type = type
        case (5, .number(let number)): softDeviceByteCount = Int(clamping: number)
        case (6, .number(let number)): bootloaderByteCount = Int(clamping: number)
        case (7, .number(let number)): applicationByteCount = Int(clamping: number)
        case (8, .octets(let octets)):
            for inner in try ProtobufReader.fields(octets) {
                switch inner {
                case (1, .number(let number)):
                    guard let type = HashType(rawValue: Int(clamping: number)) else {
                        throw .invalidInitPacket("its hash is of an unknown type (\(number))")
                    }
                    hashType = type
                case (2, .octets(let octets)): hash = Array(octets)
                default: break
                }
            }
        case (9, .number(let number)): isDebug = number != 0
        default: break
        }
    }

    private mutating func add(_ softDevice: UInt64) throws(FirmwareFileError) {
        guard softDevices.count < 64 else { throw .invalidInitPacket("it names too many SoftDevices") }
        softDevices.append(Int(clamping: softDevice))
    }
}

/// The fields of a message of Protocol Buffers: enough for init packets.
enum ProtobufReader {
    enum Value: Hashable {
        case number(UInt64)
        case octets(ArraySlice<UInt8>)
        /// Eight or four octets that no init packet has.
        case fixed
    }

    typealias Field = (number: Int, value: Value)

    static func number(_ octets: ArraySlice<UInt8>, _ place: inout Int) throws(FirmwareFileError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard place < octets.endIndex else { throw .invalidInitPacket("it is cut") }
            let octet = octets[place]
            place += 1
            number |= UInt64(octet & 0x7F) << shift
            if octet & 0x80 == 0 { return number }
        }
        throw .invalidInitPacket("a number in it is too long")
    }

    static func fields(_ octets: ArraySlice<UInt8>) throws(FirmwareFileError) -> [Field] {
        var fields: [Field] = []
        var place = octets.startIndex
        while place < octets.endIndex {
            let key = try number(octets, &place)
            let value: Value
            switch key & 7 {
            case 0: value = .number(try number(octets, &place))
            case 1, 5:
                let count = key & 7 == 1 ? 8 : 4
                guard count <= octets.endIndex - place else { throw .invalidInitPacket("it is cut") }
                place += count
                value = .fixed
            case 2:
                let count = try number(octets, &place)
                guard count <= UInt64(octets.endIndex - place) else { throw .invalidInitPacket("it is cut") }
                value = .octets(octets[place..<place + Int(count)])
                place += Int(count)
            default: throw .invalidInitPacket("a field in it is of an unknown kind")
            }
            guard fields.count < 1024 else { throw .invalidInitPacket("it has too many fields") }
            fields.append((Int(clamping: key >> 3), value))
        }
        return fields
    }
}
