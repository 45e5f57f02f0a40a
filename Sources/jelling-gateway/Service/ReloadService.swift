import BLEGateway
import BLEServiceManager
import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// Reads the settings again when a file has changed that they depend on, and on SIGHUP.
///
/// It watches the folders instead of the files, because editors and package managers replace files.
final class ReloadService: Service {
    private let paths: [String]
    private let obeysHangUp: Bool
    private let logger: Logger
    private let manager: ServiceManager
    private let reload: @Sendable () async -> Void

    /// - Parameter obeysHangUp: whether SIGHUP reads the settings instead of ending the program.
    init(
        paths: [String], obeysHangUp: Bool, logger: Logger, manager: ServiceManager,
        reload: @escaping @Sendable () async -> Void
    ) {
        self.paths = paths
        self.obeysHangUp = obeysHangUp
        self.logger = logger
        self.manager = manager
        self.reload = reload
    }

    func run() async throws {
        let (changes, source) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watches = paths.map { watchFolder(of: $0) { source.yield() } }
        let signal = obeysHangUp ? Self.hangUps { source.yield() } : nil
        await cancelWhenGracefulShutdown {
            for await _ in changes {
                // A program may write the file in several steps.
                try? await Task.sleep(for: .milliseconds(100))
                self.manager.notify("RELOADING=1")
                await self.reload()
                self.manager.notify("READY=1")
            }
        }
        signal?.cancel()
        for watch in watches { watch?.cancel() }
    }

    private static func hangUps(_ received: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        Glibc.signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP)
        source.setEventHandler { received() }
        source.activate()
        return source
    }

    private func watchFolder(
        of path: String, _ changed: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceRead)? {
        let (folder, name) = Self.split(path)
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let events = UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO)
        guard descriptor >= 0, unsafe inotify_add_watch(descriptor, folder, events) >= 0 else {
            logger.warning("changes of \(path) are not seen: \(systemText(errno)); send SIGHUP instead")
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        source.setEventHandler {
            if Self.names(descriptor).contains(name) { changed() }
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
        return source
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
    }

    /// The names of the files that changed.
    private static func names(_ descriptor: Int32) -> [String] {
        var names: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return names }
            var position = 0
            // Each event has wd, mask, cookie and length, four octets each, then the name, padded with zeros.
            while position + 16 <= count {
                let length = (0..<4).reduce(0) { $0 | Int(buffer[position + 12 + $1]) << (8 * $1) }
                let end = min(position + 16 + length, count)
                names.append(String(decoding: buffer[position + 16..<end].prefix { $0 != 0 }, as: UTF8.self))
                position = end
            }
        }
    }
}
