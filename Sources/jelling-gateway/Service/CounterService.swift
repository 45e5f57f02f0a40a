import BLEGateway
import BLEStateFiles
import Logging
import ServiceLifecycle
import Synchronization

/// Keeps the counters of devices that encrypt in a file, so that recorded packets are noticed after a restart, too.
final class CounterService: Service {
    private let folder: String
    private let name: String
    private let core: GatewayCore
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var written: [ReplayCounter] = []
        var hasFailed = false
    }

    /// The time between two writings; a program that is killed forgets the packets of this time.
    private static let pause = Duration.seconds(30)
    private static let sizeLimit = 4 << 20

    /// - Parameter gateway: the name of the gateway, a part of the file's.
    init(folder: String, gateway: String, core: GatewayCore, logger: Logger) {
        self.folder = folder
        name = "gateway-\(gateway).counters"
        self.core = core
        self.logger = logger
    }

    /// Reads the file, before the first packet.
    func restore() {
        do throws(StateFileError) {
            guard let octets = try SafeFolder(path: folder, isMade: true).read(name, limit: Self.sizeLimit) else {
                return
            }
            guard let text = String(validating: octets, as: UTF8.self),
                let counters = ReplayCounter.counters(in: text)
            else {
                return logger.error("\(folder)/\(name) is damaged; packets that were recorded before are not noticed")
            }
            core.restore(counters)
            state.withLock { $0.written = counters }
        } catch {
            logger.error("\(error); packets that were recorded before the start are not noticed")
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                self.write()
            }
        }
        write()
    }

    private func write() {
        let counters = core.replayCounters
        guard counters != state.withLock({ $0.written }) else { return }
        do throws(StateFileError) {
            let folder = try SafeFolder(path: folder, isMade: true)
            try folder.replace(name, with: Array(ReplayCounter.text(of: counters).utf8))
            state.withLock { state in
                state.written = counters
                state.hasFailed = false
            }
        } catch {
            let isNews = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isNews { logger.error("\(error); the counters of encrypted packets are not kept; trying again") }
        }
    }
}
