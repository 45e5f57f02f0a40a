import BLEHost
import BLEJSON
import BLEPackets

/// The file of an adapter: what people have set, as JSON.
extension AdapterRoom {
    /// What was set of an adapter whose daemon has gone.
    struct Settings {
        /// As in the file.
        var stored: [UInt8]
        var hasAgents: Bool
        var discoverableEnd: Instant?
        var pairableEnd: Instant?
    }

    /// Takes over what was set before the daemon went: agents that have stayed change nothing of it.
    mutating func restore(_ settings: Settings) {
        restore(settings.stored)
        (hasAgents, discoverableEnd, pairableEnd) = (settings.hasAgents, settings.discoverableEnd, settings.pairableEnd)
    }

    var stored: [UInt8] {
        var devices: [JSONValue] = []
        for address in records.keys.sorted(by: { $0.description < $1.description }) {
            guard let record = records[address] else { continue }
            var members: [JSONValue.Member] = [
                .init(key: "address", value: .string(address.description)),
                .init(key: "trusted", value: .boolean(record.isTrusted)),
                .init(key: "blocked", value: .boolean(record.isBlocked)),
            ]
            if let name = record.name { members.append(.init(key: "name", value: .string(name))) }
            if let alias = record.alias { members.append(.init(key: "alias", value: .string(alias))) }
            if let mayWake = record.mayWake { members.append(.init(key: "wakeAllowed", value: .boolean(mayWake))) }
            if let appearance = record.appearance {
                members.append(.init(key: "appearance", value: .integer(Int(appearance))))
            }
            if !record.uuids.isEmpty {
                members.append(
                    .init(key: "uuids", value: .array(record.uuids.map { .string($0.wholeText) })))
            }
            devices.append(.object(members))
        }
        var members: [JSONValue.Member] = [
            .init(key: "discoverable", value: .boolean(isDiscoverable)),
            .init(key: "discoverableTimeout", value: .integer(Int(discoverableTimeout))),
            .init(key: "pairable", value: .boolean(isPairable)),
            .init(key: "refusesPairing", value: .boolean(refusesPairing)),
            .init(key: "pairableTimeout", value: .integer(Int(pairableTimeout))),
            .init(key: "devices", value: .array(devices)),
        ]
        if let alias { members.append(.init(key: "alias", value: .string(alias))) }
        var octets: [UInt8] = []
        JSONValue.object(members).write(into: &octets)
        octets.append(UInt8(ascii: "\n"))
        return octets
    }

    /// Takes over what a file says; a file that cannot be read counts for nothing.
    mutating func restore(_ octets: [UInt8]?) {
        guard let octets, let value = try? JSONReader.value(in: octets) else { return }
        alias = value["alias"]?.text(atMost: 248)
        isDiscoverable = value["discoverable"]?.truth ?? false
        isPairable = value["pairable"]?.truth ?? false
        refusesPairing = value["refusesPairing"]?.truth ?? false
        discoverableTimeout = value["discoverableTimeout"]?.number.flatMap { UInt32(exactly: $0) } ?? 180
        pairableTimeout = value["pairableTimeout"]?.number.flatMap { UInt32(exactly: $0) } ?? 0
        guard case .array(let devices) = value["devices"] else { return }
        for device in devices.prefix(4096) {
            guard let address = device["address"]?.text(atMost: 64).flatMap({ DeviceAddress($0) }) else { continue }
            var record = DeviceRecord()
            record.name = device["name"]?.text(atMost: 248)
            record.alias = device["alias"]?.text(atMost: 248)
            record.isTrusted = device["trusted"]?.truth ?? false
            record.isBlocked = device["blocked"]?.truth ?? false
            record.mayWake = device["wakeAllowed"]?.truth
            record.appearance = device["appearance"]?.number.flatMap { UInt16(exactly: $0) }
            if case .array(let uuids) = device["uuids"] {
                record.uuids = uuids.prefix(256).compactMap { $0.text(atMost: 36).flatMap { BluetoothUUID($0) } }
            }
            records[address] = record
        }
    }
}

extension JSONValue {
    fileprivate func text(atMost octets: Int) -> String? {
        if case .string(let text) = self, !text.isEmpty, text.utf8.count <= octets { text } else { nil }
    }

    fileprivate var truth: Bool? { if case .boolean(let value) = self { value } else { nil } }
    fileprivate var number: Int? { if case .integer(let value) = self { value } else { nil } }
}
