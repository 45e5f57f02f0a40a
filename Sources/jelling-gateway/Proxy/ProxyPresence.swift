import BLEESPHome
import BLEStateFiles
import Glibc
import Logging

/// How clients find the proxy without knowing its address.
final class ProxyPresence {
    private let publisher: AvahiPublisher?
    /// The file for the Avahi daemon.
    private let path: String?

    init(_ settings: ESPHomeSettings, _ description: ProxyDescription, logger: Logger) {
        // What others reach is worth finding.
        let place = settings.places.first { !$0.isLoopback } ?? settings.places.first
        let record = ServiceRecord(description, port: place?.port ?? 0)
        switch settings.advertising {
        case .off: (publisher, path) = (nil, nil)
        case .avahi: (publisher, path) = (AvahiPublisher(record, logger: logger), nil)
        case .folder(let folder):
            let path = "\(folder)/jelling-gateway-\(description.name).service"
            (publisher, self.path) = (nil, path)
            if let problem = Self.write(record.file, path) {
                logger.error("esphome.advertise: \(path) cannot be written: \(problem)")
            }
        }
    }

    func end() {
        publisher?.end()
        if let path { unsafe unlink(path) }
    }

    /// The daemon, which is another user, reads the file as soon as it is complete.
    private static func write(_ text: String, _ path: String) -> String? {
        let draft = path + ".new"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return systemText(errno) }
        defer { close(descriptor) }
        let octets = Array(text.utf8)
        guard fchmod(descriptor, 0o644) == 0, unsafe Glibc.write(descriptor, octets, octets.count) == octets.count,
            unsafe rename(draft, path) == 0
        else {
            let problem = systemText(errno)
            unsafe unlink(draft)
            return problem
        }
        return nil
    }
}
