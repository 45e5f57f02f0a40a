import BLE
import BLEDaemonClient
import BLEJSON
import BLEText

/// The output of `status`.
struct StatusOutput {
    private let status: DaemonStatus

    init(_ status: DaemonStatus) { self.status = status }

    // MARK: JSON

    var object: JSONValue {
        [
            "event": "status", "adapters": .array(status.adapters.map(object)),
            "clients": .array(status.clients.map(object)), "apps": .array(status.apps.map(object)),
        ]
    }

    private func object(_ adapter: DaemonStatus.Adapter) -> JSONValue {
        [
            "transport": .string(adapter.transport), "ready": .boolean(adapter.information != nil),
            "trouble": JSONValue(adapter.trouble),
            "address": JSONValue(adapter.information?.ownAddress?.addressText),
            "addressType": JSONValue(adapter.information?.ownAddress?.kindText),
            "device": .string(adapter.device), "notes": JSONValue(adapter.notes),
            "advertising": .boolean(adapter.isAdvertising), "bonds": JSONValue(adapter.bonds),
            "links": .array(
                adapter.links.map { link in
                    [
                        "peer": .string(link.information.peer.addressText),
                        "peerType": .string(link.information.peer.kindText),
                        "role": .string(link.information.role == .central ? "central" : "peripheral"),
                        "interval": .number(link.information.parameters.interval.milliseconds),
                        "latency": JSONValue(link.information.parameters.peripheralLatency),
                        "timeout": .number(link.information.parameters.supervisionTimeout.milliseconds),
                        "mtu": JSONValue(link.information.attMTU), "encrypted": .boolean(link.isEncrypted),
                        "authenticated": .boolean(link.isAuthenticated), "holders": JSONValue(link.holders),
                    ]
                }),
            "wanted": .array(adapter.wanted.map(object)),
            "counters": .object(adapter.counters.map { .init(key: $0.name, value: JSONValue($0.value)) }),
        ]
    }

    private func object(_ wanted: DaemonStatus.Wanted) -> JSONValue {
        let client = JSONValue.string(wanted.client)
        return switch wanted.work {
        case .scan(let scan):
            [
                "client": client, "work": "scan", "active": .boolean(scan.isActive),
                "background": .boolean(scan.isInBackground),
                "services": JSONValue(scan.serviceUUIDs.map(\.description)),
                "name": JSONValue(scan.name),
            ]
        case .advertise(let request):
            [
                "client": client, "work": "advertise", "background": .boolean(request.isInBackground),
                "services": JSONValue(Self.services(request).map(\.description)), "name": JSONValue(Self.name(request)),
                "target": JSONValue(request.target?.peer.description),
            ]
        case .connect(let request): ["client": client, "work": "connect", "peer": .string(request.peer.description)]
        case .advertiseSet(let set):
            [
                "client": client, "work": "advertiseSet", "sid": JSONValue(set.identifier),
                "address": JSONValue(set.address?.description), "connectable": .boolean(set.isConnectable),
                "periodic": .boolean(set.train != nil),
            ]
        case .followPeriodicAdvertising(let train):
            [
                "client": client, "work": "followPeriodicAdvertising",
                "peers": JSONValue(train.advertisers.map { "\($0.address) SID \($0.identifier)" }),
            ]
        case .receivePeriodicSyncs: ["client": client, "work": "receivePeriodicSyncs"]
        }
    }

    private func object(_ client: DaemonStatus.Client) -> JSONValue {
        [
            "name": .string(client.name), "kind": .string(client.kind.rawValue), "process": JSONValue(client.process),
            "user": JSONValue(client.user), "requests": JSONValue(client.requests), "links": JSONValue(client.links),
            "services": JSONValue(client.services), "channels": JSONValue(client.channels),
            "waitingOctets": JSONValue(client.waitingOctets), "waitingEvents": JSONValue(client.waitingEvents),
            "lostDiscoveries": JSONValue(client.lostDiscoveries),
        ]
    }

    private func object(_ app: DaemonOperator.App) -> JSONValue {
        [
            "identifier": .string(app.identifier), "place": .string(app.place.rawValue),
            "process": app.process.map { JSONValue($0) } ?? .null, "strikes": JSONValue(app.strikes),
        ]
    }

    // MARK: Text

    var text: String {
        var lines: [String] = []
        for adapter in status.adapters { lines += self.lines(of: adapter) }
        lines.append(status.clients.isEmpty ? "no programs" : "programs")
        lines += status.clients.map { "  " + text($0) }
        if !status.apps.isEmpty { lines.append("apps") }
        for app in status.apps {
            let process = app.process.map { ", process \($0)" } ?? ""
            let strikes = app.strikes == 0 ? "" : ", \(app.strikes) strike\(app.strikes == 1 ? "" : "s")"
            lines.append("  \(app.identifier.printable)  \(app.place.rawValue)\(process)\(strikes)")
        }
        return lines.joined(separator: "\n")
    }

