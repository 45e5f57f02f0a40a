import BLEPackets
import Testing

@testable import BLEAppLifecycle
@testable import BLEHost

@Suite("Channels of one manager alone")
struct ChannelTableTests {
    private var alone = Alone()
    private var table = ChannelTable(client: Alone.client)
    private let channel = ChannelID(link: Alone.link, number: 1)

    private mutating func accept(psm: UInt16 = 0x80) -> L2CAPChannelID? {
        let information = ChannelInformation(id: channel, spsm: psm, sendMTU: 100, receiveMTU: 100)
        table.accepted(
            information, from: CentralDescription(identifier: Alone.peer, maximumUpdateLength: 20),
            into: &alone.effects)
        _ = alone.wanted()
        return table[channel]
    }

    @Test("data that the app writes is sent in SDUs that the peer accepts")
    mutating func units() throws {
        let id = try #require(accept())
        table.perform(.send([UInt8](repeating: 1, count: 250)), on: id, into: &alone.effects)
        let lengths = alone.wanted().commands.map { command in
            if case .channel(.send(channel, let unit)) = command { unit.count } else { 0 }
        }
        #expect(lengths == [100, 100, 50])
    }

    @Test("the peer may send again for each SDU that has been read completely")
    mutating func credits() throws {
        let id = try #require(accept())
        for count in [10, 0, 20] {
            table.received([UInt8](repeating: 2, count: count), on: channel, into: &alone.effects)
        }
        _ = alone.wanted()
        table.perform(.received(count: 9), on: id, into: &alone.effects)
        #expect(alone.wanted().commands.isEmpty)
        table.perform(.received(count: 1), on: id, into: &alone.effects)
        #expect(alone.wanted().commands == [.channel(.consume(channel, units: 2))])
        table.perform(.received(count: 20), on: id, into: &alone.effects)
        #expect(alone.wanted().commands == [.channel(.consume(channel, units: 1))])
    }

    @Test("unpublishing closes the channels; a request for a closed channel fails")
    mutating func unpublished() throws {
        table.listening(.success(0x80), into: &alone.effects)
        let id = try #require(accept())
        table.unpublish(0x81, into: &alone.effects)
        table.unpublish(0x80, into: &alone.effects)
        let wanted = alone.wanted()
        #expect(wanted.commands == [.channel(.stopListening(spsm: 0x80)), .channel(.close(channel))])
        #expect(
            wanted.events == [
                .channelUnpublished(psm: 0x81, .coreBluetooth(.invalidParameters)),
                .channelUnpublished(psm: 0x80, nil),
            ])
        table.closed(channel, .closedLocally, into: &alone.effects)
        table.perform(.send([1]), on: id, into: &alone.effects)
        table.perform(.close, on: id, into: &alone.effects)
        #expect(
            alone.wanted().events == [
                .channel(id, .closed(nil)), .channel(id, .closed(.coreBluetooth(.notConnected))),
            ])
    }
}
