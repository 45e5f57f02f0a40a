import BLEHost
import BLEPackets
import Synchronization

/// A connection-oriented channel with credits: messages in both directions, each whole and in order (Core 5.4, Vol 3,
/// Part A, 10.1).
///
///     let channel = try await peripheral.openChannel(0x0080)
///     try await channel.send([1, 2, 3])
///     for try await message in channel { print(message) }
///
/// A message that has been taken from the sequence lets the peer send another, so an app that takes none stops the peer
/// and needs no more memory. A channel can be iterated once. It stays open until `close()`, or the end of its link.
public final class Channel: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    /// The controller through which the peer is connected.
    public let adapter: Adapter
    /// The SPSM, and the longest messages in both directions as of now: either side can raise what it accepts on a
    /// channel of the enhanced form.
    public var information: ChannelInformation { source.sizes.information }
    /// What the channel is after each change of its sizes, by either side; ends with the channel. What is not consumed
    /// in time is replaced by the latest. Create only one iterator.
    public var changes: AsyncStream<ChannelInformation> { source.sizes.changes }
    private let source: Source

    init(_ source: Source, adapter: Adapter) {
        self.adapter = adapter
        self.source = source
    }

    var sizes: Sizes { source.sizes }

    /// Sends a message of at most `information.sendMTU` octets; returns when the controller has all of it.
    /// - Throws: `BLEError.channel` if it is too long, or the channel has ended.
    public func send(_ message: [UInt8]) async throws {
        _ = try await adapter.result(of: .channel(.send(information.id, message)))
    }

    /// Lets the peer send longer messages, or longer frames, from now on, if the channel is of the enhanced form (Core
    /// 5.4, Vol 3, Part A, 4.27). The peer may do the same at any time: see `changes`.
    /// - Parameters:
    ///   - maximumTransmissionUnit: the longest message that this side accepts, in octets, at least as long as it was.
    ///   - maximumPayloadSize: the longest payload of one frame, 64 to 2044 octets.
    /// - Throws: `BLEError.channel` if the sizes or the form do not allow it, or the peer refuses; the sizes then stay.
    public func reconfigure(maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16) async throws {
        try await Channel.reconfigure(
            [self], maximumTransmissionUnit: maximumTransmissionUnit, maximumPayloadSize: maximumPayloadSize)
    }

    /// Changes the sizes of several channels by one request: of all, or of none. The payload size of several channels
    /// cannot become smaller.
    /// - Parameter channels: one to five, on one link.
    /// - Throws: `BLEError.invalidParameters` for none, too many, or channels on different links, and the errors of
    ///   `reconfigure(maximumTransmissionUnit:maximumPayloadSize:)`.
    public static func reconfigure(
        _ channels: [Channel], maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16
    ) async throws {
        guard let first = channels.first, channels.count <= L2CAPCreditBasedConnectionRequest.maximumChannelCount,
            channels.allSatisfy({ $0.isOnSameLink(as: first) })
        else { throw BLEError.invalidParameters }
        _ = try await first.adapter.result(
            of: .channel(
                .reconfigure(
                    channels.map(\.information.id), maximumTransmissionUnit: maximumTransmissionUnit,
                    maximumPayloadSize: maximumPayloadSize)))
        for channel in channels { channel.sizes.accepts(maximumTransmissionUnit) }
    }

    private func isOnSameLink(as other: Channel) -> Bool {
        adapter === other.adapter && information.id.link == other.information.id.link
    }

    /// Closes the channel; the peer still receives what was sent before. Calling it again has no effect.
    public func close() async { _ = await adapter.perform(.channel(.close(information.id))) }

    /// Create only one iterator: a second one would take messages from the first.
    public func makeAsyncIterator() -> Iterator {
        Iterator(adapter: adapter, id: information.id, messages: source.messages.makeAsyncIterator())
    }

    /// Returns the messages in their order. They end with `nil` when either side has closed the channel.
    public struct Iterator: AsyncIteratorProtocol {
        let adapter: Adapter
        let id: ChannelID
        var messages: AsyncThrowingStream<[UInt8], any Error>.Iterator

        /// - Throws: `BLEError.notConnected` when the link has ended, `BLEError.channel` when the
        ///   peer broke the protocol's rules.
        public mutating func next() async throws(BLEError) -> [UInt8]? {
            do {
                guard let message = try await messages.next() else { return nil }
                await adapter.consume(on: id)
                return message
            } catch {
                // Nothing else ends the sequence: see `AdapterChannels`.
                throw error as? BLEError ?? .closed
            }
        }
    }

    /// Receives the messages. The peer's credits bound what can wait.
    struct Source: Sendable {
        let sizes: Sizes
        let messages: AsyncThrowingStream<[UInt8], any Error>
        let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation

        init(_ information: ChannelInformation) {
            sizes = Sizes(information)
            (messages, continuation) = AsyncThrowingStream.makeStream()
        }

        func finish(throwing error: (any Error)? = nil) {
            continuation.finish(throwing: error)
            sizes.finish()
        }
    }

    /// The longest messages in both directions. Each side changes its own.
    final class Sizes: Sendable {
        private let state: Mutex<ChannelInformation>
        let changes: AsyncStream<ChannelInformation>
        private let continuation: AsyncStream<ChannelInformation>.Continuation

        init(_ information: ChannelInformation) {
            state = Mutex(information)
            (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        var information: ChannelInformation { state.withLock { $0 } }

        /// The peer accepts messages of this length.
        func peerAccepts(_ octets: UInt16) { change { $0.sendMTU = octets } }

        /// The peer has agreed to the length that this side accepts.
        func accepts(_ octets: UInt16) { change { $0.receiveMTU = octets } }

        func finish() { continuation.finish() }

        private func change(_ body: (inout ChannelInformation) -> Void) {
            state.withLock {
                body(&$0)
                continuation.yield($0)
            }
        }
    }
}

/// The channels that peers open to an SPSM, as a sequence; they are accepted until the loop ends or its task is
/// cancelled.
public struct IncomingChannels: AsyncSequence, Sendable {
    public typealias Element = Channel

    /// The SPSM that peers open channels to.
    public let spsm: UInt16
    let channels: AsyncThrowingStream<Channel, any Error>

    /// Create only one iterator: a second one would take channels from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(channels: channels.makeAsyncIterator()) }

    /// Returns the channels in the order in which they were opened.
    public struct Iterator: AsyncIteratorProtocol {
        var channels: AsyncThrowingStream<Channel, any Error>.Iterator

        /// - Throws: `BLEError` if the adapter is lost.
        public mutating func next() async throws(BLEError) -> Channel? {
            do { return try await channels.next() } catch { throw error as? BLEError ?? .closed }
        }
    }
}
