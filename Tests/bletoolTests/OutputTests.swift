import BLE
import BLEJSON
import BLEScripts
import Foundation
import Testing

@testable import bletool

@Suite("Output")
struct OutputTests {
    @Test("an object keeps the order of its keys, and text is escaped")
    func json() throws {
        let value: JSONValue = [
            "z": 1, "a": [true, .null, "q\"\\\n\u{1}\u{1B}é😀"], "m": ["k": -5],
        ]
        #expect(value.text == #"{"z":1,"a":[true,null,"q\"\\\n\u0001\u001bé😀"],"m":{"k":-5}}"#)
        let parsed = try JSONSerialization.jsonObject(with: Data(value.text.utf8)) as? [String: Any]
        #expect((parsed?["a"] as? [Any])?.last as? String == "q\"\\\n\u{1}\u{1B}é😀")
    }

    @Test("ad decode gives the keys of the contract, numbers as integers")
    func advertisingData() throws {
        let bytes = try #require(Hexadecimal.bytes("020106 03030d18 020af4 05ff4c000102 0b0942756d626c6550656572"))
        let output = AdvertisingDataOutput(advertisement: bytes, scanFor: []).json
        #expect(
            output.text
                == #"{"event":"advertisingData","flags":6,"localName":"BumblePeer","nameComplete":true,"txPower":-12,"appearance":null,"#
                + #""serviceUUIDs":["180D"],"solicitedServiceUUIDs":[],"hashedServiceUUIDs":[],"#
                + #""manufacturerData":[{"company":76,"data":"0102"}],"serviceData":[],"structures":["#
                + #"{"packet":"advertisement","type":1,"name":"Flags","data":"06"},"#
                + #"{"packet":"advertisement","type":3,"name":"Complete Service UUIDs (16 bits)","data":"0d18"},"#
                + #"{"packet":"advertisement","type":10,"name":"TX Power Level","data":"f4"},"#
                + #"{"packet":"advertisement","type":255,"name":"Manufacturer Data","data":"4c000102"},"#
                + #"{"packet":"advertisement","type":9,"name":"Complete Local Name","data":"42756d626c6550656572"}"#
                + #"],"errors":[]}"#)
    }

