import BLE
import Logging

/// The sockets on which clients of the proxy connect. An address that cannot be used is tried again: it may be in use,
/// or not exist yet.
struct ProxyListeners {
    final class Listener {
        let socket: ListeningSocket
        init(_ place: ListenAddress) throws(SocketProblem) {
            socket = try ListeningSocket(address: place.host, port: place.port)
        }
    }

    private let places: [ListenAddress]
    private var listeners: [Listener?]
    private var problems: [String?]
    private var tryAgain = Instant.zero
    private let logger: Logger

    private static let retryPause = Microseconds.seconds(5)

    init(_ places: [ListenAddress], logger: Logger) {
        self.places = places
        listeners = places.map { _ in nil }
        problems = places.map { _ in nil }
        self.logger = logger
    }

    var open: [Listener] { listeners.compactMap(\.self) }

    /// - Returns: when to try again; `nil`: all are open.
    mutating func open(at now: Instant) -> Instant? {
        guard open.count < places.count else { return nil }
        guard now >= tryAgain else { return tryAgain }
        for (index, place) in places.enumerated() where listeners[index] == nil {
            do throws(SocketProblem) {
                listeners[index] = try Listener(place)
                if problems[index] != nil { logger.info("esphome.listen: \(place) is used again") }
                problems[index] = nil
            } catch {
                if problems[index] != error.text {
                    logger.error("esphome.listen: \(place) cannot be used: \(error.text); trying again")
                }
                problems[index] = error.text
            }
        }
        tryAgain = now.advanced(by: Self.retryPause)
        return open.count < places.count ? tryAgain : nil
    }
}
