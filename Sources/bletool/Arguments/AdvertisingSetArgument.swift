import ArgumentParser
import BLE
import BLEScripts
import BLEText

/// An advertising set as the user describes it: `name=Sensor,interval=500,phy=coded`.
enum AdvertisingSetArgument {
    static let help = """
        KEY=VALUE or KEY, with commas between: data, response and periodic-data in hexadecimal; name; service \
        (several); interval and periodic in ms; phy 1m, 2m or coded; \
        primary 1m or coded; address (random); sid; power in dBm; duration in s; events; subevents and slots, for \
        periodic advertising with responses; connectable, scannable, \
        anonymous, legacy, tx-power, once.
        """

    /// The subevents of a train with responses, and the response slots of each.
    private struct Subevents {
        var count: UInt8?
        var slots: UInt8 = 0
    }

    private struct Structures {
        var name: String?
        var services: [BluetoothUUID] = []

        /// - Throws: `ValidationError` if they do not fit.
        func octets(capacity: Int, isConnectable: Bool) throws -> [UInt8] {
            var writer = AdvertisingDataWriter(capacity: capacity)
            do {
                if isConnectable {
                    try writer.append([.leGeneralDiscoverable, .brEdrNotSupported] as AdvertisingFlags)
                }
                if !services.isEmpty { try writer.append(serviceUUIDs: services, areComplete: true) }
                if let name { try writer.append(localName: name) }
            } catch { throw ValidationError("name and services do not fit") }
            return writer.bytes
        }
    }

    /// Reads a set.
    /// - Throws: `ValidationError` for an unknown key, a wrong value or a contradiction.
    static func request(_ text: String) throws -> AdvertisingSetRequest {
        var request = AdvertisingSetRequest()
        var structures = Structures()
        var train: PeriodicAdvertising?
        var subevents = Subevents()
        var given: Set<String> = []
        let parts = text.split(separator: ",")
        guard !parts.isEmpty else { throw ValidationError("name what it advertises, such as name=Sensor") }
        for part in parts {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard given.insert(pair[0]).inserted || pair[0] == "service" else {
                throw ValidationError("\(pair[0]) is there twice")
            }
            if pair.count == 1 {
                try set(pair[0], of: &request)
            } else {
                try set(pair[0], to: pair[1], of: &request, &structures, &train, &subevents)
            }
        }
        if let count = subevents.count {
            train = train ?? PeriodicAdvertising()
            train?.divide(into: count, slots: subevents.slots)
        } else if subevents.slots > 0 {
            throw ValidationError("slots need subevents")
        }
        request.train = train
        let capacity =
            request.usesLegacyPDUs ? AdvertisingDataWriter.legacyCapacity : AdvertisingDataWriter.extendedCapacity
        let octets = try structures.octets(capacity: capacity, isConnectable: request.isConnectable)
        if structures.name != nil || !structures.services.isEmpty {
            // Scannable extended PDUs have all their data in the scan response.
            if request.isScannable && !request.usesLegacyPDUs {
                request.scanResponse = octets + request.scanResponse
            } else {
                request.data = octets + request.data
            }
        }
        // The data of a train with subevents are sent in each of them.
        var divided = request
        if request.train?.subevents != nil, (request.train?.data.count ?? 0) <= SubeventData.longestData {
            divided.train?.data = []
        }
        if let fault = divided.fault {
            throw ValidationError(BLEError.invalidRequest(.advertisingSet(fault)).description)
        }
        return request
    }

    private static func set(_ flag: String, of request: inout AdvertisingSetRequest) throws {
        switch flag {
        case "connectable": request.isConnectable = true
        case "scannable": request.isScannable = true
        case "anonymous": request.isAnonymous = true
        case "legacy": request.usesLegacyPDUs = true
        case "tx-power": request.includesTransmitPower = true
        case "once": request.resumesAfterConnection = false
        default:
            if keys.contains(flag) { throw ValidationError("\(flag) needs a value: \(flag)=…") }
            throw unknown(flag)
        }
    }

