import BLE
import Testing

@testable import bletool

@Suite("A bridge's state: one client at a time, whatever it sends")
struct BridgeStateTests {
    private static let reset: [UInt8] = [1, 0x03, 0x0C, 0]
    private static let resetDone: [UInt8] = [4, 0x0E, 4, 1, 0x03, 0x0C, 0]
    private static let second: UInt64 = 1_000_000

    /// LE Connection Complete.
    private static func connected(_ handle: UInt16, status: UInt8 = 0) -> [UInt8] {
        [4, 0x3E, 19, 1, status, UInt8(handle & 0xFF), UInt8(handle >> 8)] + [UInt8](repeating: 0, count: 15)
    }

    private static func disconnected(_ handle: UInt16) -> [UInt8] {
        [4, 5, 4, 0, UInt8(handle & 0xFF), UInt8(handle >> 8), 0x13]
    }

    private static func status(_ opcode: UInt16, _ code: UInt8 = 0) -> [UInt8] {
        [4, 0x0F, 4, code, 1, UInt8(opcode & 0xFF), UInt8(opcode >> 8)]
    }

    private static func disconnect(_ handle: UInt16) -> [UInt8] {
        [1, 0x06, 0x04, 3, UInt8(handle & 0xFF), UInt8(handle >> 8), 0x13]
    }

    private static func data(_ handle: UInt16, _ count: Int) -> [UInt8] {
        [2, UInt8(handle & 0xFF), UInt8(handle >> 8), UInt8(count & 0xFF), UInt8(count >> 8)]
            + [UInt8](repeating: 0, count: count)
    }

    private static func completed(_ handle: UInt16, _ count: UInt16) -> [UInt8] {
        [4, 0x13, 5, 1, UInt8(handle & 0xFF), UInt8(handle >> 8), UInt8(count & 0xFF), UInt8(count >> 8)]
    }

    /// The state, behind functions that do not look as if they changed it: so `#expect` takes them.
    private final class Tested {
        private var state = BridgeState()
        var phase: BridgeState.Phase { state.phase }
        var mayRead: Bool { state.mayRead }
        var deadline: UInt64? { state.deadline }
        var hasWaitingClient: Bool { state.hasWaitingClient }

        func opened(at now: UInt64) { state.opened(at: now) }
        func lost(_ reason: String) { state.lost(reason) }
        func clientArrived(at now: UInt64) -> Bool { state.clientArrived(at: now) }
        func clientLeft(at now: UInt64) { state.clientLeft(at: now) }
        func advance(to now: UInt64) { state.advance(to: now) }
        func takeActions() -> [BridgeState.Action] { state.takeActions() }

        func fromController(_ packet: [UInt8], at now: UInt64) -> Bool {
            state.receiveFromController(packet.span.bytes, at: now)
        }

        func fromClient(_ packet: [UInt8], at now: UInt64) -> Bool {
            state.receiveFromClient(packet.span.bytes, at: now)
        }
    }

    /// A bridge whose controller has been reset.
    private static func ready() -> Tested {
        let state = Tested()
        state.opened(at: 0)
        _ = state.fromController(resetDone, at: 0)
        _ = state.takeActions()
        return state
    }

    /// A bridge with a client.
    private static func serving() -> Tested {
        let state = ready()
        _ = state.clientArrived(at: 0)
        _ = state.takeActions()
        return state
    }

    @Test("the controller is reset first, and a client that came before waits for that")
    func resetsFirst() {
        let state = Tested()
        state.opened(at: 0)
        #expect(state.takeActions() == [.send(Self.reset)] && state.phase == .resetting)
        #expect(state.clientArrived(at: 0) && !state.mayRead)
        #expect(!state.clientArrived(at: 0))
        #expect(!state.fromController(Self.resetDone, at: 1))
        #expect(state.takeActions() == [.serve] && state.phase == .serving && state.mayRead)
        #expect(!state.clientArrived(at: 2))
        #expect(state.fromController(Self.resetDone, at: 3))
    }

