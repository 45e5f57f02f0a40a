import BLEGateway
import BLEHost
import BLEJSON
import BLEPackets
import Testing

@testable import BLEMatter

/// What a server asks for on a session, and what it is answered.
@Suite struct MatterSessionTests {
    private let lamp = MatterStage.lamp.value
    private let link: JSONValue = ["connection_handle": 1]

    private func words(_ answers: [JSONValue]) -> [String?] {
        answers.map { if case .string(let word)? = $0["error"] { word } else { nil } }
    }

    @Test func `a scan reports what its filter wants, and again only what is new`() throws {
        var stage = MatterStage.serving()
        stage.hear()
        stage.ask(
            1, "start_scan", ["service_uuids": ["0000FFF6-0000-1000-8000-00805F9B34FB"], "allow_duplicates": false])
        stage.hear()
        stage.hear(rssi: -50)
        stage.hear(DeviceAddress(value: 7, kind: .public), data: [2, 1, 6])
        stage.hear(data: MatterStage.advertisement.dropLast() + [0x71])
        let found = try stage.texts()
        #expect(found.first == ["id": 1, "success": true, "result": [:]])
        #expect(
            found[1] == [
                "event": "device_discovered",
                "data": [
                    "address": "C0:DE:00:00:00:01", "name": "Lamp", "rssi": -60, "connectable": true,
                    "service_data": ["fff6": "AAAP8f8AgAA="],
                ],
            ])
        #expect(found.count == 3 && found[2]["data"]?["name"] == "Lamq")
        stage.ask(2, "start_scan")
        stage.ask(3, "stop_scan")
        stage.ask(4, "stop_scan")
        stage.hear()
        #expect(words(try stage.texts()) == ["already_scanning", nil, "not_scanning"])
        stage.ask(5, "start_scan")
        stage.hear(DeviceAddress(value: 7, kind: .public), data: [2, 1, 6])
        stage.hear(DeviceAddress(value: 7, kind: .public), data: [2, 1, 6])
        #expect(try stage.texts().count == 3)
    }

    @Test func `a scan needs an adapter, and ends with it`() throws {
        var stage = MatterStage.serving()
        stage.ask(1, "start_scan")
        stage.proxy.setRadio(isUsable: false, at: stage.now)
        stage.ask(2, "start_scan")
        stage.proxy.setRadio(isUsable: true, at: stage.now)
        stage.ask(3, "start_scan")
        let found = try stage.texts()
        #expect(found[1] == ["event": "scan_stopped", "data": ["reason": "adapter_off"]])
        #expect(words(found) == [nil, nil, "bluetooth_unavailable", nil])
    }

    @Test func `links are made to Matter's devices that the session has heard, once for each`() throws {
        var stage = MatterStage.serving()
        stage.ask(1, "start_scan")
        stage.hear(DeviceAddress(value: 7, kind: .public), data: [2, 1, 6])
        for address in ["00:00:00:00:00:07", "C0:DE:00:00:00:01", "nonsense"] {
            stage.ask(2, "connect", ["address": .string(address)])
        }
        #expect(words(try stage.texts().suffix(3)) == ["device_not_found", "device_not_found", "device_not_found"])
        stage.hear()
        stage.ask(3, "connect", ["address": "c0:de:00:00:00:01", "timeout": .number(1500.5)])
        #expect(stage.requests() == [.connect(MatterStage.lamp, timeout: .microseconds(1_500_500))])
        stage.ask(4, "connect", ["address": "C0:DE:00:00:00:01"])
        #expect(words(try stage.texts().suffix(1)) == ["already_connected"])
        stage.report(.connected(lamp, attMTU: 185))
        #expect(
            try stage.texts() == [["id": 3, "success": true, "result": ["connection_handle": 1, "mtu": 185]]])
        stage.ask(5, "request_mtu", ["connection_handle": 1, "mtu": 517])
        stage.ask(6, "disconnect", link)
        stage.ask(7, "disconnect", link)
        #expect(stage.requests() == [.disconnect(lamp)])
        #expect(try stage.texts().map { $0["result"]?["mtu"] ?? $0["error"] } == [185, "not_connected"])
        stage.report(.disconnected(lamp, reason: 0x16))
        #expect(try stage.texts() == [["id": 6, "success": true, "result": [:]]])
        stage.ask(8, "connect", ["address": "C0:DE:00:00:00:01"])
        stage.report(.connected(lamp, attMTU: 23))
        #expect(try stage.texts().first?["result"]?["connection_handle"] == 2)
        stage.report(.disconnected(lamp, reason: 0x08))
        let lost = try stage.texts()
        #expect(lost.count == 1 && lost[0]["event"] == "disconnected" && lost[0]["data"]?["connection_handle"] == 2)
    }

    @Test(arguments: [
        (LinkFailure.timedOut, "timeout"), (.noAdapter, "bluetooth_unavailable"), (.noSlot, "connection_failed"),
        (.inUse, "already_connected"), (.connectionFailed(0x3E), "connection_failed"),
        (.cancelled, "connection_failed"),
    ])
    func `why no link could be made`(_ failure: LinkFailure, _ word: String) throws {
        var stage = MatterStage.serving()
        stage.ask(1, "start_scan")
        stage.hear()
        stage.ask(2, "connect", ["address": "C0:DE:00:00:00:01"])
        stage.report(.connectionFailed(lamp, failure))
        #expect(words(try stage.texts().suffix(1)) == [word])
        #expect(stage.proxy.linkCount == 0)
    }

    @Test func `a handshake is a write, its answer, and then the configuration; then frames go both ways`() throws {
        var stage = MatterStage.serving()
        try stage.connect()
        stage.ask(
            1, "write_and_subscribe",
            [
                "connection_handle": 1, "write_uuid": "18ee2ef5263d4559959f4f9c429f9d11", "write_value": "ZWwEAAAA9AD/",
                "write_response": true, "subscribe_uuid": .string(MatterStage.c2.description),
            ])
        #expect(stage.finish(.success(.services(MatterStage.services))) == .discoverServices)
        let (write, values) = (AttributeHandle(rawValue: 3), AttributeHandle(rawValue: 6))
        #expect(
            stage.finish(.success(.done)) == .write(write, [0x65, 0x6C, 4, 0, 0, 0, 0xF4, 0, 0xFF], withResponse: true))
        #expect(try stage.texts().isEmpty)
        #expect(stage.finish(.success(.done)) == .receive(values))
        stage.report(.notified(lamp, values, [0x65, 0x6C, 4, 0xF4, 0, 6]))
        #expect(stage.messages() == [.data([2, 0, 1, 0x65, 0x6C, 4, 0xF4, 0, 6])])
        #expect(
            stage.finish(.success(.done)) == .write(AttributeHandle(rawValue: 7), [2, 0], withResponse: true))
        #expect(try stage.texts() == [["id": 1, "success": true, "result": [:]]])
        stage.give([1, 0, 1, 0x0D, 0, 0])
        stage.give([1, 0, 1, 0x0D, 1])
        #expect(stage.finish(.success(.done)) == .write(write, [0x0D, 0, 0], withResponse: true))
        #expect(stage.finish(.success(.done)) == .write(write, [0x0D, 1], withResponse: true))
        // One that cannot be written is a gap.
        stage.give([1, 0, 1, 0])
        #expect(stage.finish(.failure(.att(0x0E))) != nil)
        #expect(stage.requests() == [.disconnect(lamp)])
        #expect(try stage.texts().first?["event"] == "disconnected")
        stage.report(.disconnected(lamp, reason: 0x16))
        #expect(try stage.texts().isEmpty && stage.proxy.linkCount == 0)
    }

    @Test func `frames for other links, of other kinds, and before a write are no writes`() throws {
        var stage = MatterStage.serving()
        try stage.connect()
        for octets: [UInt8] in [[1, 0, 2, 7], [2, 0, 1, 7], [1, 0], []] { stage.give(octets) }
        #expect(stage.requests().isEmpty && stage.proxy.counters.malformedMessages == 3)
        stage.give([1, 0, 1, 7])
        #expect(stage.requests() == [.disconnect(lamp)])
    }

    @Test func `commands on a link are carried out one after the other, with the words of their failures`() throws {
        var stage = MatterStage.serving()
        try stage.connect()
        func arguments(_ uuid: BluetoothUUID, _ more: JSONValue = [:]) -> JSONValue {
            guard case .object(let members) = more else { return more }
            return .object(
                [
                    .init(key: "connection_handle", value: 1),
                    .init(key: "characteristic_uuid", value: .string(uuid.description)),
                ]
                    + members)
        }
        stage.ask(1, "discover_services", link)
        stage.ask(2, "discover_characteristics", ["connection_handle": 1, "service_uuid": "fff6"])
        stage.ask(3, "discover_characteristics", ["connection_handle": 1, "service_uuid": "fff7"])
        stage.ask(4, "read_characteristic", arguments(MatterStage.c3))
        stage.ask(5, "write_characteristic", arguments(MatterStage.c1, ["value": "AQI="]))
        stage.ask(6, "subscribe_characteristic", arguments(MatterStage.c1))
        stage.ask(7, "unsubscribe_characteristic", arguments(MatterStage.c3))
        stage.ask(8, "subscribe_characteristic", arguments(BluetoothUUID("2A2A")!))
        stage.ask(9, "read_characteristic", arguments(BluetoothUUID("2A00")!))
        #expect(stage.finish(.success(.services(MatterStage.services))) == .discoverServices)
        #expect(stage.finish(.success(.value([1, 2, 3]))) == .read(AttributeHandle(rawValue: 10)))
        #expect(
            stage.finish(.failure(.att(3))) == .write(AttributeHandle(rawValue: 3), [1, 2], withResponse: false))
        let found = try stage.texts()
        #expect(found[0]["result"] == ["services": [["uuid": "fff6"]]])
        #expect(
            found[1]["result"] == [
                "characteristics": [
                    ["uuid": .string(MatterStage.c1.description), "properties": ["write"]],
                    ["uuid": .string(MatterStage.c2.description), "properties": ["indicate"]],
                    ["uuid": "2a29", "properties": ["read", "notify"]], ["uuid": "2a2a", "properties": ["notify"]],
                ]
            ])
        #expect(found[3]["result"] == ["value": "AQID"])
        #expect(
            words(found) == [
                nil, nil, "service_not_found", nil, "write_failed", "notify_not_supported", "not_subscribed",
                "subscribe_failed", "characteristic_not_found",
            ])
        stage.ask(10, "subscribe_characteristic", arguments(MatterStage.c3))
        #expect(stage.finish(.success(.done)) == .receive(AttributeHandle(rawValue: 10)))
        #expect(
            stage.finish(.failure(.att(5))) == .write(AttributeHandle(rawValue: 11), [1, 0], withResponse: true))
        #expect(words(try stage.texts()) == ["subscribe_failed"])
        guard case .perform(.stopReceiving, _, _)? = stage.requests().last else { return #expect(Bool(false)) }
    }

    @Test func `values of two subscriptions are told apart, and what waits on a lost link is answered`() throws {
        var stage = MatterStage.serving()
        try stage.connect()
        for (id, uuid) in [(1, MatterStage.c3), (2, MatterStage.c2)] {
            stage.ask(
                id, "subscribe_characteristic",
                ["connection_handle": 1, "characteristic_uuid": .string(uuid.description)])
            if id == 1 { _ = stage.finish(.success(.services(MatterStage.services))) }
            _ = stage.finish(.success(.done))
            _ = stage.finish(.success(.done))
        }
        _ = stage.messages()
        stage.report(.notified(lamp, AttributeHandle(rawValue: 10), [5]))
        stage.report(.notified(lamp, AttributeHandle(rawValue: 6), [6]))
        stage.report(.notified(lamp, AttributeHandle(rawValue: 99), [7]))
        let event: JSONValue = [
            "event": "characteristic_notification",
            "data": ["connection_handle": 1, "characteristic_uuid": "2a29", "value": "BQ=="],
        ]
        #expect(stage.messages() == [.message(Array(event.text.utf8)), .data([2, 0, 1, 6])])
        for id in 3...6 {
            stage.ask(id, "read_characteristic", ["connection_handle": 1, "characteristic_uuid": "2a29"])
        }
        _ = stage.finish(.failure(.linkLost(8)))
        stage.report(.disconnected(lamp, reason: 8))
        #expect(words(try stage.texts()) == ["read_failed", "not_connected", "not_connected", "not_connected", nil])
    }

    @Test func `wrong names and arguments are answered, and what has no number is counted`() throws {
        var stage = MatterStage.serving()
        try stage.connect()
        let wrong: [(String, JSONValue)] = [
            ("fly", [:]), ("connect", [:]), ("connect", ["address": 7]),
            ("disconnect", ["connection_handle": .number(1.5)]),
            ("disconnect", ["connection_handle": 65536]), ("start_scan", ["service_uuids": "fff6"]),
            ("start_scan", ["service_uuids": ["x"]]), ("start_scan", ["allow_duplicates": 1]), ("disconnect", []),
            ("write_characteristic", ["connection_handle": 1, "characteristic_uuid": "2a29", "value": "A"]),
            ("request_mtu", ["connection_handle": 1, "mtu": 0]),
        ]
        for (id, (command, arguments)) in wrong.enumerated() { stage.ask(id, command, arguments) }
        #expect(words(try stage.texts()) == wrong.map { _ in "internal_error" })
        let meaningless = [
            "{}", "[]", "7", "no", #"{"id":1}"#, #"{"id":"1","command":"stop_scan"}"#, #"{"event":"x","data":{}}"#,
        ]
        for text in meaningless { stage.say(text) }
        #expect(try stage.texts().isEmpty && stage.proxy.counters.malformedMessages == 7 && stage.proxy.isServing)
    }

    @Test func `too many commands on a link, and too many devices, have bounds`() throws {
        var limits = MatterLimits()
        (limits.commands, limits.devices) = (3, 2)
        var stage = MatterStage.serving(limits)
        try stage.connect()
        for id in 1...5 { stage.ask(id, "discover_services", link) }
        #expect(words(try stage.texts()) == ["internal_error", "internal_error"])
        stage.give([1, 0, 1, 7])
        #expect(stage.requests().last == .disconnect(lamp))
        stage.ask(6, "start_scan")
        for number: UInt64 in 1...3 {
            stage.advance(1)
            stage.hear(DeviceAddress(value: number, kind: .public))
        }
        _ = stage.messages()
        for number in 1...3 { stage.ask(6 + number, "connect", ["address": .string("00:00:00:00:00:0\(number)")]) }
        #expect(words(try stage.texts()) == ["device_not_found"])
    }
}
