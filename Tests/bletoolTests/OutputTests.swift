import BLE
import BLEJSON
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
        let data = AdvertisingData(advertisement: bytes.span.bytes)
        let output = AdvertisingDataOutput(data, scanFor: []).json
        #expect(
            output.text
                == #"{"event":"advertisingData","flags":6,"localName":"BumblePeer","nameComplete":true,"txPower":-12,"appearance":null,"#
                + #""serviceUUIDs":["180D"],"solicitedServiceUUIDs":[],"hashedServiceUUIDs":[],"#
                + #""manufacturerData":[{"company":76,"data":"0102"}],"serviceData":[],"errors":[]}"#)
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
