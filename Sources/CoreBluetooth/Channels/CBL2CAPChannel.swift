import BLEAppLifecycle
import Foundation

/// A connection-oriented channel to another device, as a pair of streams (SPEC 2.5).
///
/// Open both streams before use. They tell their delegates what happens on the run loop that they were scheduled in,
/// which they wake and keep running until they are closed or removed; who schedules neither may look at
/// `hasBytesAvailable` and `hasSpaceAvailable` instead. On the main run loop, events also come where the main thread runs
/// the main dispatch queue instead.
open class CBL2CAPChannel: NSObject {
    private let device: CBPeer
    private let number: CBL2CAPPSM
    let pipe: ChannelPipe
    private let input: ChannelInputStream
    private let output: ChannelOutputStream

    init(psm: CBL2CAPPSM, peer: CBPeer, pipe: ChannelPipe) {
        number = psm
        device = peer
        self.pipe = pipe
        input = ChannelInputStream(pipe)
        output = ChannelOutputStream(pipe)
        super.init()
    }

    deinit { pipe.close() }

    /// The device at the other end.
    open var peer: CBPeer! { device }
    /// What comes from the other device. `read` gives 0 while there is nothing, and −1 unless the stream is open. It
    /// ends behind the last octet when either side closes the channel; when the connection is lost, `streamError` is
    /// `CBError.peripheralDisconnected`. Closing either stream closes the channel.
    open var inputStream: InputStream! { input }
    /// What goes to the other device. `write` tells how many octets were taken, 0 while there is no room, and −1 unless
    /// the channel and the stream are open. Closing either stream closes the channel: the other device still gets what
    /// was taken before, if it reads on within 30 s.
    open var outputStream: OutputStream! { output }
    /// The number under which the channel is offered.
    open var psm: CBL2CAPPSM { number }
}

/// The channels of this process, by the numbers that the system gives.
final class L2CAPChannelTable: Sendable {
    static let shared = L2CAPChannelTable()
    private struct Key: Hashable {
        let manager: ObjectIdentifier
        let id: L2CAPChannelID
    }
    private let pipes = Locked<[Key: ChannelPipe]>([:])

    func open(_ id: L2CAPChannelID, psm: CBL2CAPPSM, peer: CBPeer, on channel: ManagerChannel) -> CBL2CAPChannel {
        let key = Key(manager: ObjectIdentifier(channel), id: id)
        let pipe = pipes.with { pipes in
            if let pipe = pipes[key] { return pipe }
            let pipe = ChannelPipe { channel.send(.channel(id, $0)) }
            pipes[key] = pipe
            return pipe
        }
        return CBL2CAPChannel(psm: psm, peer: peer, pipe: pipe)
    }

    func receive(_ event: ClientChannelEvent, on id: L2CAPChannelID, of channel: ManagerChannel) {
        let key = Key(manager: ObjectIdentifier(channel), id: id)
        guard let pipe = pipes.with({ $0[key] }) else { return }
        pipe.receive(event)
        if case .closed = event { pipes.with { $0[key] = nil } }
    }
}