    @Test("ad decode shows each structure of advertising data: types without a line of their own with their octets")
    func everyStructure() throws {
        // Types with a line of their own, and no other line.
        let known = try #require(Hexadecimal.bytes("020106 03030d18 020af4 03194103 05ff4c000102 0416 0d18 01 020941"))
        let plain = AdvertisingDataOutput(advertisement: known, scanFor: [])
        #expect(plain.structures.count == 7 && plain.structures.allSatisfy(\.isCovered))
        #expect(!plain.text.contains("other"))
        let shown: Set<UInt8> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0A, 0x14, 0x15, 0x16, 0x19, 0x1F, 0x20, 0x21, 0xFF]
        for type in 0...255 as ClosedRange<UInt8> where !shown.contains(type) {
            let output = AdvertisingDataOutput(advertisement: [4, type, 0xAB, 0xCD, 0xEF], scanFor: [])
            let number = Hexadecimal.number(type, digits: 2)
            let line = output.text.split(separator: "\n").first
            #expect(line?.hasPrefix("other         \(number)") == true && line?.hasSuffix(":abcdef") == true)
            #expect(output.structures.map(\.data) == [[0xAB, 0xCD, 0xEF]])
        }
        let mesh = AdvertisingDataOutput(advertisement: [3, 0x2A, 0x01, 0x02, 2, 0x77, 0x03], scanFor: [])
        #expect(mesh.text == "other         0x2a Mesh Message:0102\nother         0x77:03")
    }

    @Test("ad decode also shows structures that are repeated, malformed or cut off")
    func remainingStructures() throws {
        // Two flags, TX power of two octets, a shortened name beside the complete one, a half UUID, a cut-off name.
        let octets = try #require(
            Hexadecimal.bytes("020106 020104 030a0c0d 03084142 0409414243 04030d1801 0909446566"))
        let output = AdvertisingDataOutput(advertisement: octets, scanFor: [])
        let others = output.structures.filter { !$0.isCovered }.map(\.text)
        #expect(
            others == [
                "0x01 Flags:04", "0x0a TX Power Level:0c0d", "0x08 Shortened Local Name:4142",
                "0x03 Complete Service UUIDs (16 bits):0d1801", "0x09 Complete Local Name:446566 (cut off)",
            ])
        #expect(output.json.text.contains(#""data":"446566","cutOff":true}]"#))
        let response = AdvertisingDataOutput(advertisement: [], scanResponse: [2, 0x77, 1, 0, 0], scanFor: [])
        #expect(
            response.structures.map(\.json.text) == [
                #"{"packet":"scanResponse","type":119,"name":null,"data":"01"}"#
            ])
        #expect(AdvertisingDataOutput(advertisement: [0, 0], scanFor: []).text == "nothing")
    }

    @Test("an ATT error is shown with its code and handle")
    func attError() {
        let failure = Failure(
            BLEError.att(ATTError(rawValue: 0x80), handle: AttributeHandle(rawValue: 33)))
        #expect(failure.status == .operationFailed)
        #expect(failure.event["event"] == "error")
        #expect(failure.event["code"] == "attError")
        #expect(failure.event["attError"] == "0x80")
        #expect(failure.event["handle"] == 33)
        #expect(failure.at(line: 7).event["line"] == 7)
        #expect(Failure("no").event.text == #"{"event":"error","code":"failed","message":"no"}"#)
    }

    @Test("an interruption is named as such, whatever it ended; refused commands have names")
    func otherErrors() {
        for error in [CancellationError(), BLEError.cancelled, BLEError(GATTFailure.cancelled)] as [any Error] {
            #expect(Failure(error) == .interrupted)
        }
        let opcode = HCIOpcode(rawValue: 0x1405)
        let refused = Failure(BLEError.controllerRefused(.unknownConnectionIdentifier, opcode))
        #expect(refused.message.hasPrefix("the controller refused Read RSSI: "))
        #expect(
            Failure(BLEError.commandTimeout(opcode)).message == "the controller did not answer Read RSSI")
        let unnamed = Failure(BLEError.commandTimeout(HCIOpcode(rawValue: 0xFC01)))
        #expect(unnamed.message == "the controller did not answer command 0xfc01")
    }

    @Test("a reader that leaves is noticed once, and nothing crashes")
    func brokenPipe() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        let count = Counter()
        let interruption = Interruption()
        interruption.onRequest { count.increment() }
        let console = Console(isJSON: true, output: ends[1], errors: ends[1], interruption: interruption)
        for _ in 0..<3 { console.print(["event": "value"], text: "") }
        #expect(count.value == 1)
        #expect(console.outputFailure == nil)
        close(ends[1])
    }

    @Test("results that cannot be written end the work with status 1 and the reason (pain 8)")
    func fullOutput() async throws {
        let folder = try TestFolder()
        for arguments in [["-t", "sim", "--state", folder.path, "--json", "lescan"], ["--help"]] {
            let full = unsafe open("/dev/full", O_WRONLY)
            defer { close(full) }
            let errors = try folder.open("errors")
            defer { close(errors) }
            let status = await Program.run(arguments, interruption: Interruption(), output: full, errors: errors)
            #expect(status == 1)
            let told = try folder.read("errors")
            #expect(told == "bletool: error: cannot write to standard output: No space left on device\n")
        }
    }

    @Test("the commands and features of a controller are named")
    func controller() {
        var information = ControllerInformation()
        information.hciVersion = 13
        information.features = [.encryption, .le2MPHY, LEFeatures(rawValue: 1 << 60)]
        var commands = [UInt8](repeating: 0, count: 64)
        commands[5] = 0x80
        commands[26] = 0x08
        information.supportedCommands = commands
        let output = ControllerOutput(information).json
        #expect(output["version"] == "5.4")
        #expect(output["features"] == ["LE Encryption", "LE 2M PHY", "bit 60"])
        #expect(output["commands"] == ["Reset", "LE Set Scan Enable"])
        #expect(output["address"] == .null)
    }
}

final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    var value: Int { lock.withLock { count } }
    func increment() { lock.withLock { count += 1 } }
}
