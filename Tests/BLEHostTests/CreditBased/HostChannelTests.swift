import BLEPackets
import Testing

@testable import BLEHost

@Suite("Host with credit-based channels")
struct HostChannelTests {
    private func started() -> HostRig {
        let rig = HostRig()
        rig.start()
        rig.forget()
        return rig
    }

    private func channelEvents(_ rig: HostRig) -> [ChannelEvent] {
        rig.events.compactMap { if case .channel(let event) = $0 { event } else { nil } }
    }

    /// The L2CAP frames that went out: channel identifier and payload.
    private func frames(_ rig: HostRig) -> [(channel: UInt16, payload: [UInt8])] {
        rig.data.map { (UInt16($0[6]) | UInt16($0[7]) << 8, Array($0.dropFirst(8))) }
    }

    @Test("a channel is opened, carries data both ways, and ends with the link (SPEC 2.3 openL2CAPChannel)")
    func opens() throws {
        let rig = started()
        let link = rig.connect()
        let opening = rig.submit(.channel(.open(link, spsm: 0x0095, ChannelSettings(credits: 2))))
        let request = try #require(frames(rig).last)
        #expect(request.channel == 5)
        #expect(request.payload == [0x14, 1, 10, 0, 0x95, 0, 0x40, 0, 0x00, 0x08, 0xF7, 0, 2, 0])
        rig.receive(frame: [0x15, 1, 10, 0, 0x50, 0, 100, 0, 50, 0, 3, 0, 0, 0], channel: 5, handle: 0x40)
        guard case .success(.channel(let channel))? = rig.results(of: opening).first else {
            Issue.record("\(rig.results(of: opening))")
            return
        }
        #expect(channel.sendMTU == 100 && channel.receiveMTU == 2048)
        let sending = rig.submit(.channel(.send(channel.id, [1, 2, 3])))
        let data = try #require(frames(rig).last)
        #expect(data.channel == 0x50 && data.payload == [3, 0, 1, 2, 3])
        #expect(rig.results(of: sending) == [.success(.done)])
        rig.receive(frame: [2, 0, 8, 9], channel: 0x40, handle: 0x40)
        #expect(channelEvents(rig) == [.received(channel.id, [8, 9])])
        rig.submit(.channel(.consume(channel.id, units: 1)))
        #expect(frames(rig).last?.payload == [0x16, 2, 4, 0, 0x40, 0, 1, 0])
        rig.receive(
            DisconnectionComplete(connectionHandle: .init(rawValue: 0x40), reason: .remoteUserTerminatedConnection))
        #expect(channelEvents(rig).last == .closed(channel.id, .linkLost))
        let late = rig.submit(.channel(.send(channel.id, [1])))
        #expect(rig.results(of: late) == [.failure(.channel(.notOpen))])
    }

    @Test(
        "a listener gets the channel that the peer opens; an SPSM belongs to one listener (SPEC 2.4 publishL2CAPChannel)"
    )
    func listens() throws {
        let rig = started()
        let listening = rig.submit(.channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: false)))
        #expect(rig.results(of: listening) == [.success(.listening(spsm: 0x0080))])
        let second = rig.submit(.channel(.listen(spsm: 0x0080, ChannelSettings(), requiresEncryption: false)))
        #expect(rig.results(of: second) == [.failure(.channel(.invalidSPSM))])
        let secured = rig.submit(.channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: true)))
        #expect(rig.results(of: secured) == [.success(.listening(spsm: 0x0081))])
        let link = rig.connect()
        func ask(_ spsm: UInt8, source: UInt8) -> [UInt8]? {
            rig.receive(
                frame: [0x14, 9, 10, 0, spsm, 0, source, 0, 64, 0, 64, 0, 5, 0], channel: 5, handle: 0x40)
            return frames(rig).last?.payload
        }
        #expect(ask(0x80, source: 0x41) == [0x15, 9, 10, 0, 0x40, 0, 0x00, 0x08, 0xF7, 0, 16, 0, 0, 0])
        guard case .opened(let information, .local)? = channelEvents(rig).first else {
            Issue.record("no channel")
            return
        }
        #expect(information.id == ChannelID(link: link, number: 1) && information.spsm == 0x80)
        #expect(ask(0x81, source: 0x42)?.suffix(2) == [5, 0], "insufficient authentication")
        #expect(ask(0x82, source: 0x43)?.suffix(2) == [2, 0], "SPSM not supported")
        #expect(rig.results(of: rig.submit(.channel(.stopListening(spsm: 0x80)))) == [.success(.done)])
        #expect(ask(0x80, source: 0x44)?.suffix(2) == [2, 0])
        let closing = rig.submit(.channel(.close(information.id)))
        #expect(frames(rig).last?.payload == [0x06, 1, 4, 0, 0x41, 0, 0x40, 0])
        rig.receive(frame: [0x07, 1, 4, 0, 0x41, 0, 0x40, 0], channel: 5, handle: 0x40)
        #expect(rig.results(of: closing) == [.success(.done)])
    }

    @Test("frames on unknown channels are counted and not answered")
    func strays() {
        let rig = started()
        _ = rig.connect()
        rig.receive(frame: [1, 0, 5], channel: 0x40, handle: 0x40)
        rig.receive(frame: [1, 0, 5], channel: 0x39, handle: 0x40)
        #expect(rig.counters.strayPackets == 2 && frames(rig).isEmpty)
        rig.receive(frame: [0x06, 3, 4, 0, 0x40, 0, 0x41, 0], channel: 5, handle: 0x40)
        #expect(frames(rig).last?.payload == [0x01, 3, 6, 0, 2, 0, 0x40, 0, 0x41, 0])
    }
}
