import Foundation
import Testing

@testable import bletool

/// `ad decode` and `ad pack` on the bytes that devices have been seen to send (SPEC 3.4, 8).
@Suite("Advertising bytes of devices")
struct AdvertisingBytesTests {
    private func object(_ arguments: [String]) async throws -> [String: Any] {
        let run = try await ToolRun(list: ["--json", "ad"] + arguments)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        return try #require(try run.objects.first)
    }

    struct Payload: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var advertisement: String
        var scanResponse: String?
        var scanFor: [String] = []
        var name: String?
        var isComplete: Bool?
        var services: [String] = []
        var hashed: [String] = []
        /// Octets of the mask that are not zero.
        var mask: [Int: UInt8] = [:]
        var txPower: Int?
        var flags: Int? = 0x1A
    }

    static let mask = "14ff4c0001"
    static let five = ["1FA2", "2FA2", "5FA2", "4FA2", "3FA2"].map { $0 + "FD8A-17E0-4D3B-AF45-305DA6130E39" }

    static let payloads = [
        Payload(
            testDescription: "foreground, C007 and Fred", advertisement: "02011a030307c0050946726564", scanResponse: "",
            scanFor: ["C007"], name: "Fred", isComplete: true, services: ["C007"]),
        Payload(
            testDescription: "background, C007", advertisement: "02011a14ff4c000100000000100000000000000000000000",
            scanFor: ["C007", "C008"], hashed: ["C007"], mask: [4: 0x10]),
        Payload(
            testDescription: "background, the mask of C008",
            advertisement: "02011a14ff4c000100000000000000080000000000000000", scanFor: ["C007", "C008"],
            hashed: ["C008"], mask: [7: 0x08]),
        Payload(
            testDescription: "background, 1001 and 3333 share a bit",
            advertisement: "02011a14ff4c000100000000000000020000000000000000", scanFor: ["1001", "3333", "C007"],
            hashed: ["1001", "3333"], mask: [7: 0x02]),
        Payload(
            testDescription: "background, iOS 11", advertisement: "02011a14ff4c000100000000000000000000080000000000",
            scanFor: ["2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"], hashed: ["2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"],
            mask: [10: 0x08]),
        Payload(
            testDescription: "background with Continuity", advertisement: "02011a020a0c0bff4c001006071ea3dd89e0",
            scanResponse: "14ff4c000100000000000000000000200000000000",
            scanFor: ["428132AF-4746-42D3-801E-4572D65BFD9B"], hashed: ["428132AF-4746-42D3-801E-4572D65BFD9B"],
            mask: [10: 0x20], txPower: 12),
        Payload(
            testDescription: "foreground, 3AC5 and Tester",
            advertisement: "02011a1107fb349b5f80000080001000" + "00c53a0000070954657374" + "6572", scanFor: ["180D"],
            name: "Tester", isComplete: true, services: ["3AC5"]),
        Payload(
            testDescription: "background, 3AC5", advertisement: "02011a14ff4c000100000000000000000000000000200000",
            scanFor: ["3AC5"], hashed: ["3AC5"], mask: [13: 0x20]),
        Payload(
            testDescription: "foreground with overflow",
            advertisement: "02011a1106390e13a65d3045af3b4de0178afda21f090975796e677579656e",
            scanResponse: "14ff4c000140004000080008000000000000000000", scanFor: five, name: "uynguyen",
            isComplete: true, services: [five[0]], hashed: [five[1], five[2], five[3], five[4]],
            mask: [0: 0x40, 2: 0x40, 4: 0x08, 6: 0x08]),
        Payload(
            testDescription: "foreground with overflow, 2014",
            advertisement: "02011a11067f00000079e3e78e82319dfbf045bdd209084c69676874426c75",
            scanResponse: "14ff4c000100000000000000000000000000000002",
            scanFor: ["00000000-0000-0000-0000-000000000072", "180A"], name: "LightBlu", isComplete: false,
            services: ["D2BD45F0-FB9D-3182-8EE7-E3790000007F"], hashed: ["00000000-0000-0000-0000-000000000072"],
            mask: [15: 0x02]),
        Payload(
            testDescription: "a scan response, sniffed", advertisement: "",
            scanResponse: "14ff4c000100000000000000000000000080000000",
            scanFor: ["00000000-0000-0000-0000-00000000001F"], hashed: ["00000000-0000-0000-0000-00000000001F"],
            mask: [12: 0x80], flags: nil),
        Payload(
            testDescription: "the mask of the UKHSA's filter",
            advertisement: "02011a14ff4c000100000000000000000040000000000000",
            scanFor: ["C1F5983C-FA94-4AC8-8E2E-BB86D6DE9B21"], hashed: ["C1F5983C-FA94-4AC8-8E2E-BB86D6DE9B21"],
            mask: [9: 0x40]),
    ]

    @Test("each payload of SPEC 8 is read by ad decode as its line says", arguments: payloads)
    func decodes(_ payload: Payload) async throws {
        var arguments = ["decode", payload.advertisement]
        if let scanResponse = payload.scanResponse { arguments += ["--scan-response", scanResponse] }
        arguments += payload.scanFor.flatMap { ["--scan-for", $0] }
        let read = try await object(arguments)
        #expect(read["flags"] as? Int == payload.flags)
        #expect(read["localName"] as? String == payload.name)
        #expect(read["nameComplete"] as? Bool == payload.isComplete)
        #expect(read["serviceUUIDs"] as? [String] == payload.services)
        #expect(read["hashedServiceUUIDs"] as? [String] == payload.hashed)
        #expect(read["txPower"] as? Int == payload.txPower)
        #expect((read["errors"] as? [Any])?.isEmpty == true)
        let manufacturer = try #require(read["manufacturerData"] as? [[String: Any]])
        let masks = manufacturer.filter { ($0["data"] as? String)?.hasPrefix("01") == true }
        #expect(masks.count == (payload.mask.isEmpty ? 0 : 1))
        #expect(manufacturer.allSatisfy { $0["company"] as? Int == 0x4C })
        guard let mask = masks.first?["data"] as? String else { return }
        let octets = (0..<16).map { Self.text(payload.mask[$0] ?? 0) }
        #expect(mask == "01" + octets.joined())
        // Who does not scan for a service is not told of hashed ones (SPEC 3.6).
        let plain = try await object(Array(arguments.prefix { $0 != "--scan-for" }))
        #expect((plain["hashedServiceUUIDs"] as? [Any])?.isEmpty == true)
    }

    private static func text(_ octet: UInt8) -> String {
        let digits = String(octet, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }

    @Test(
        "each row of SPEC 3.4 that name and services make comes out of ad pack byte for byte (SPEC 3.4, ADV-1 to ADV-4)",
        arguments: [
            (["--name", "Fred", "--service", "C007"], "02011a030307c0050946726564", ""),
            (
                ["--name", "Tester", "--service", "00003AC5-0000-1000-8000-00805F9B34FB"],
                "02011a1107fb349b5f8000008000100000c53a000007095465737465" + "72", ""
            ),
            (
                ["--name", "uynguyen"] + five.flatMap { ["--service", $0] },
                "02011a1106390e13a65d3045af3b4de0178afda21f090975796e677579656e",
                "14ff4c000140004000080008000000000000000000"
            ),
            (
                [
                    "--name", "LightBlue", "--service", "D2BD45F0-FB9D-3182-8EE7-E3790000007F", "--service",
                    "00000000-0000-0000-0000-000000000072",
                ], "02011a11067f00000079e3e78e82319dfbf045bdd209084c69676874426c75",
                "14ff4c000100000000000000000000000000000002"
            ),
            (
                [
                    "--service", "0001", "--service", "0002", "--service", "0003", "--service", "0004", "--service",
                    five[0],
                ],
                "02011a09030100020003000400" + "1107390e13a65d3045af3b4de0178afda21f", ""
            ),
            (
                (0x1001...0x1014).flatMap { ["--service", String($0, radix: 16)] },
                "02011a1b02" + (1...13).map { text(UInt8($0)) + "10" }.joined(), nil
            ),
            (
                ["--background", "--name", "Fred", "--service", "C007"],
                "02011a14ff4c000100000000100000000000000000000000", ""
            ),
            (
                ["--background", "--service", "00003AC5-0000-1000-8000-00805F9B34FB"],
                "02011a14ff4c000100000000000000000000000000200000", ""
            ),
            (["--background", "--service", "C008"], "02011a14ff4c000100000000000000080000000000000000", ""),
            (
                ["--background", "--service", "1001", "--service", "3333"],
                "02011a14ff4c000100000000000000020000000000000000", ""
            ),
        ] as [([String], String, String?)])
    func packs(arguments: [String], advertisement: String, scanResponse: String?) async throws {
        let packed = try await object(["pack", "--flags", "1a"] + arguments)
        #expect(packed["advertisement"] as? String == advertisement)
        if let scanResponse {
            #expect(packed["scanResponse"] as? String == scanResponse)
        } else {
            let response = try #require(packed["scanResponse"] as? String)
            #expect(response.hasPrefix(Self.mask) && response.count == 42)
            let read = try await object(
                ["decode", advertisement, "--scan-response", response]
                    + (0x100E...0x1014).flatMap { ["--scan-for", String($0, radix: 16)] })
            #expect((read["hashedServiceUUIDs"] as? [Any])?.count == 7)
        }
    }
}
