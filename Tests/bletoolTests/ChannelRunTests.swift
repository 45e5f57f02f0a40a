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

    @Test("a peer that does not answer the Disconnection Request does not hold up the end")
    func silentPeer() async throws {
        // An L2CAP Disconnection Response on the LE signalling channel.
        let air = try ToolAir(controllers: 2) { $0.count > 9 && $0[0] == 0x02 && $0[7] == 5 && $0[9] == 0x07 }
        let adapter = try await Adapter.open(air.transports[1])
        let incoming = try await adapter.acceptChannels(on: 0x80, ChannelSettings(), requiresEncryption: false)
        let serving = Task { for try await channel in incoming { for try await _ in channel {} } }
        let advertising = Task {
            try await adapter.advertise(AdvertiseRequest(.packed(localName: "Sink", serviceUUIDs: [])))
        }
        defer { for task in [serving, advertising] { task.cancel() } }
        let tool = try ToolTask("-t", air.transports[0], "l2cap", "connect", "Sink", "--psm", "0x80", "--linger", "0")
        // The input of the tests is at its end, or ends with the work.
        try await tool.prints("channel 1 is open")
        let begin = ContinuousClock.now
        tool.interrupt()
        _ = await tool.status
        // The response may take 30 s.
        #expect(begin.duration(to: .now) < .seconds(25))
        await adapter.close()
    }

    @Test("work that does not end when it is cancelled ends with the adapter, and the adapter is closed once")
    func leaving() async throws {
        let air = try ToolAir(controllers: 1)
        let adapter = try await Adapter.open(air.transports[0])
        let leaving = Leaving(adapter)
        leaving.begin()
        leaving.begin()
        // Nobody has this address: only the end of the adapter ends the wait.
        await #expect(throws: BLEError.self) {
            _ = try await adapter.connect(to: DeviceAddress(value: 0xC0DE_0000_0099, kind: .random))
        }
        await leaving.close()
        await #expect(throws: BLEError.closed) { try await adapter.useChannels(.all) }
        let other = try await Adapter.open(air.transports[0])
        let prompt = Leaving(other)
        prompt.begin()
        await prompt.close()
        await #expect(throws: BLEError.closed) { try await other.useChannels(.all) }
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
