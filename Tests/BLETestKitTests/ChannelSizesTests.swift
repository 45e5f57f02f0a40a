import BLETestKit
import Testing

@Suite("Sizes of open channels")
struct ChannelSizesTests {
    private static let spsm: UInt16 = 0x80
    private static let small = ChannelSettings(maximumTransmissionUnit: 64, maximumPayloadSize: 64, credits: 8)

    /// Both ends of channels, with 64 octets for messages and frames.
    private func channels(
        _ count: Int, isEnhanced: Bool = true
    ) async throws -> (adapters: [Adapter], ours: [Channel], theirs: [Channel]) {
        let radio = try TestRadio()
        let (sink, adapter) = (try await radio.openAdapter(), try await radio.openAdapter())
        var incoming = try await sink.acceptChannels(on: Self.spsm, Self.small).makeAsyncIterator()
        let advertising = Task {
            try await sink.advertise(AdvertiseRequest(.packed(localName: "Sink", serviceUUIDs: [])))
        }
        defer { advertising.cancel() }
        let peripheral = try await adapter.connect(to: "Sink")
        let ours =
            isEnhanced
            ? try await peripheral.openEnhancedChannels(Self.spsm, Self.small, count: count)
            : [try await peripheral.openChannel(Self.spsm, Self.small)]
        var theirs: [Channel] = []
        while theirs.count < ours.count, let channel = try await incoming.next() { theirs.append(channel) }
        return ([sink, adapter], ours, theirs)
    }

    @Test("either side lets the other send longer messages, on several channels at once")
    func grows() async throws {
        let (adapters, ours, theirs) = try await channels(3)
        var told = theirs.map { $0.changes.makeAsyncIterator() }
        await #expect(throws: BLEError.channel(.unitTooLong)) {
            try await theirs[0].send([UInt8](repeating: 1, count: 65))
        }
        try await Channel.reconfigure(ours, maximumTransmissionUnit: 500, maximumPayloadSize: 100)
        #expect(ours.allSatisfy { $0.information.receiveMTU == 500 && $0.information.sendMTU == 64 })
        for index in told.indices {
            let information = await told[index].next()
            #expect(information?.sendMTU == 500 && information?.receiveMTU == 64)
            #expect(theirs[index].information == information)
        }
        let message = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        var messages = ours[1].makeAsyncIterator()
        try await theirs[1].send(message)
        #expect(try await messages.next() == message)
        // The other side, a single channel, and shorter frames.
        try await theirs[1].reconfigure(maximumTransmissionUnit: 65535, maximumPayloadSize: 64)
        #expect(theirs[1].information.receiveMTU == 65535)
        try await eventually("the longer messages") { ours[1].information.sendMTU == 65535 }
        #expect(ours[0].information.sendMTU == 64)
        for adapter in adapters { await adapter.close() }
        let end = await told[0].next()
        #expect(end == nil)
    }

    @Test("shorter messages, channels of the other form and channels that are closed are refused; the sizes stay")
    func refuses() async throws {
        let (adapters, ours, theirs) = try await channels(2)
        let unacceptable = BLEError.channel(.notReconfigurable(.unacceptableParameters))
        await #expect(throws: unacceptable) {
            try await ours[0].reconfigure(maximumTransmissionUnit: 63, maximumPayloadSize: 64)
        }
        await #expect(throws: unacceptable) {
            try await ours[0].reconfigure(maximumTransmissionUnit: 64, maximumPayloadSize: 63)
        }
        for mixture in [[], [ours[0], theirs[0]], [Channel](repeating: ours[0], count: 6)] {
            await #expect(throws: BLEError.invalidParameters) {
                try await Channel.reconfigure(mixture, maximumTransmissionUnit: 64, maximumPayloadSize: 64)
            }
        }
        #expect(ours[0].information.receiveMTU == 64)
        await ours[0].close()
        await #expect(throws: BLEError.channel(.notOpen)) {
            try await Channel.reconfigure(ours, maximumTransmissionUnit: 80, maximumPayloadSize: 64)
        }
        #expect(ours[1].information.receiveMTU == 64)
        for adapter in adapters { await adapter.close() }
        let (others, plain, _) = try await channels(1, isEnhanced: false)
        await #expect(throws: unacceptable) {
            try await plain[0].reconfigure(maximumTransmissionUnit: 80, maximumPayloadSize: 64)
        }
        for adapter in others { await adapter.close() }
    }

    @Test("channels of two links are refused as parameters, also if both links are of one adapter")
    func severalLinks() async throws {
        let radio = try TestRadio()
        let adapter = try await radio.openAdapter()
        var sinks: [Adapter] = []
        var listening: [IncomingChannels] = []
        var ours: [Channel] = []
        for name in ["Sink", "Basin"] {
            let sink = try await radio.openAdapter()
            sinks.append(sink)
            listening.append(try await sink.acceptChannels(on: Self.spsm, Self.small))
            let advertising = Task {
                try await sink.advertise(AdvertiseRequest(.packed(localName: name, serviceUUIDs: [])))
            }
            defer { advertising.cancel() }
            let peripheral = try await adapter.connect(to: name)
            ours += try await peripheral.openEnhancedChannels(Self.spsm, Self.small, count: 1)
        }
        #expect(ours.count == 2 && listening.count == 2)
        await #expect(throws: BLEError.invalidParameters) {
            try await Channel.reconfigure(ours, maximumTransmissionUnit: 80, maximumPayloadSize: 64)
        }
        #expect(ours.allSatisfy { $0.information.receiveMTU == 64 })
        for adapter in sinks + [adapter] { await adapter.close() }
    }
}