    private func device(_ adapter: DaemonStatus.Adapter) -> [String] {
        ((adapter.device.isEmpty ? [] : [adapter.device]) + adapter.notes).map { "  " + $0.printable }
    }

    private func lines(of adapter: DaemonStatus.Adapter) -> [String] {
        guard let information = adapter.information else {
            return ["\(adapter.transport.printable)  not usable: \(adapter.trouble?.printable ?? "?")"]
                + device(adapter)
        }
        let address = information.ownAddress.map { "  \($0.addressText) \($0.kindText)" } ?? ""
        let bonds = "\(adapter.bonds) bond\(adapter.bonds == 1 ? "" : "s")"
        var lines = ["\(adapter.transport.printable)\(address)  ready, \(bonds)"]
        lines += device(adapter)
        lines += radio(adapter).map { "  " + $0 }
        for link in adapter.links {
            let role = link.information.role == .central ? "link to" : "central"
            let security =
                link.isEncrypted ? link.isAuthenticated ? ", encrypted and authenticated" : ", encrypted" : ""
            let interval = link.information.parameters.interval.milliseconds
            let holders = link.holders.isEmpty ? "" : ", held by \(list(link.holders.map(\.printable)))"
            lines.append(
                "  \(role) \(link.information.peer)  every \(interval) ms, MTU \(link.information.attMTU)\(security)"
                    + holders)
        }
        let counters = adapter.counters.filter { $0.value > 0 }
        if !counters.isEmpty {
            lines.append("  counters: " + counters.map { "\($0.name) \($0.value)" }.joined(separator: ", "))
        }
        return lines
    }

    /// Why the radio does what it does.
    private func radio(_ adapter: DaemonStatus.Adapter) -> [String] {
        var scans: [String] = []
        var advertisements: [String] = []
        var connections: [String] = []
        var sets: [String] = []
        var trains: [String] = []
        var isActive = false
        for wanted in adapter.wanted {
            let client = wanted.client.printable
            switch wanted.work {
            case .scan(let scan):
                isActive = isActive || scan.isActive
                let services =
                    scan.serviceUUIDs.isEmpty
                    ? "" : " for \(scan.serviceUUIDs.map(\.description).joined(separator: ", "))"
                scans.append(client + services + (scan.isInBackground ? " in the background" : ""))
            case .advertise(let request):
                let name = Self.name(request).map { " as \($0.quoted())" } ?? ""
                advertisements.append(client + name + (request.isInBackground ? " in the background" : ""))
            case .connect(let request): connections.append("\(client) to \(request.peer)")
            case .advertiseSet(let set): sets.append(client + (set.train == nil ? "" : " with a periodic train"))
            case .followPeriodicAdvertising(let train):
                let devices = train.advertisers.map(\.address.description).joined(separator: ", ")
                trains.append("\(client) of \(devices)")
            case .receivePeriodicSyncs: trains.append("\(client) as a peer transfers them")
            }
        }
        var lines: [String] = []
        if scans.isEmpty {
            lines.append("does not scan: nobody wants it")
        } else {
            lines.append("scans \(isActive ? "actively" : "passively"), as wanted by \(list(scans))")
        }
        if advertisements.isEmpty {
            lines.append("does not advertise: nobody wants it")
        } else if adapter.isAdvertising {
            lines.append("advertises, as wanted by \(list(advertisements))")
        } else {
            lines.append(
                "does not advertise now, though \(list(advertisements)) want\(advertisements.count == 1 ? "s" : "") it")
        }
        if !sets.isEmpty { lines.append("advertising sets: \(list(sets))") }
        if !trains.isEmpty { lines.append("periodic trains: \(list(trains))") }
        if !connections.isEmpty { lines.append("connects, as wanted by \(list(connections))") }
        return lines
    }

    private func text(_ client: DaemonStatus.Client) -> String {
        var parts = ["\(client.name.printable)  \(client.kind.rawValue) of user \(client.user)"]
        let counts: [(count: UInt64, one: String, many: String)] = [
            (UInt64(client.requests), "request", "requests"), (UInt64(client.links), "link", "links"),
            (UInt64(client.services), "service", "services"), (UInt64(client.channels), "channel", "channels"),
            (client.waitingOctets, "octet not read", "octets not read"),
            (UInt64(client.waitingEvents), "event not handled", "events not handled"),
            (UInt64(client.lostDiscoveries), "discovery lost", "discoveries lost"),
        ]
        parts += counts.filter { $0.count > 0 }.map { "\($0.count) \($0.count == 1 ? $0.one : $0.many)" }
        return parts.joined(separator: ", ")
    }

    private func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    private static func name(_ request: AdvertiseRequest) -> String? {
        if case .packed(let name, _) = request.content { name } else { nil }
    }

    private static func services(_ request: AdvertiseRequest) -> [BluetoothUUID] {
        if case .packed(_, let services) = request.content { services } else { [] }
    }
}
