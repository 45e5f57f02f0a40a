#if SERVICES
import BLE
import Logging

/// Writes what an adapter does to a logger.
final class LoggingObserver: AdapterObserver {
    let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func observe(_ activity: AdapterActivity, of address: TransportAddress) {
        switch activity {
        case .event(let event): observe(event, of: address)
        case .ended(let operation, let duration, let error):
            var metadata: Logger.Metadata = [
                "adapter": "\(address)", "operation": "\(operation.rawValue)", "duration": "\(duration)",
            ]
            guard let error else { return logger.debug("an operation succeeded", metadata: metadata) }
            if case .cancelled = error { return logger.debug("an operation was cancelled", metadata: metadata) }
            metadata["code"] = "\(error.code.rawValue)"
            logger.debug("an operation failed: \(error.cause)", metadata: metadata)
        case .closed(.closed): logger.info("the adapter was closed", metadata: ["adapter": "\(address)"])
        case .closed(let error):
            logger.error(
                "the adapter is lost: \(error.description)",
                metadata: ["adapter": "\(address)", "code": "\(error.code.rawValue)"])
        }
    }

    private func observe(_ event: HostEvent, of address: TransportAddress) {
        func log(
            _ level: Logger.Level, _ text: @autoclosure () -> Logger.Message, _ more: @autoclosure () -> Logger.Metadata
        ) {
            logger.log(
                level: level, text(),
                metadata: more().merging(["adapter": "\(address)"]) { kept, _ in kept })
        }
        switch event {
        case .ready(let information):
            log(.info, "the controller is ready", ["version": "\(information.hciVersion)"])
        case .recovering(let step): log(.warning, "the controller is being recovered", ["step": "\(step)"])
        case .reopenTransport: log(.warning, "the transport is reopened", [:])
        case .failed(let failure): log(.error, "the controller failed: \(failure)", [:])
        case .connected(let link, _), .centralConnected(let link):
            log(
                .info, "connected",
                ["peer": "\(link.peer)", "role": "\(link.role)", "link": "\(link.id.handle.rawValue)"])
        case .disconnected(let link, _, let reason), .centralDisconnected(let link, let reason):
            log(.info, "disconnected: \(reason)", ["link": "\(link.handle.rawValue)"])
        case .advertisingChanged(let isAdvertising):
            log(.info, isAdvertising ? "advertising has started" : "advertising has stopped", [:])
        case .pairing(let link, .paired(let summary)):
            log(.info, "paired", ["peer": "\(summary.identity)", "link": "\(link.handle.rawValue)"])
        case .pairing(let link, .failed(let failure)):
            log(.warning, "pairing failed: \(failure)", ["link": "\(link.handle.rawValue)"])
        case .cleartextRefused(let link, let peer):
            log(
                .warning, "unencrypted data in the name of a bonded device was dropped",
                ["peer": "\(peer)", "link": "\(link.handle.rawValue)"])
        case .ambiguousIdentity(let address, _):
            log(.warning, "several bonds claim one address", ["peer": "\(address)"])
        case .malformedPacket(let error): log(.debug, "a malformed packet was dropped: \(error)", [:])
        case .encryptionChanged(let link, let security):
            log(
                .debug, security.isEncrypted ? "encrypted" : "no longer encrypted",
                ["link": "\(link.handle.rawValue)"])
        case .connectionParametersChanged(let link, let parameters):
            log(
                .debug, "connection parameters",
                ["link": "\(link.handle.rawValue)", "interval": "\(parameters.interval.milliseconds) ms"])
        case .discovered(let discovery):
            log(
                .trace, "discovered",
                ["peer": "\(discovery.address.map { "\($0)" } ?? "anonymous")", "rssi": "\(discovery.rssi)"])
        case .gatt(let link, .notification(let notification)):
            log(
                .trace, "a value arrived",
                ["link": "\(link.handle.rawValue)", "octets": "\(notification.value.count)"])
        default: break
        }
    }
}
#endif
