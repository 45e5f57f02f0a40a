import BLEHost

/// The open channels of an adapter, and the SPSMs on which it accepts some.
struct AdapterChannels {
    private typealias Arrivals = (
        stream: AsyncThrowingStream<Channel, any Error>,
        continuation: AsyncThrowingStream<Channel, any Error>.Continuation
    )

    private var open: [ChannelID: Channel.Source] = [:]
    private var listening: [UInt16: Arrivals] = [:]

    /// A channel is open, or an SPSM is listened on: what follows at once must find its receiver.
    mutating func completed(_ result: HostResult) {
        switch result {
        case .channel(let information): open[information.id] = Channel.Source(information)
        case .channels(let several): for information in several { open[information.id] = Channel.Source(information) }
        case .listening(let spsm): listening[spsm] = AsyncThrowingStream.makeStream()
        default: break
        }
    }

    /// The channel that was opened; `nil` if it has ended already.
    func channel(_ information: ChannelInformation, of adapter: Adapter) -> Channel? {
        open[information.id].map { Channel($0, adapter: adapter) }
    }

    func arrivals(on spsm: UInt16) -> AsyncThrowingStream<Channel, any Error>? { listening[spsm]?.stream }

    func onEnd(of spsm: UInt16, _ body: @escaping @Sendable () -> Void) {
        listening[spsm]?.continuation.onTermination = { _ in body() }
    }

    mutating func stopListening(_ spsm: UInt16) { listening[spsm] = nil }

    mutating func handle(_ event: ChannelEvent, of adapter: Adapter) {
        switch event {
        case .opened(let information, _):
            let source = Channel.Source(information)
            open[information.id] = source
            listening[information.spsm]?.continuation.yield(Channel(source, adapter: adapter))
        case .reconfigured(let information): open[information.id]?.sizes.peerAccepts(information.sendMTU)
        case .received(let id, let message): open[id]?.continuation.yield(message)
        case .closed(let id, let end):
            guard let source = open.removeValue(forKey: id) else { return }
            switch end {
            case .closedLocally, .closedByPeer: source.finish()
            case .linkLost: source.finish(throwing: BLEError.notConnected)
            case .protocolViolation: source.finish(throwing: BLEError.channel(.invalidAnswer))
            }
        }
    }

    mutating func end(with error: BLEError) {
        for (_, source) in open { source.finish(throwing: error) }
        for (_, arrivals) in listening { arrivals.continuation.finish(throwing: error) }
        open = [:]
        listening = [:]
    }
}
