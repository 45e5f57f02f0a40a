import BLEPackets
import Testing

@testable import BLEHost

/// Every permission that a table of attributes can have, against every way to a value and every state of a link
/// (SPEC PER-5, 2.4; Core 5.4, Vol 3, Part C, 10.3.1).
@Suite("GATT server permissions")
struct GATTServerPermissionTests {
    /// A state of the link, and what the specification makes of it.
    struct State: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var security: GATTLinkSecurity
        /// What a value hears that needs encryption, and one that needs a key with protection.
        var encryption: String?
        var authentication: String?
    }

    static let states = [
        State(testDescription: "no keys", security: .none, encryption: "05", authentication: "05"),
        State(
            testDescription: "keys not in use", security: GATTLinkSecurity(keys: .unauthenticated), encryption: "0f",
            authentication: "05"),
        State(
            testDescription: "encrypted", security: GATTLinkSecurity(keys: .unauthenticated, isEncrypted: true),
            encryption: nil, authentication: "05"),
        State(
            testDescription: "authenticated keys not in use", security: GATTLinkSecurity(keys: .authenticated),
            encryption: "0f", authentication: "0f"),
        State(
            testDescription: "encrypted and authenticated",
            security: GATTLinkSecurity(keys: .authenticated, isEncrypted: true), encryption: nil, authentication: nil),
    ]

    private static let kinds: [AttributePermissions] = [
        .readable, .writeable, .readEncryption, .writeEncryption, .readAuthentication, .writeAuthentication,
    ]

    /// All 64 sets of the six permissions, none of them among these.
    private static let sets: [AttributePermissions] = (0..<64).map { bits in
        kinds.indices.reduce(into: []) { if bits >> $1 & 1 == 1 { $0.formUnion(kinds[$1]) } }
    }

    private func refusal(
        _ permissions: AttributePermissions, plain: AttributePermissions, encryption: AttributePermissions,
        authentication: AttributePermissions, notPermitted: String, _ state: State
    ) -> String? {
        if permissions.isDisjoint(with: [plain, encryption, authentication]) { return notPermitted }
        if permissions.contains(authentication), let error = state.authentication { return error }
        return permissions.contains(encryption) ? state.encryption : nil
    }

    /// A characteristic's value at 3 and its descriptor at 4, both with these permissions.
    private func table(_ permissions: AttributePermissions) throws -> GATTDatabase {
        try GATTDatabase(attributes: [
            .row(1, 0x2800, .readable, [0x0D, 0x18]), .row(2, 0x2803, .readable, [0x0A, 3, 0, 0x37, 0x2A]),
            .row(3, 0x2A37, permissions, [1, 2, 3]), .row(4, 0x2901, permissions, [1, 2, 3]),
            .row(5, 0x2803, .readable, [0x02, 6, 0, 0x38, 0x2A]), .row(6, 0x2A38, .readable, [9]),
        ])
    }

    @Test("each way to read a value or a descriptor gives the same refusal, or none (SPEC PER-5)", arguments: states)
    func reads(state: State) throws {
        for permissions in Self.sets {
            let error = refusal(
                permissions, plain: .readable, encryption: .readEncryption, authentication: .readAuthentication,
                notPermitted: "02", state)
            for (handle, type) in [("03", "372a"), ("04", "0129")] {
                let bench = ServerBench(mtu: 23, try table(permissions), security: state.security)
                func expects(_ request: String, _ response: String) {
                    let refused = "01" + request.prefix(2) + handle + "00"
                    #expect(bench.ask(request) == [error.map { refused + $0 } ?? response], "\(permissions)")
                }
                expects("0a\(handle)00", "0b010203")
                expects("0c\(handle)000100", "0d0203")
                expects("0c\(handle)00ffff", "010c\(handle)0007")
                expects("080100ffff" + type, "0905\(handle)00010203")
                expects("0e0600\(handle)00", "0f09010203")
                expects("200600\(handle)00", "210100090300010203")
                // A value that may not be read is not compared either.
                let found = bench.ask("060100ffff" + type + "010203")
                #expect(found == [error == nil ? "07\(handle)00\(handle)00" : "010601000a"])
            }
        }
    }

    @Test(
        "each way to write a value or a descriptor is refused alike, commands silently (SPEC PER-5)",
        arguments: states)
    func writes(state: State) throws {
        for permissions in Self.sets {
            let error = refusal(
                permissions, plain: .writeable, encryption: .writeEncryption, authentication: .writeAuthentication,
                notPermitted: "03", state)
            for handle in [3, 4] as [UInt16] {
                let bench = ServerBench(mtu: 23, try table(permissions), security: state.security)
                let name = "0\(handle)00"
                #expect(bench.ask("12" + name + "0a") == [error.map { "0112" + name + $0 } ?? "13"], "\(permissions)")
                #expect(
                    bench.ask("16" + name + "01000b") == [error.map { "0116" + name + $0 } ?? "17" + name + "01000b"])
                #expect(bench.ask("1801") == ["19"])
                let isWritten = error == nil
                #expect(stored(bench, handle) == (isWritten ? [0x0A, 0x0B] : [1, 2, 3]))
                #expect(bench.ask("52" + name + "0c").isEmpty)
                #expect(stored(bench, handle) == (isWritten ? [0x0C] : [1, 2, 3]))
                #expect(bench.server.counters.refusedCommands == (isWritten ? 0 : 1))
            }
        }
    }

    private func stored(_ bench: ServerBench, _ handle: UInt16) -> [UInt8]? {
        guard case .stored(let octets)? = bench.server.database.table[AttributeHandle(rawValue: handle)]?.value else {
            return nil
        }
        return octets
    }

    @Test("no permission of a value or of a declaration prevents discovery (Core 5.4, Vol 3, Part G, 3.1)")
    func discovery() throws {
        for permissions in Self.sets {
            let value = try table(permissions)
            var declared = value.table.attributes.map {
                RawAttribute(handle: $0.handle, type: $0.type, permissions: $0.permissions, value: octets($0))
            }
            for index in declared.indices where [0x2800, 0x2803].contains(declared[index].type.shortValue ?? 0) {
                declared[index].permissions = permissions
            }
            for database in [value, try GATTDatabase(attributes: declared)] {
                let bench = ServerBench(mtu: 64, database)
                #expect(bench.ask("100100ffff0028") == ["1106010006000d18"])
                #expect(bench.ask("060100ffff00280d18") == ["0701000600"])
                #expect(bench.ask("080100ffff0328") == ["090702000a0300372a" + "0500020600382a"])
                #expect(bench.ask("040100ffff") == ["050101000028020003280300372a040001290500032806" + "00382a"])
                #expect(bench.ask("1201000102") == ["0112010003"], "a declaration stays as it is")
            }
        }
    }

    private func octets(_ attribute: Attribute) -> [UInt8] {
        if case .stored(let octets) = attribute.value { octets } else { [] }
    }

    @Test(
        "without keys the refusal is Insufficient Authentication, with unused keys Insufficient Encryption (SPEC 2.4)"
    )
    func keys() throws {
        let bench = ServerBench(mtu: 23, try table([.readEncryption, .writeEncryption]))
        #expect(bench.ask("0a0300") == ["010a030005"])
        #expect(bench.ask("1203000a") == ["0112030005"])
        bench.server.securityChanged(to: GATTLinkSecurity(keys: .unauthenticated), on: ServerBench.link(1))
        #expect(bench.ask("0a0300") == ["010a03000f"])
        #expect(bench.ask("1203000a") == ["011203000f"])
        bench.server.securityChanged(
            to: GATTLinkSecurity(keys: .unauthenticated, isEncrypted: true), on: ServerBench.link(1))
        #expect(bench.ask("0a0300") == ["0b010203"])
        #expect(bench.ask("1203000a") == ["13"])
    }

    @Test("the first value that may not be read ends Read Multiple and begins no Read By Type list")
    func severalValues() throws {
        let bench = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                .row(1, 0x2A00, .readable, [1]), .row(2, 0x2A00, .readAuthentication, [2]),
                .row(3, 0x2A00, [], [3]), .row(4, 0x2A00, .readable, [4]),
            ]))
        #expect(bench.ask("0e010002000300") == ["010e020005"])
        #expect(bench.ask("0e010003000200") == ["010e030002"])
        #expect(bench.ask("20010004000300") == ["0120030002"])
        #expect(bench.ask("0e01000900") == ["010e090001"])
        #expect(bench.ask("080100ffff002a") == ["0903010001"])
        #expect(bench.ask("080200ffff002a") == ["0108020005"])
        #expect(bench.ask("080300ffff002a") == ["0108030002"])
        #expect(bench.ask("080400ffff002a") == ["0903040004"])
    }
}
