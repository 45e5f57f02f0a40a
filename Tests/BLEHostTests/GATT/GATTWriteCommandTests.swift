import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client write commands")
struct GATTWriteCommandTests {
    @Test("a write command ends when it has been handed to the controller (SPEC CEN-20)")
    func ends() {
        var bench = ClientBench()
        let id = bench.start(.writeCommand(7, value: [1, 2]))
        #expect(bench.tags == [.command(id)])
        #expect(bench.takeSent() == ["5207000102"])
        #expect(bench.completions.isEmpty)
        bench.commandSent(id)
        bench.commandSent(id)
        #expect(bench.takeResults() == [.success(.written)])
    }

    @Test("a write command does not wait for an answer to a request")
    func overtakes() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.start(.writeCommand(7, value: [1]))
        #expect(bench.takeSent() == ["0a0300", "52070001"])
    }

    @Test("a value beyond MTU − 3 is refused (SPEC 2.3)")
    func tooLong() {
        var bench = ClientBench()
        bench.start(.writeCommand(7, value: [UInt8](repeating: 0, count: 20)))
        #expect(bench.takeSent().count == 1)
        bench.start(.writeCommand(7, value: [UInt8](repeating: 0, count: 21)))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == [.failure(.valueTooLong(limit: 20))])
    }

    @Test("a full queue says so, and says once that there is room again (SPEC 2.3)")
    func backPressure() {
        var settings = GATTClientSettings()
        settings.writeCommandLimit = 4
        var bench = ClientBench(settings: settings)
        let ids = (0..<4).map { _ in bench.start(.writeCommand(7, value: [1])) }
        #expect(bench.takeEvents() == [.writeCommandsFull])
        #expect(!bench.client.canSendWriteCommand)
        bench.start(.writeCommand(7, value: [1]))
        #expect(bench.takeResults() == [.failure(.queueFull)])
        #expect(bench.takeSent().count == 4)
        bench.commandSent(ids[0])
        #expect(bench.client.canSendWriteCommand)
        #expect(bench.events.isEmpty)
        bench.commandSent(ids[1])
        #expect(bench.takeEvents() == [.writeCommandsReady])
        bench.commandSent(ids[2])
        bench.commandSent(ids[3])
        #expect(bench.events.isEmpty)
        #expect(bench.takeResults().count == 4)
    }

    @Test("a cancelled write command ends once, though its PDU is sent")
    func cancelled() {
        var bench = ClientBench()
        let id = bench.start(.writeCommand(7, value: [1]))
        bench.cancel(id)
        bench.cancel(id)
        bench.commandSent(id)
        #expect(bench.takeResults() == [.failure(.cancelled)])
        #expect(bench.client.commands.commands.isEmpty)
    }

    @Test("unsent write commands end with the link (pain 4)")
    func disconnected() {
        var bench = ClientBench()
        bench.start(.writeCommand(7, value: [1]))
        bench.close(.disconnected(.remoteUserTerminatedConnection))
        #expect(bench.takeResults() == [.failure(.disconnected(.remoteUserTerminatedConnection))])
        #expect(!bench.client.canSendWriteCommand)
    }
}