    @Test("a controller that does not answer is given up, and its waiting client told")
    func deaf() {
        let state = Tested()
        state.opened(at: 0)
        _ = state.clientArrived(at: 0)
        _ = state.takeActions()
        state.advance(to: 3 * Self.second)
        let reason = "the controller does not answer HCI Reset"
        #expect(state.takeActions() == [.end(reason: reason), .giveUp(reason: reason)] && state.phase == .failed)
        // The next client has it opened again.
        #expect(state.clientArrived(at: 4 * Self.second) && state.hasWaitingClient)
        state.opened(at: 4 * Self.second)
        _ = state.fromController(Self.resetDone, at: 5 * Self.second)
        #expect(state.phase == .serving)
    }

    @Test("links of a client that went are ended one after the other, also one that comes late, and then it is reset")
    func leaving() {
        let state = Self.serving()
        for handle: UInt16 in [1, 2] { _ = state.fromController(Self.connected(handle), at: 1) }
        _ = state.fromController(Self.connected(9, status: 0x3E), at: 1)
        // Its last command is unanswered: what is sent now could be lost.
        #expect(state.fromClient([1, 0x0D, 0x20, 0], at: 2))
        state.clientLeft(at: 3)
        #expect(state.takeActions() == [] && state.phase == .leaving)
        #expect(!state.fromController(Self.status(0x200D), at: 4))
        #expect(state.takeActions() == [.send(Self.disconnect(2))])
        _ = state.fromController(Self.connected(3), at: 5)
        _ = state.fromController(Self.status(0x0406), at: 6)
        _ = state.fromController(Self.status(0x0406), at: 7)
        #expect(state.takeActions() == [.send(Self.disconnect(3)), .send(Self.disconnect(1))])
        _ = state.fromController(Self.status(0x0406), at: 8)
        for handle: UInt16 in [1, 2] { _ = state.fromController(Self.disconnected(handle), at: 9) }
        #expect(state.takeActions() == [])
        _ = state.fromController(Self.disconnected(3), at: 10)
        #expect(state.takeActions() == [.send(Self.reset)] && state.phase == .resetting)
    }

    @Test("links that the controller does not know, and those that do not end, hold the next client up little")
    func staleLinks() {
        var state = Self.serving()
        _ = state.fromController(Self.connected(1), at: 1)
        state.clientLeft(at: 2)
        #expect(state.takeActions() == [.send(Self.disconnect(1))])
        // Unknown Connection Identifier.
        _ = state.fromController(Self.status(0x0406, 2), at: 3)
        #expect(state.takeActions() == [.send(Self.reset)])

        state = Self.serving()
        _ = state.fromController(Self.connected(1), at: 1)
        state.clientLeft(at: 2)
        _ = state.takeActions()
        state.advance(to: 2 + 3 * Self.second)
        #expect(state.takeActions() == [.send(Self.reset)])

        // A client that has reset the controller leaves no links.
        state = Self.serving()
        _ = state.fromController(Self.connected(1), at: 1)
        _ = state.fromClient(Self.reset, at: 2)
        _ = state.fromController(Self.resetDone, at: 3)
        state.clientLeft(at: 4)
        #expect(state.takeActions() == [.send(Self.reset)])
    }

    @Test("commands beyond what may be in flight are not read, and one who goes on is ended")
    func commands() {
        let state = Self.serving()
        for number in 0..<BridgeState.commandLimit {
            #expect(state.mayRead, "\(number)")
            #expect(state.fromClient(Self.reset, at: 1))
        }
        #expect(!state.mayRead && state.deadline == 1 + 10 * Self.second)
        _ = state.fromController(Self.status(0x200C), at: 2)
        #expect(state.mayRead && state.deadline == nil)
        _ = state.fromClient(Self.reset, at: 3)
        state.advance(to: 3 + 10 * Self.second)
        #expect(state.takeActions() == [.end(reason: "it sends more than the controller takes")])
    }

