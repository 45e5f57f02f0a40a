import BLE
import BLEJSON
import BLEScripts

/// Prints the events of the peripheral role: one object per line with `--json`, otherwise a line of text.
struct PeripheralLog {
    let console: Console
    let target: AdvertisingTarget?
    /// Whether the advertisement accepts connections.
    let isConnectable: Bool
    private var peers: [LinkID: DeviceAddress] = [:]

    init(console: Console, target: AdvertisingTarget? = nil, isConnectable: Bool = true) {
        self.console = console
        self.target = target
        self.isConnectable = isConnectable
    }

    func advertising(_ packed: PackedAdvertisement) {
        if let target {
            return console.print(
                [
                    "event": "advertising", "advertisement": .string(Hexadecimal.text(packed.advertisement)),
                    "directedTo": .string(target.peer.addressText), "directedToType": .string(target.peer.kindText),
                ],
                text: "advertising to \(target.peer.addressText) \(target.peer.kindText)")
        }
        console.print(
            [
                "event": "advertising", "advertisement": .string(Hexadecimal.text(packed.advertisement)),
                "scanResponse": .string(Hexadecimal.text(packed.scanResponse)),
            ],
            text: "advertising \(Hexadecimal.text(packed.advertisement))"
                + (packed.scanResponse.isEmpty ? "" : ", scan response \(Hexadecimal.text(packed.scanResponse))")
                + "\n"
                + AdvertisementWords(
                    packed.advertisement, packed.scanResponse, isConnectable: isConnectable, hidden: packed.overflow
                ).text)
    }

    mutating func connected(_ link: LinkInformation) {
        peers[link.id] = link.peer
        report("connected", link.id, [], "")
    }

    func mtu(_ mtu: Int, _ link: LinkID) { report("mtu", link, [.init(key: "mtu", value: JSONValue(mtu))], " \(mtu)") }

    mutating func disconnected(_ link: LinkID, _ reason: DisconnectionReason) {
        report("disconnected", link, [.init(key: "reason", value: .string("\(reason)"))], ": \(reason)")
        peers[link] = nil
    }

    /// The other centrals no longer wait for it.
    func fellBehind(_ link: LinkID) {
        let peer = peers[link].map { "\($0.addressText) \($0.kindText)" } ?? "a central"
        console.note("\(peer) receives updates too slowly and will miss some; other centrals are not affected")
    }

    func read(_ request: GATTReadRequest, _ uuid: BluetoothUUID) {
        report(
            "read", request.link,
            Self.place(request.handle, uuid) + [.init(key: "offset", value: JSONValue(request.offset))],
            " \(uuid)" + (request.offset == 0 ? "" : " from \(request.offset)"))
    }

    func written(_ value: [UInt8], _ handle: AttributeHandle, _ uuid: BluetoothUUID, _ link: LinkID) {
        report(
            "written", link,
            Self.place(handle, uuid) + [.init(key: "value", value: .string(Hexadecimal.text(value)))],
            " \(uuid) \(ValueMeaning(value, uuid: uuid, form: nil).text)")
    }

    func subscription(_ subscription: GATTSubscription, _ uuid: BluetoothUUID) {
        let isOver = subscription.modes.isEmpty
        var members = Self.place(subscription.handle, uuid)
        if !isOver {
            members += [
                .init(key: "notifications", value: .boolean(subscription.modes.contains(.notifications))),
                .init(key: "indications", value: .boolean(subscription.modes.contains(.indications))),
                .init(key: "maximumUpdateLength", value: JSONValue(subscription.maximumUpdateLength)),
            ]
        }
        report(isOver ? "unsubscribed" : "subscribed", subscription.link, members, " \(uuid)")
    }

    /// The agent asks the questions of a pairing.
    func pairing(_ event: PairingEvent, _ link: LinkID) {
        switch event {
        case .paired(let summary): console.print(BondOutput.object(summary), text: BondOutput.text(summary))
        case .failed(let failure):
            report(
                "pairingFailed", link, [.init(key: "message", value: .string(failure.description))], ": \(failure)")
        case .passkeyLocked:
            report("passkeyLocked", link, [], ": too many pairings with the fixed passkey have failed")
            console.note(
                "somebody may be guessing the passkey, so it is locked; restart with another --passkey, or without "
                    + "one for a new number at each pairing")
        case .started, .belongs, .displayPasskey, .question, .securityRequested: break
        }
    }

    func security(_ security: LinkSecurity, _ link: LinkID) {
        guard security.isEncrypted else { return }
        report(
            "encrypted", link,
            [
                .init(key: "secureConnections", value: .boolean(security.isSecureConnections)),
                .init(key: "authenticated", value: .boolean(security.isAuthenticated)),
                .init(key: "keySize", value: JSONValue(security.keySize)),
                .init(key: "bonded", value: .boolean(security.isBonded)),
            ], security.isBonded ? " with its bond" : "")
    }

    private static func place(_ handle: AttributeHandle, _ uuid: BluetoothUUID) -> [JSONValue.Member] {
        [
            .init(key: "handle", value: JSONValue(handle.rawValue)),
            .init(key: "uuid", value: .string(uuid.description)),
        ]
    }

    private func report(_ event: String, _ link: LinkID, _ members: [JSONValue.Member], _ text: String) {
        let peer = peers[link]
        let object = JSONValue.object(
            [
                .init(key: "event", value: .string(event)),
                .init(key: "address", value: JSONValue(peer?.addressText)),
                .init(key: "addressType", value: JSONValue(peer?.kindText)),
            ] + members)
        console.print(object, text: "\(peer.map { "\($0.addressText) \($0.kindText)" } ?? "?") \(event)\(text)")
    }
}