    private static let flags = ["connectable", "scannable", "anonymous", "legacy", "tx-power", "once"]
    private static let keys = [
        "data", "response", "name", "service", "interval", "phy", "primary", "address", "sid", "power", "duration",
        "events", "periodic", "periodic-data", "subevents", "slots",
    ]

    private static func unknown(_ word: String) -> ValidationError {
        ValidationError("‘\(word)’ is unknown\(Suggestion(for: word, among: keys + flags).text)")
    }

    private static func set(
        _ key: String, to value: String, of request: inout AdvertisingSetRequest, _ structures: inout Structures,
        _ train: inout PeriodicAdvertising?, _ subevents: inout Subevents
    ) throws {
        func number(_ range: ClosedRange<Double>) throws -> Double {
            guard let number = Double(value), range.contains(number) else {
                throw ValidationError("\(key) is \(range.lowerBound) to \(range.upperBound), not ‘\(value)’")
            }
            return number
        }
        func whole(_ range: ClosedRange<Int>) throws -> Int {
            guard let number = Int(value), range.contains(number) else {
                throw ValidationError("\(key) is \(range.lowerBound) to \(range.upperBound), not ‘\(value)’")
            }
            return number
        }
        func octets() throws -> [UInt8] {
            guard let octets = Hexadecimal.bytes(value) else { throw ValidationError("\(key) is hexadecimal") }
            return octets
        }
        switch key {
        case "data": request.data = try octets()
        case "response": request.scanResponse = try octets()
        case "name": structures.name = value
        case "service":
            guard let uuid = BluetoothUUID(argument: value) else {
                throw ValidationError("‘\(value)’ is not the UUID or the name of a service")
            }
            structures.services.append(uuid)
        case "interval": request.interval = .milliseconds(try number(20...10_485_759.375))
        case "phy":
            let phy = try phy(value)
            request.secondaryPHY = phy
            if phy == .leCoded { request.primaryPHY = .leCoded }
        case "primary": request.primaryPHY = try phy(value)
        case "address":
            guard let address = DeviceAddress(value + "/random") else {
                throw ValidationError("‘\(value)’ is not an address such as C0:DE:00:00:00:01")
            }
            request.address = address
        case "sid": request.identifier = UInt8(try whole(0...15))
        case "power": request.transmitPower = Int8(try whole(-127...20))
        case "duration": request.duration = .microseconds(Int64(try number(0.01...655.35) * 1e6))
        case "events": request.maximumEvents = UInt8(try whole(1...255))
        case "periodic":
            train = train ?? PeriodicAdvertising(data: [])
            train?.interval = .milliseconds(try number(7.5...81_918.75))
        case "periodic-data":
            train = train ?? PeriodicAdvertising(data: [])
            train?.data = try octets()
        case "subevents": subevents.count = UInt8(try whole(1...128))
        case "slots": subevents.slots = UInt8(try whole(1...255))
        default:
            if flags.contains(key) { throw ValidationError("\(key) takes no value") }
            throw unknown(key)
        }
    }

    private static func phy(_ text: String) throws -> PHY {
        switch text {
        case "1m": .le1M
        case "2m": .le2M
        case "coded": .leCoded
        default: throw ValidationError("a PHY is 1m, 2m or coded, not ‘\(text)’")
        }
    }
}

extension PeriodicAdvertising {
    /// Divides the interval evenly. A quarter of each subevent passes before the first response slot, so that receivers
    /// have time to respond to its data, and the rest belongs to the slots.
    fileprivate mutating func divide(into count: UInt8, slots: UInt8) {
        let length = UInt8(clamping: Int(interval.rawValue) / Int(count))
        subevents = PeriodicSubevents(count: count, interval: length)
        guard slots > 0 else { return }
        let delay = max(1, length / 4)
        let spacing = UInt8(clamping: 10 * (Int(length) - Int(delay)) / Int(slots))
        subevents = PeriodicSubevents(
            count: count, interval: length, responseSlotDelay: delay, responseSlotSpacing: spacing,
            responseSlotCount: slots)
    }
}
