import BLE
import BLEGateway
import BLEJSON

/// The settings as the file has them, for people: without passwords, tokens and keys, of which they only say that they are
/// there.
extension GatewaySettings {
    var shown: JSONValue {
        var object: JSONValue = [
            "name": .string(gateway.name),
            "adapters": .array(
                adapters.map { ["transport": .string($0.transport), "passive": .boolean($0.isPassive)] }),
            "topics": [
                "device": .string(gateway.topics.device.description),
                "status": .string(gateway.topics.status.description),
                "presence": .string(gateway.topics.presence.description),
            ],
            "publish": [
                "interval": Self.seconds(gateway.pace.interval), "refresh": Self.seconds(gateway.pace.refresh),
                "valueLifetime": Self.seconds(gateway.pace.valueLifetime),
                "retain": .boolean(gateway.retainsDocuments),
            ],
            "queue": [
                "messages": .integer(queue.limit), "megabytes": .integer(queue.sizeLimit >> 20),
                "drop": .string(queue.overflow.rawValue), "memory": .boolean(queue.isInMemory),
            ],
            "watchdog": ["silence": .number(watchdog.silence), "attempts": .integer(watchdog.attempts)],
            "devices": .array(gateway.devices.map(Self.shown)),
            "identities": .array(
                gateway.identities.map { ["name": JSONValue($0.name), "irk": .boolean($0.irk != nil)] }),
        ]
        if let broker { object = object.adding("mqtt", Self.shown(broker)) }
        if let presence = gateway.presence {
            object = object.adding(
                "presence",
                [
                    "timeout": Self.seconds(presence.timeout), "enter": .number(presence.enter),
                    "leave": .number(presence.leave),
                ])
        }
        if let homeAssistant = gateway.homeAssistant {
            object = object.adding("homeAssistant", ["prefix": .string(homeAssistant.prefix)])
        }
        if let http {
            object = object.adding(
                "http",
                [
                    "listen": .string(http.place), "hosts": JSONValue(http.hosts),
                    "token": .boolean(http.tokenFile != nil), "tls": .boolean(http.security != nil),
                    "clientCA": .boolean(http.security?.clientAuthorities != nil),
                ])
        }
        if let esphome { object = object.adding("esphome", Self.shown(esphome, gateway.name)) }
        if let matter { object = object.adding("matter", Self.shown(matter)) }
        if let gatt {
            object = object.adding(
                "gatt",
                [
                    "mqtt": .boolean(gateway.takesGATTRequests && broker != nil), "http": .boolean(gatt.usesHTTP),
                    "token": .boolean(gatt.tokenFile != nil), "sessions": .integer(gatt.sessions),
                ])
        }
        return object
    }

    private static func shown(_ proxy: ESPHomeSettings, _ gateway: String) -> JSONValue {
        let advertising =
            switch proxy.advertising {
            case .off: "off"
            case .avahi: "avahi"
            case .folder(let folder): folder
            }
        return [
            "listen": JSONValue(proxy.places.map(\.description)), "key": .boolean(proxy.keyFile != nil),
            "slots": .integer(proxy.slots), "name": .string(proxy.name ?? gateway),
            "pairing": .boolean(proxy.allowsPairing), "advertise": .string(advertising),
        ]
    }

    /// A query in the path may be a secret.
    private static func shown(_ matter: MatterSettings) -> JSONValue {
        let server = matter.server
        let path = server.path.prefix { $0 != "?" }
        let rest = path.count < server.path.count ? "?…" : ""
        let scheme = matter.security == nil ? "ws" : "wss"
        return [
            "url": .string("\(scheme)://\(server.authority)\(path)\(rest)"),
            "token": .boolean(matter.tokenFile != nil),
        ]
    }

    private static func seconds(_ span: Microseconds) -> JSONValue { .number(Double(span.rawValue) / 1e6) }

    private static func shown(_ device: KnownDevice) -> JSONValue {
        var object: JSONValue = [
            "address": .string(DeviceAddress(value: device.address, kind: .public).addressText),
            "key": .boolean(device.key != nil),
        ]
        if let name = device.name { object = object.adding("name", .string(name)) }
        if let location = device.location { object = object.adding("location", .string(location)) }
        return object
    }

    private static func shown(_ broker: BrokerSettings) -> JSONValue {
        var object: JSONValue = [
            "url": .string(broker.description), "version": .string(broker.version.rawValue),
            "qos": .integer(broker.qualityOfService),
            "password": .boolean(broker.password != nil || broker.passwordFile != nil),
        ]
        if let username = broker.username { object = object.adding("username", .string(username)) }
        return object
    }
}
