import BLE
import BLEJSON
import BLEScripts
import BLEText
import Synchronization

/// Carries octets between standard input and output and the channels of one peer.
///
/// On a terminal, what the peer sends is shown as text that the terminal does not obey; elsewhere it is written as it
/// is. Messages that arrive are written to the output before the peer may send more, so a reader that stops stops the
/// peer.
struct ChannelPipe: Sendable {
    let console: Console
    /// After the end of the input: how long to wait for more from the peer.
    let linger: Duration
    var reconfiguration: Reconfiguration?

    /// Other sizes, to which each so many channels are changed when they are open.
    struct Reconfiguration: Sendable {
        var mtu: UInt16
        var mps: UInt16
        var count: Int
        /// Whether a peer that refuses them ends the pipe; otherwise the channels keep their sizes.
        var isRequired: Bool
    }

    private enum Event: Sendable {
        case opened(Channel)
        case closed(Int)
        case failed(any Error)
        case inputEnded
        /// The input has ended, and the peer has sent nothing since.
        case silent
    }

    /// When the peer's last message arrived.
    private final class LastArrival: Sendable {
        private let moment = Mutex(ContinuousClock.now)
        var value: ContinuousClock.Instant { moment.withLock { $0 } }
        func mark() { moment.withLock { $0 = .now } }
    }

    /// Returns when all channels have closed, or the input has ended and the peer sends no more.
    /// - Parameter channels: those of one peer; the input goes to all of them in turn.
    /// - Throws: an error of the library when the link or the adapter is lost.
    func run(_ channels: AsyncThrowingStream<Channel, any Error>) async throws {
        let (events, queue) = AsyncStream<Event>.makeStream()
        let (open, arrival) = (OpenChannels(), LastArrival())
        var tasks = [
            Task {
                do { for try await channel in channels { queue.yield(.opened(channel)) } } catch {
                    queue.yield(.failed(error))
                }
            }
        ]
        defer { for task in tasks { task.cancel() } }
        var count = 0
        var fresh: [Channel] = []
        for await event in events {
            switch event {
            case .opened(let channel):
                count += 1
                open.append(channel, number: count)
                report(channel, number: count)
                tasks.append(receiver(of: channel, number: count, queue, arrival))
                tasks.append(reports(of: channel, number: count))
                fresh.append(channel)
                if let reconfiguration, fresh.count == reconfiguration.count {
                    tasks.append(changing(fresh, reconfiguration, queue))
                    fresh = []
                }
                if count == 1 { tasks.append(sending(open, queue)) }
            case .closed(let number):
                open.remove(number)
                console.report(
                    ["event": "channelClosed", "channel": JSONValue(number)], note: "channel \(number) is closed")
                if open.all.isEmpty { return }
            case .inputEnded: tasks.append(Task { await silence(after: arrival, queue) })
            case .silent:
                let channels = open.all
                // All that was sent is on its way. A peer that does not answer the Disconnection Request is not waited
                // for: the end of the link ends its channels.
                try await withDeadline(after: Leaving.limit) {
                    await withTaskGroup(of: Void.self) { group in
                        for channel in channels { group.addTask { await channel.close() } }
                    }
                }
                return
            case .failed(let error): throw error
            }
        }
    }

    private func report(_ channel: Channel, number: Int) {
        let information = channel.information
        console.report(
            [
                "event": "channelOpened", "channel": JSONValue(number), "spsm": JSONValue(information.spsm),
                "sendMTU": JSONValue(information.sendMTU), "receiveMTU": JSONValue(information.receiveMTU),
            ],
            note: "channel \(number) is open on SPSM \(information.spsm): messages of at most "
                + "\(information.sendMTU) octets to the peer, \(information.receiveMTU) from it")
    }

    /// Reports when either side accepts longer messages.
    private func reports(of channel: Channel, number: Int) -> Task<Void, Never> {
        Task {
            for await information in channel.changes {
                console.report(
                    [
                        "event": "channelReconfigured", "channel": JSONValue(number),
                        "sendMTU": JSONValue(information.sendMTU), "receiveMTU": JSONValue(information.receiveMTU),
                    ],
                    note: "channel \(number) now takes messages of at most \(information.sendMTU) octets to the peer, "
                        + "\(information.receiveMTU) from it")
            }
        }
    }

    private func changing(
        _ channels: [Channel], _ sizes: Reconfiguration, _ queue: AsyncStream<Event>.Continuation
    ) -> Task<Void, Never> {
        Task {
            do {
                try await Channel.reconfigure(
                    channels, maximumTransmissionUnit: sizes.mtu, maximumPayloadSize: sizes.mps)
            } catch {
                // The side that accepts channels chooses neither their form nor what the peer supports.
                if case .channel? = error as? BLEError, !sizes.isRequired {
                    console.note("the sizes stay as they were: \(error)")
                } else {
                    queue.yield(.failed(error))
                }
            }
        }
    }

    private func receiver(
        of channel: Channel, number: Int, _ queue: AsyncStream<Event>.Continuation, _ arrival: LastArrival
    ) -> Task<Void, Never> {
        Task {
            var sieve = OctetSieve()
            do {
                for try await message in channel {
                    arrival.mark()
                    if console.isJSON {
                        console.print(
                            [
                                "event": "channelData", "channel": JSONValue(number),
                                "value": .string(Hexadecimal.text(message)),
                            ], text: "")
                    } else {
                        console.writeForeign(message, through: &sieve)
                    }
                }
                console.endForeign(through: &sieve)
                queue.yield(.closed(number))
            } catch {
                console.endForeign(through: &sieve)
                queue.yield(.failed(error))
            }
        }
    }

    /// Sends the input, in messages as long as each channel takes them, on all open channels in turn.
    private func sending(_ channels: OpenChannels, _ queue: AsyncStream<Event>.Continuation) -> Task<Void, Never> {
        Task {
            let input = InputOctets()
            while let octets = await input.next() {
                var rest = octets[...]
                while !rest.isEmpty {
                    // Without a channel the pipe ends; its receiver reports why.
                    guard let channel = channels.next() else { return }
                    let message = [UInt8](rest.prefix(Int(channel.information.sendMTU)))
                    do { try await channel.send(message) } catch { return }
                    rest = rest.dropFirst(message.count)
                }
            }
            if !Task.isCancelled { queue.yield(.inputEnded) }
        }
    }

    /// The channels that take the input, each in its turn.
    private final class OpenChannels: Sendable {
        private let state = Mutex((channels: [(number: Int, channel: Channel)](), turn: 0))

        func append(_ channel: Channel, number: Int) { state.withLock { $0.channels.append((number, channel)) } }
        func remove(_ number: Int) { state.withLock { $0.channels.removeAll { $0.number == number } } }

        var all: [Channel] { state.withLock { $0.channels.map(\.channel) } }

        func next() -> Channel? {
            state.withLock {
                guard !$0.channels.isEmpty else { return nil }
                $0.turn += 1
                return $0.channels[$0.turn % $0.channels.count].channel
            }
        }
    }

    /// Waits until the peer has sent nothing for a while.
    private func silence(after arrival: LastArrival, _ queue: AsyncStream<Event>.Continuation) async {
        let ended = ContinuousClock.now
        while !Task.isCancelled {
            let limit = max(arrival.value, ended) + linger
            guard limit > .now else { break }
            try? await Task.sleep(until: limit, clock: .continuous)
        }
        queue.yield(.silent)
    }
}

extension Console {
    /// Reports what happens to a channel: on standard error where standard output carries the channel's octets.
    func report(_ event: JSONValue, note: String) {
        if isJSON { print(event, text: "") } else { explain(note) }
    }
}
