import BLEHost
import BLEPackets

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
    /// The SPSM, and the longest messages in both directions.
    public let information: ChannelInformation
    private let messages: AsyncThrowingStream<[UInt8], any Error>

    init(_ source: Source, adapter: Adapter) {
        self.adapter = adapter
        information = source.information
        messages = source.messages
    }

    /// Sends a message of at most `information.sendMTU` octets; returns when the controller has all of it.
    /// - Throws: `BLEError.channel` if it is too long, or the channel has ended.
    public func send(_ message: [UInt8]) async throws {
        _ = try await adapter.result(of: .channel(.send(information.id, message)))
    }

    /// Closes the channel; the peer still receives what was sent before. Calling it again has no effect.
    public func close() async { _ = await adapter.perform(.channel(.close(information.id))) }

    /// Create only one iterator: a second one would take messages from the first.
    public func makeAsyncIterator() -> Iterator {
        Iterator(adapter: adapter, id: information.id, messages: messages.makeAsyncIterator())
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
    struct Source {
        let information: ChannelInformation
        let messages: AsyncThrowingStream<[UInt8], any Error>
        let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation

        init(_ information: ChannelInformation) {
            self.information = information
            (messages, continuation) = AsyncThrowingStream.makeStream()
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
