import BLEPackets

/// How a simulated device pairs: LE legacy pairing with a passkey that stands on its label
/// (Core 5.4, Vol 3, Part H, 2.3.5).
///
/// A central without a keyboard is refused with Authentication Requirements, and one that offers a key of fewer than 16 octets
/// with Encryption Key Size.
public struct SimulatedPairing: Hashable, Sendable {
    /// Six digits, 0 to 999999.
    public var passkey: UInt32
    /// The key that it gives to every central, so that a bond is still good in the next simulation.
    public var longTermKey: SimulatedLongTermKey

    public init(passkey: UInt32, longTermKey: SimulatedLongTermKey) {
        self.passkey = passkey
        self.longTermKey = longTermKey
        self.longTermKey.isAuthenticated = true
    }
}

/// The peripheral's side of legacy pairing with a passkey on one link (Core 5.4, Vol 3, Part H, Appendix C.2.1.2).
///
/// It shares no code with the engine's pairing, so that that can be tested against it.
struct PasskeyResponder {
    private enum State {
        case idle
        case asked
        case committed(Key128)
        case agreed(Key128)
    }

    let pairing: SimulatedPairing
    private var state = State.idle
    private var request: [UInt8] = []
    private var response: [UInt8] = []
    private var ourRandom: UInt128 = 0
    /// Whether the central wants the long term key.
    private var givesKey = false

    init(_ pairing: SimulatedPairing) { self.pairing = pairing }

    /// The key of the link until the long term key has been given.
    var shortTermKey: SimulatedLongTermKey? {
        if case .agreed(let key) = state { return SimulatedLongTermKey(key: key, isAuthenticated: true) }
        return nil
    }

    /// - Parameters:
    ///   - addresses: those with which the link was made.
    ///   - random: draws our random value.
    /// - Returns: what to send.
    mutating func receive(
        _ pdu: [UInt8], addresses: (central: DeviceAddress, peripheral: DeviceAddress), random: () -> UInt128
    ) -> [SMPPacket] {
        let packet: SMPPacket
        do throws(DecodingError) { packet = try SMPPacket(pdu.span.bytes) } catch {
            // Reserved codes are ignored (Core 5.4, Vol 3, Part H, 3.3).
            return SMPOpcode(rawValue: pdu.first ?? 0).isKnown ? refuse(.invalidParameters) : []
        }
        switch (packet, state) {
        case (.pairingRequest(let features), _):
            guard [.keyboardOnly, .keyboardDisplay].contains(features.ioCapability) else {
                return refuse(.authenticationRequirements)
            }
            guard features.maximumKeySize == 16 else { return refuse(.encryptionKeySize) }
            let answer = SMPPacket.pairingResponse(
                PairingFeatures(
                    ioCapability: .displayOnly,
                    authentication: features.authentication.intersection(.bonding).union(.mitm), initiatorKeys: [],
                    responderKeys: features.responderKeys.intersection(.encryption)))
            givesKey = features.responderKeys.contains(.encryption)
            (request, response, state) = (pdu, Self.octets(of: answer), .asked)
            return [answer]
        case (.pairingConfirm(let confirm), .asked):
            (ourRandom, state) = (random(), .committed(confirm))
            return [.pairingConfirm(Key128(rawValue: commitment(to: ourRandom, addresses)))]
        case (.pairingRandom(let theirs), .committed(let confirm)):
            guard commitment(to: theirs.rawValue, addresses) == confirm.rawValue else {
                return refuse(.confirmValueFailed)
            }
            let half = UInt128(UInt64.max)
            state = .agreed(
                Key128(
                    rawValue: BlockCipher.encrypt((ourRandom & half) << 64 | theirs.rawValue & half, key: temporaryKey))
            )
            return [.pairingRandom(Key128(rawValue: ourRandom))]
        case (.pairingFailed, _):
            state = .idle
            return []
        default:
            return refuse(.unspecifiedReason)
        }
    }

    /// The link is encrypted with the short term key: the long term key follows.
    mutating func encrypted() -> [SMPPacket] {
        guard case .agreed = state else { return [] }
        state = .idle
        guard givesKey else { return [] }
        let key = pairing.longTermKey
        return [
            .encryptionInformation(key.key),
            .centralIdentification(encryptedDiversifier: key.encryptedDiversifier, randomNumber: key.randomNumber),
        ]
    }

    private mutating func refuse(_ reason: PairingFailedReason) -> [SMPPacket] {
        state = .idle
        return [.pairingFailed(reason)]
    }

    private var temporaryKey: Key128 { Key128(rawValue: UInt128(pairing.passkey)) }

    /// The confirm value generation function c1 (Core 5.4, Vol 3, Part H, 2.2.3).
    private func commitment(
        to random: UInt128, _ addresses: (central: DeviceAddress, peripheral: DeviceAddress)
    ) -> UInt128 {
        func number(_ octets: [UInt8]) -> UInt128 { octets.reversed().reduce(0) { $0 << 8 | UInt128($1) } }
        func type(_ address: DeviceAddress) -> UInt128 { address.kind == .public ? 0 : 1 }
        let first =
            number(response) << 72 | number(request) << 16 | type(addresses.peripheral) << 8 | type(addresses.central)
        let second = UInt128(addresses.central.value) << 48 | UInt128(addresses.peripheral.value)
        let inner = BlockCipher.encrypt(random ^ first, key: temporaryKey)
        return BlockCipher.encrypt(inner ^ second, key: temporaryKey)
    }

    static func octets(of packet: SMPPacket) -> [UInt8] {
        var writer = PacketWriter()
        packet.encode(into: &writer)
        return writer.bytes
    }
}
