import BLEGateway
import BLEStateFiles
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// Keeps what is retained at the broker in a file, so that it is removed or stated again after a restart, too. While
/// the file cannot be written, it is known in memory only.
final class RetainedService: Service {
    private let folder: String
    private let core: GatewayCore
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        var store: RetainedStore?
        /// The gateway's name, a part of the file's.
        var gateway = ""
        var hasFailed = false
        /// How many turns to wait before the file is tried again.
        var turnsUntilRetry = 0
    }

    /// The time between two writings; a program that is killed forgets what it stated in this time.
    private static let pause = Duration.seconds(1)
    private static let retryTurns = 30

    init(folder: String, core: GatewayCore, logger: Logger) {
        self.folder = folder
        self.core = core
        self.logger = logger
    }

    /// Reads the file, before the first packet.
    func record() -> RetainedRecord {
        let gateway = core.name
        do {
            let store = try open(gateway)
            let record = try store.record()
            state.withLock { state in
                state.store = store
                state.gateway = gateway
            }
            return record
        } catch {
            failed(error, gateway)
            return RetainedRecord()
        }
    }

    /// Whether the file can be written.
    var isOpen: Bool { state.withLock { $0.store != nil } }

    private func path(_ gateway: String) -> String { "\(folder)/gateway-\(gateway).retained.sqlite" }

    private func open(_ gateway: String) throws -> RetainedStore {
        _ = try SafeFolder(path: folder, isMade: true)
        return try RetainedStore(path: path(gateway))
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                self.write()
            }
        }
        write()
        state.withLock { state in
            state.store?.close()
            state.store = nil
        }
    }

    private func write() {
        let gateway = core.name
        let (isRenamed, isOpen, isTime) = state.withLock { state in
            state.turnsUntilRetry -= 1
            return (state.gateway != gateway, state.store != nil, state.turnsUntilRetry <= 0)
        }
        do {
            if isRenamed || !isOpen {
                guard isTime || isRenamed else { return }
                try writeWhole(gateway)
            } else {
                let changes = core.drainRetainedChanges()
                if changes.isEmpty { return }
                try state.withLock { try $0.store?.write(changes, isWhole: false) }
            }
            state.withLock { $0.hasFailed = false }
        } catch {
            failed(error, gateway)
        }
    }

    /// Begins a file, or the one of another name.
    private func writeWhole(_ gateway: String) throws {
        let old = state.withLock { state -> String in
            state.store?.close()
            state.store = nil
            return state.gateway
        }
        let store = try open(gateway)
        try store.write(core.drainRetainedRecord(), isWhole: true)
        state.withLock { state in
            state.store = store
            state.gateway = gateway
        }
        guard old != gateway, !old.isEmpty else { return }
        for ending in ["", "-wal", "-shm"] { unsafe unlink(path(old) + ending) }
    }

    private func failed(_ error: any Error, _ gateway: String) {
        // Everything is written when it works again.
        core.dropRetainedChanges()
        let isNews = state.withLock { state in
            state.store?.close()
            state.store = nil
            state.gateway = gateway
            state.turnsUntilRetry = Self.retryTurns
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
        if isNews {
            logger.error(
                "\(path(gateway)): \(error); what the broker retains is known in memory only; trying again every 30 s")
        }
    }
}
