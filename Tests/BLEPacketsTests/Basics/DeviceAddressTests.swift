import Testing

@testable import BLEPackets

@Suite("Device addresses")
struct DeviceAddressTests {
    @Test("an address and its type stay together, in text or in comparison (pain 10)")
    func kindCounts() throws {
        let plain = try #require(DeviceAddress("C0:11:22:33:44:FF"))
        let random = try #require(DeviceAddress("C0:11:22:33:44:FF/random"))
        #expect(plain.kind == .public)
        #expect(plain != random)
        #expect(plain.description == "C0:11:22:33:44:FF/public")
        #expect(random.description == "C0:11:22:33:44:FF/random")
        #expect(DeviceAddress("c0:11:22:33:44:ff/public") == plain)
    }

    @Test(
        "text of another form is refused",
        arguments: [
            "", "C0:11:22:33:44", "C0:11:22:33:44:F", "C0-11-22-33-44-FF", "C0:11:22:33:44:FG", "C0:11:22:33:44:FF/",
            "C0:11:22:33:44:FF/static", "C0:11:22:33:44:FF:00", "C01122334455", "C0:11:22:33:44:FF/Random",
        ])
    func refuses(text: String) { #expect(DeviceAddress(text) == nil) }

    @Test("the two upper bits of a random address tell its kind; a public one has none")
    func randomKinds() {
        let kinds: [(UInt64, DeviceAddress.RandomKind)] = [
            (0xC000_0000_0000, .static), (0x4000_0000_0000, .resolvablePrivate),
            (0x0000_0000_0000, .nonResolvablePrivate), (0x8000_0000_0000, .reserved),
        ]
        for (value, kind) in kinds {
            #expect(DeviceAddress(value: value, kind: .random).randomKind == kind)
            #expect(DeviceAddress(value: value, kind: .randomIdentity).randomKind == kind)
            #expect(DeviceAddress(value: value, kind: .public).randomKind == nil)
        }
    }

    @Test("an address that the controller resolved is named public or random in commands")
    func identityMark() {
        #expect(DeviceAddress(value: 1, kind: .publicIdentity).withoutIdentityMark.kind == .public)
        #expect(DeviceAddress(value: 1, kind: .randomIdentity).withoutIdentityMark.kind == .random)
    }

    @Test("encoding and decoding are inverse, and every prefix is an error")
    func inverse() throws {
        var random = FixedSeedGenerator(seed: 2)
        for _ in 0..<200 {
            let bytes = random.octets(count: 6)
            var reader = PacketReader(bytes.span.bytes)
            let address = try DeviceAddress(decoding: &reader, kind: .random)
            #expect(address.octets == bytes)
            #expect(DeviceAddress(address.description) == address)
            var packet = PacketWriter()
            address.encodeOctets(into: &packet)
            #expect(packet.bytes == bytes)
            for count in 0..<6 { expectTruncated(bytes, count: count) }
        }
    }

    private func expectTruncated(_ bytes: [UInt8], count: Int) {
        var reader = PacketReader(bytes.span.bytes.extracting(first: count))
        do throws(DecodingError) {
            _ = try DeviceAddress(decoding: &reader, kind: .public)
            Issue.record("decoded \(count) octets")
        } catch {
            guard case .truncated = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
