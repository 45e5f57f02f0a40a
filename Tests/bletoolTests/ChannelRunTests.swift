import BLE
import Testing

@testable import bletool

@Suite("L2CAP channels of two programs")
struct ChannelRunTests {
    @Test("listen serves a peer with a channel of the other form, says that the sizes stay, and ends with the channel")
    func otherForm() async throws {
        let air = try ToolAir(controllers: 2)
        let listener = try ToolTask(
            "-t", air.transports[0], "l2cap", "listen", "--psm", "0x80", "--name", "Sink", "--enhanced",
            "--reconfigure", "4096", "--linger", "600")
        let adapter = try await Adapter.open(air.transports[1])
        let channel = try await adapter.connect(to: "Sink").openChannel(0x80)
        // A note, or the error that ends the program.
        try await listener.prints("cannot be changed to these sizes")
        try await channel.send(Array("hello".utf8))
        try await listener.prints("hello")
        await channel.close()
        #expect(await listener.status == 0)
        let said = try listener.errors
        #expect(said.contains("bletool: the sizes stay as they were: the channel cannot be changed"), "\(said)")
        await adapter.close()
    }

    @Test("shorter frames for several channels are refused before anything is opened; one channel may have them")
    func shorterFrames() throws {
        let words = ["l2cap", "connect", "Lamp", "--psm", "1", "--enhanced", "--reconfigure", "4096,100"]
        let one = try #require(try parse(words) as? L2CAPConnectCommand)
        #expect(one.channel.reconfigure?.mps == 100)
        #expect(try parse(words + ["--count", "2", "--mps", "100"]) is L2CAPConnectCommand)
        do {
            _ = try parse(words + ["--count", "2"])
            Issue.record("parsed")
        } catch {
            let complaint = BLETool.fullMessage(for: error)
            #expect(complaint.contains("shorter than --mps, 247 octets"), "\(complaint)")
        }
    }
}
