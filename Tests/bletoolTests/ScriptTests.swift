import BLE
import BLEScripts
import Testing

@testable import bletool

@Suite("Scripts")
struct ScriptTests {
    @Test("each line is a step; comments and empty lines are not")
    func steps() throws {
        let script = try GATTScript(
            """
            discover
            discover --service 180D   # one

              read 0x0021
            write 2A39 01 --command
            write --command 180D/2A39 0aff
            write 2A39 ""
            write 2A39 02 --signed
            subscribe 2A37\r
            wait --count 3 --duration 1.5
            wait
            """)
        let point = BluetoothUUID(UInt16(0x2A39))
        let heart = BluetoothUUID(UInt16(0x180D))
        #expect(script.lines.map(\.number) == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11])
        #expect(
            script.lines.map(\.step) == [
                .discover(service: nil), .discover(service: heart), .read(.handle(AttributeHandle(rawValue: 0x21))),
                .write(.uuid(point, service: nil), [1], .withoutResponse),
                .write(.uuid(point, service: heart), [0x0A, 0xFF], .withoutResponse),
                .write(.uuid(point, service: nil), []),
                .write(.uuid(point, service: nil), [2], .signed),
                .subscribe(.uuid(BluetoothUUID(UInt16(0x2A37)), service: nil)),
                .wait(count: 3, duration: .milliseconds(1500)), .wait(count: nil, duration: nil),
            ])
    }

    @Test(
        "a line that is not a step is reported with its number, before anything is done",
        arguments: [
            "frob", "read", "read Peer", "read 2A37 2A38", "write 2A39", "write 2A39 zz", "wait --count",
            "wait --count 0",
            "wait --duration soon", "subscribe", "discover --service", "discover 180D", "read 2A37 --command", "wait",
            "wait --count 3",
            "write 2A39 01 --command --signed",
            "write 2A39 " + String(repeating: "00", count: 513),
        ])
    func mistakes(_ line: String) {
        do throws(ScriptProblem) {
            _ = try GATTScript("read 2A37\n" + line)
            Issue.record("parsed")
        } catch {
            #expect(error.line == 2)
            #expect(error.description.hasPrefix("line 2: "))
            let failure = Failure(error)
            #expect(failure.line == 2 && failure.message == error.description)
        }
    }

    @Test("a subscription with --count or --duration also waits, as the command does")
    func subscribeThatWaits() throws {
        let heart = GATTStep.subscribe(.uuid(BluetoothUUID(UInt16(0x2A37)), service: nil))
        let wait = GATTStep.wait(count: 3, duration: .seconds(5))
        let line = "subscribe 2A37 --count 3 --duration 5"
        #expect(try GATTScript(line).lines == [.init(number: 1, step: heart), .init(number: 1, step: wait)])
        #expect(try GATTScript.steps(line.split(separator: " ").map(String.init)) == [heart, wait])
        let level = GATTStep.subscribe(.uuid(BluetoothUUID(UInt16(0x2A19)), service: nil))
        #expect(
            try GATTScript.steps(["subscribe", "2A37", "2A19", "--count", "1"]) == [
                heart, level, .wait(count: 1, duration: nil),
            ])
        #expect(throws: ScriptProblem.self) { try GATTScript("subscribe 2A37 --count many") }
    }

    @Test("a value of 512 bytes can be written, and a wait that ends by itself needs no subscription")
    func limits() throws {
        let script = try GATTScript("wait --duration 0.1\nwrite 2A39 " + String(repeating: "00", count: 512))
        #expect(script.lines.count == 2)
    }
}