    @Test("data are bounded in octets and in packets, and come free by completions and by the end of their link")
    func data() {
        for (count, packets) in [(27, BridgeState.dataPacketLimit), (65_000, 5)] {
            let state = Self.serving()
            for _ in 0..<packets {
                #expect(state.mayRead)
                #expect(state.fromClient(Self.data(0x2001, count), at: 1))
            }
            #expect(!state.mayRead)
            _ = state.fromController(Self.completed(1, 1), at: 2)
            #expect(state.mayRead)
            // More than were sent, and those of another link, free nothing besides.
            _ = state.fromController(Self.completed(7, 500), at: 2)
            _ = state.fromController(Self.completed(1, 60_000), at: 2)
            _ = state.fromController(Self.completed(1, 60_000), at: 2)
            for _ in 0..<packets { _ = state.fromClient(Self.data(1, count), at: 3) }
            #expect(!state.mayRead)
            _ = state.fromController(Self.disconnected(1), at: 4)
            #expect(state.mayRead)
        }
    }

    @Test("what only controllers send ends a client; synchronous data without a link goes nowhere")
    func kinds() {
        let state = Self.serving()
        #expect(!state.fromClient([3, 1, 0, 1, 0], at: 1) && state.takeActions() == [])
        _ = state.fromController([4, 0x2C, 17, 0, 1, 0], at: 2)
        #expect(state.fromClient([3, 1, 0, 1, 0], at: 3))
        for packet: [UInt8] in [Self.resetDone, [9, 0, 0], []] {
            let state = Self.serving()
            #expect(!state.fromClient(packet, at: 1))
            #expect(state.takeActions() == [.end(reason: "it sent an event, which only controllers send")])
        }
    }

    @Test("a client that says nothing is ended; one that has spoken may be silent")
    func silence() {
        var state = Self.serving()
        state.advance(to: 10 * Self.second)
        #expect(state.takeActions() == [.end(reason: "it has sent nothing for 10 s")])
        state = Self.serving()
        _ = state.fromClient(Self.reset, at: Self.second)
        #expect(state.deadline == nil)
        state.advance(to: 3600 * Self.second)
        #expect(state.takeActions() == [])
    }

    @Test("a controller that is lost ends its client")
    func lost() {
        let state = Self.serving()
        state.lost("it is gone")
        #expect(state.takeActions() == [.end(reason: "it is gone")] && state.phase == .failed)
        state.clientLeft(at: 1)
        state.lost("it is gone")
        #expect(state.takeActions() == [] && state.deadline == nil)
    }

    @Test("only reports of advertising may be dropped")
    func reports() {
        let packets: [([UInt8], Bool)] = [
            ([4, 0x3E, 12, 0x02], true), ([4, 0x3E, 26, 0x0D], true), ([4, 0x3E, 26, 0x0B], true),
            (Self.connected(1), false), (Self.resetDone, false), (Self.data(1, 3), false), ([4], false), ([], false),
        ]
        for (packet, isReport) in packets { #expect(BridgeState.isReport(packet.span.bytes) == isReport) }
    }

    @Test("cut packets of a controller change nothing and trap nowhere")
    func cut() {
        let packets = [Self.connected(1), Self.disconnected(1), Self.status(0x0406), Self.completed(1, 2)]
        for packet in packets + [Self.resetDone] {
            for count in 0..<packet.count {
                let state = Self.serving()
                _ = state.fromController(Array(packet.prefix(count)), at: 1)
                #expect(state.phase == .serving && state.takeActions() == [])
            }
        }
        let state = Self.serving()
        _ = state.fromController([4, 0x13, 1, 255, 1, 0, 1, 0], at: 1)
        #expect(state.mayRead)
    }
}
