import BLEGateway
import BLEHost
import BLEJSON
import BLEPackets

@testable import BLEMatter

/// A proxy, the server that it is connected with, and the links that it asks for.
struct MatterStage {
    static let lamp = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
    static let c1 = uuid("18EE2EF5-263D-4559-959F-4F9C429F9D11")
    static let c2 = uuid("18EE2EF5-263D-4559-959F-4F9C429F9D12")
    static let c3 = uuid("2A29")

    private static func uuid(_ text: String) -> BluetoothUUID { BluetoothUUID(text)! }

    var proxy: MatterProxy
    var now = Instant.zero
    var actions: [MatterProxy.Action] = []
    private var session: UInt64 = 0
    private var reader = WebSocketReader(limit: 1 << 20, from: .client, takesData: true)

    init(_ limits: MatterLimits = MatterLimits()) {
        proxy = MatterProxy(
            MatterServer(host: "127.0.0.1", port: 5580), limits: limits, seed: [UInt8](repeating: 7, count: 32), at: now
        )
        proxy.setRadio(isUsable: true, at: now)
    }

    /// One whose server has said Hello.
    static func serving(_ limits: MatterLimits = MatterLimits()) -> MatterStage {
        var stage = MatterStage(limits)
        stage.upgrade()
        stage.say(#"{"type":"hello_response","version":1}"#)
        _ = stage.messages()
        return stage
    }

    mutating func settle() {
        for action in proxy.drainActions() {
            if case .begin(let session) = action { self.session = session }
            actions.append(action)
        }
    }

    mutating func advance(_ seconds: Double) {
        now = now.advanced(by: Microseconds(rawValue: Int64(seconds * 1e6)))
        proxy.advance(to: now)
        settle()
    }

    /// The octets that were sent, as they are.
    mutating func sent() -> [UInt8] {
        let octets = Array(proxy.pending)
        proxy.wrote(octets.count, at: now)
        settle()
        return octets
    }

    /// What was sent by WebSocket.
    mutating func messages() -> [WebSocketReader.Event] { reader.read(sent()) }

    /// The messages of text that were sent.
    mutating func texts() throws -> [JSONValue] {
        var values: [JSONValue] = []
        for case .message(let octets) in messages() { values.append(try JSONReader.value(in: octets)) }
        return values
    }

    /// From the beginning to the Hello of the proxy.
    mutating func upgrade() {
        advance(0)
        proxy.opened(token: nil, at: now)
        let request = String(decoding: sent(), as: UTF8.self)
        let key = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        proxy.received(Array(Self.answer(String(key)).utf8), at: now)
        settle()
    }

    static func answer(_ key: String) -> String {
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(WebSocketUpgrade.proof(ofKey: key))\r\n\r\n"
    }

    mutating func say(_ text: String) {
        proxy.received(WebSocketFrame.text(Array(text.utf8)), at: now)
        settle()
    }

    mutating func ask(_ id: Int, _ command: String, _ arguments: JSONValue = [:]) {
        let message: JSONValue = ["id": .integer(id), "command": .string(command), "args": arguments]
        say(message.text)
    }

    mutating func give(_ octets: [UInt8]) {
        proxy.received(WebSocketFrame.binary(octets), at: now)
        settle()
    }

    mutating func hear(_ address: DeviceAddress = lamp, data: [UInt8] = advertisement, rssi: Int8 = -60) {
        let content = AdvertisingData(advertisement: data.span.bytes)
        proxy.heard(
            MatterAdvertisement(address: address, rssi: rssi, isConnectable: true, data: content), at: now)
        settle()
    }

    /// A device that can be commissioned.
    static let advertisement: [UInt8] = [
        2, 1, 6, 11, 0x16, 0xF6, 0xFF, 0, 0x00, 0x0F, 0xF1, 0xFF, 0x00, 0x80, 0, 5, 9, 0x4C, 0x61, 0x6D, 0x70,
    ]

    mutating func report(_ event: LinkEvent) {
        proxy.received(event, for: session, at: now)
        settle()
    }

    /// The requests for links since the last call.
    mutating func requests() -> [LinkRequest] {
        defer { actions = [] }
        return actions.compactMap { if case .link(let request) = $0 { request } else { nil } }
    }

    /// Ends the operation that was asked for last.
    mutating func finish(_ result: Result<LinkAnswer, LinkFailure>) -> LinkOperation? {
        guard case .perform(let operation, let address, let tag)? = requests().last else { return nil }
        report(.ended(tag: tag, address: address, result))
        return operation
    }

    /// A link with the handle 1.
    mutating func connect() throws {
        ask(100, "start_scan", ["service_uuids": ["fff6"]])
        hear()
        ask(101, "stop_scan")
        ask(102, "connect", ["address": "C0:DE:00:00:00:01"])
        report(.connected(Self.lamp.value, attMTU: 247))
        _ = requests()
        _ = messages()
    }

    static let services: [ServiceContents] = {
        func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }
        func characteristic(
            _ number: UInt16, _ uuid: BluetoothUUID, _ properties: CharacteristicProperties,
            _ descriptors: [UInt16] = []
        ) -> ServiceContents.CharacteristicContents {
            ServiceContents.CharacteristicContents(
                characteristic: DiscoveredCharacteristic(
                    handle: handle(number), valueHandle: handle(number + 1), endHandle: handle(number + 2),
                    properties: properties, uuid: uuid),
                descriptors: descriptors.map {
                    DiscoveredDescriptor(handle: handle($0), uuid: .clientCharacteristicConfiguration)
                })
        }
        return [
            ServiceContents(
                service: DiscoveredService(
                    uuid: MatterAdvertisement.service, range: AttributeHandleRange(handle(1), handle(20)),
                    isPrimary: true),
                characteristics: [
                    characteristic(2, c1, .write), characteristic(5, c2, .indicate, [7]),
                    characteristic(9, c3, [.read, .notify], [11]), characteristic(13, uuid("2A2A"), .notify),
                ])
        ]
    }()
}
