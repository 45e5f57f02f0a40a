import BLEAppLifecycle
import Foundation

/// A connection-oriented channel to another device, as a pair of streams (SPEC 2.5).
///
/// Open both streams before use. They call their delegates on the run loops in which they are scheduled; until they are
/// closed or removed, they wake these loops and keep them running. An app that schedules neither can poll
/// `hasBytesAvailable` and `hasSpaceAvailable` instead. With the main run loop, events also arrive if the main thread
/// runs the main dispatch queue instead of the loop.
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
    /// The data from the other device. `read` returns 0 while there is none, and −1 unless the stream is open. After
    /// either side has closed the channel, the stream ends after the last octet; if the connection is lost,
    /// `streamError` is `CBError.peripheralDisconnected`. Closing either stream closes the channel.
    open var inputStream: InputStream! { input }
    /// The data to the other device. `write` returns the number of octets accepted, 0 while there is no room, and −1
    /// unless the channel and the stream are open. Closing either stream closes the channel: the other device still
    /// receives the accepted octets if it reads them within 30 s.
    open var outputStream: OutputStream! { output }
    /// The PSM of the channel.
    open var psm: CBL2CAPPSM { number }
}

/// The channels of this process by their identifiers.
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

    /// Ends all channels of a manager, whose system has lost its links or which is gone. A daemon that is started again
    /// counts its channels from the beginning: a channel must not get the octets of one before it.
    func endAll(of channel: ManagerChannel) {
        let manager = ObjectIdentifier(channel)
        let ended = pipes.with { pipes in
            pipes.keys.filter { $0.manager == manager }.compactMap { pipes.removeValue(forKey: $0) }
        }
        for pipe in ended { pipe.receive(.closed(.coreBluetooth(.peripheralDisconnected))) }
    }
}
