import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// The sample data of the specification (Core 5.4, Vol 3, Part H, Appendix D).
@Suite struct SecurityFunctionTests {
    private func result(of function: SecurityFunction) -> [UInt8]? {
        var function = function
        for _ in 0..<4 {
            guard case .octets(let octets) = SwiftCryptoProvider().answer(function.request) else { return nil }
            switch function.receive(octets) {
            case .ask: continue
            case .done(let result): return result
            case .broken: return nil
            }
        }
        return nil
    }

    private let u = octets("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")
    private let v = octets("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
    private let x = octets("d5cb8454d177733effffb2ec712baeab")
    private let y = octets("a6e8e7cc25a75f6e216583f7ff3dc4cf")
    private let a1 = DeviceAddress(value: 0x5612_3737_BFCE, kind: .public)
    private let a2 = DeviceAddress(value: 0xA713_702D_CFC1, kind: .public)
    private let key = octets("ec0234a357c8ad05341010a60a397d9b")

    @Test("c1 and s1")
    func legacy() {
        let c1 = SecurityFunction.c1(
            key: [UInt8](repeating: 0, count: 16), random: octets("5783d52156ad6f0e6388274ec6702ee0"),
            request: octets("07071000000101"), response: octets("05000800000302"),
            initiator: DeviceAddress(value: 0xA1A2_A3A4_A5A6, kind: .random),
            responder: DeviceAddress(value: 0xB1B2_B3B4_B5B6, kind: .public))
        #expect(result(of: c1) == octets("1e1e3fef878988ead2a74dc5bef13b86"))
        let s1 = SecurityFunction.s1(
            key: [UInt8](repeating: 0, count: 16), responderRandom: octets("000f0e0d0c0b0a091122334455667788"),
            initiatorRandom: octets("010203040506070899aabbccddeeff00"))
        #expect(result(of: s1) == octets("9a1fe1f0e8b0f49b5b4216ae796da062"))
    }

    @Test("f4, f5, f6 and g2")
    func secureConnections() {
        #expect(result(of: .f4(u, v, key: x, 0)) == octets("f2c916f107a9bd1cf1eda1bea974872d"))
        let f5 = SecurityFunction.f5(
            octets("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698"), initiatorNonce: x,
            responderNonce: y, initiator: a1, responder: a2)
        #expect(result(of: f5) == octets("2965f176a1084a02fd3f6a20ce636e206986791169d7cd23980522b594750a38"))
        let features = PairingFeatures(
            ioCapability: .keyboardOnly, hasOutOfBandData: true, authentication: .bonding, initiatorKeys: [],
            responderKeys: [])
        let f6 = SecurityFunction.f6(
            key: octets("2965f176a1084a02fd3f6a20ce636e20"), x, y, octets("12a3343bb453bb5408da42d20c2d0fc8"),
            features: features, a1, a2)
        #expect(result(of: f6) == octets("e3c473989cd0e8c5d26c0b09da958f61"))
        #expect(result(of: .g2(u, v, key: x, y)) == octets("2f9ed5ba"))
    }

    @Test("h6, h7 and the keys of the other transport")
    func otherTransport() {
        #expect(result(of: .h6(key, keyID: octets("6c656272"))) == octets("2d9ae102e76dc91ce8d3a9e280b16399"))
        #expect(
            result(of: .h7(salt: octets("000000000000000000000000746d7031"), key))
                == octets("fb173597c6a3c0ecd2998c2a75a57011"))
        let longTermKey = octets("368df9bce3264b58bd066c33334fbf64")
        #expect(
            result(of: .linkKey(from: longTermKey, usesH7: false)) == octets("bc1ca4ef633fc1bd0d8230afee388fb0"))
        #expect(result(of: .linkKey(from: longTermKey, usesH7: true)) == octets("287ad379dca402530a39f1f43047b835"))
        let linkKey = octets("05040302010009080706050403020100")
        #expect(
            result(of: .longTermKey(from: linkKey, usesH7: false)) == octets("a813fb72f1a3dfa18a2c9a43f10d0a30"))
        #expect(result(of: .longTermKey(from: linkKey, usesH7: true)) == octets("e85e09eb5eccb3e269418a133211bc79"))
    }

    @Test("ah")
    func addressHash() {
        #expect(result(of: .ah(key: key, random: octets("708194"))) == octets("0dfbaa"))
    }

    @Test("Signatures as BlueZ makes them")
    func signature() {
        let message = octets("d212001337")
        let function = SecurityFunction.signature(
            key: octets("505e42df9691ec72d31fcdfbeb641b61").reversed(), message: message, counter: 1)
        #expect(result(of: function)?.prefix(8) == octets("f1871e933c900ff2").reversed()[...])
    }

    @Test("An answer of a wrong length ends a function")
    func wrongLength() {
        var function = SecurityFunction.g2(u, v, key: x, y)
        #expect(function.receive([1, 2, 3]) == .broken)
    }

    @Test("Comparison in constant time gives the same result as an ordinary one")
    func comparison() {
        #expect(isEqualInConstantTime([1, 2, 3], [1, 2, 3]))
        #expect(!isEqualInConstantTime([1, 2, 3], [1, 2, 4]))
        #expect(!isEqualInConstantTime([1, 2, 3], [1, 2]))
        #expect(isEqualInConstantTime([], []))
    }
}
