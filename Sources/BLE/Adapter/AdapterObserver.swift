import BLEHost
import BLETransport

/// Observes what an adapter does: `BLELogging` and `BLEMetrics` are made of it.
///
/// It is called on the adapter's thread, before the app receives the same event, and must not block.
public protocol AdapterObserver: AnyObject, Sendable {
    /// - Parameter address: the transport of the adapter.
    func observe(_ activity: AdapterActivity, of address: TransportAddress)
}

/// What an adapter does.
public enum AdapterActivity: Sendable {
    /// An event of the engine.
    case event(HostEvent)
    /// An operation of the app has ended.
    /// - Parameter error: `nil` for success.
    case ended(AdapterOperation, after: Duration, error: BLEError?)
    /// The adapter is gone: closed by the app, or with an error.
    case closed(BLEError)
}

/// The kind of an operation, as one word that stays the same across versions.
public enum AdapterOperation: String, Sendable, CaseIterable {
    case scan, connect, advertise, radio, gatt, disconnect, link, channel, serve, secure, hci, stop
}

extension AdapterOperation {
    /// The kind of a command to the engine.
    init(_ command: HostCommand) {
        self =
            switch command {
            case .radio(.scan): .scan
            case .radio(.connect): .connect
            case .radio(.advertise), .radio(.advertiseSet): .advertise
            case .radio(.followPeriodicAdvertising): .scan
            case .radio: .radio
            case .link(_, .gatt): .gatt
            case .link(_, .disconnect): .disconnect
            case .link: .link
            case .channel: .channel
            case .server: .serve
            case .security: .secure
            case .sendHCICommand: .hci
            case .cancel, .withholdConfirmations, .stop: .stop
            }
    }
}
