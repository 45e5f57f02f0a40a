import BLEGateway
import BLEStateFiles
import Logging
import ServiceLifecycle
import Synchronization

/// Keeps what is known of the packets of devices that encrypt in two files, so that recorded packets are noticed after a
/// restart, too: the counters, which are small and are written often, and the digests of the packets.
final class CounterService: Service {
    private let folder: String
    private let core: GatewayCore
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        /// The gateway's name when the files were written, a part of theirs.
        var gateway = ""
        var counters: [ReplayCounter] = []
        var packetCount: UInt64 = 0
        var turnsUntilPackets = 0
        var problem: String?
    }

    /// The time between two writings; a program that is killed forgets the counters of this time.
    private static let pause = Duration.seconds(30)
    /// The digests are written in each twentieth turn: a killed program forgets those of the last ten minutes.
    private static let packetTurns = 20
    private static let countersLimit = 8 << 20
    private static let packetsLimit = 32 << 20

    init(folder: String, core: GatewayCore, logger: Logger) {
        self.folder = folder
        self.core = core
        self.logger = logger
    }

    /// Why the files cannot be read or written; `nil` if they can be.
    var problem: String? { state.withLock { $0.problem } }

    /// Reads the files, before the first packet.
    func restore() {
        let gateway = core.name
        var counters: [ReplayCounter] = []
        read(gateway + ".packets", limit: Self.packetsLimit) { core.restore(heardPackets: $0) }
        read(gateway + ".counters", limit: Self.countersLimit) { octets in
            guard let text = String(validating: octets, as: UTF8.self) else { return false }
            let found = ReplayCounter.counters(in: text)
            counters = found.counters
            core.restore(found.counters)
            return found.isWhole
        }
        let packetCount = core.heardPacketCount
        state.withLock { state in
            state = State(
                gateway: gateway, counters: counters, packetCount: packetCount, turnsUntilPackets: Self.packetTurns,
                problem: state.problem)
        }
    }

    /// - Parameter use: takes what the file contains, and says whether it is whole.
    private func read(_ name: String, limit: Int, use: ([UInt8]) -> Bool) {
        let name = "gateway-" + name
        do throws(StateFileError) {
            guard let octets = try SafeFolder(path: folder, isMade: true).read(name, limit: limit) else { return }
            if use(octets) { return }
            logger.error(
                "\(folder)/\(name) is damaged; of some devices, packets that were recorded before are not noticed")
        } catch {
            logger.error("\(error); packets that were recorded before the start are not noticed")
            state.withLock { $0.problem = error.description }
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                self.write(isLast: false)
            }
        }
        write(isLast: true)
    }

    private func write(isLast: Bool) {
        let gateway = core.name
        let counters = core.replayCounters
        let packetCount = core.heardPacketCount
        let (writesCounters, writesPackets) = state.withLock { state in
            state.turnsUntilPackets -= 1
            // A reload may change the name, which is a part of the files'.
            let isRenamed = state.gateway != gateway
            let isTime = isLast || isRenamed || state.turnsUntilPackets <= 0
            return (isRenamed || state.counters != counters, isTime && (isRenamed || state.packetCount != packetCount))
        }
        // Also what cannot be used shows that it can be used again.
        guard writesCounters || writesPackets || problem != nil else { return }
        do throws(StateFileError) {
            let folder = try SafeFolder(path: folder, isMade: true)
            if writesPackets { try folder.replace("gateway-\(gateway).packets", with: core.heardPackets) }
            if writesCounters {
                try folder.replace("gateway-\(gateway).counters", with: Array(ReplayCounter.text(of: counters).utf8))
            }
            state.withLock { state in
                state.gateway = gateway
                state.counters = counters
                state.problem = nil
                guard writesPackets else { return }
                state.packetCount = packetCount
                state.turnsUntilPackets = Self.packetTurns
            }
        } catch {
            let isNews = state.withLock { state in
                defer { state.problem = error.description }
                return state.problem != error.description
            }
            if isNews { logger.error("\(error); the counters of encrypted packets are not kept; trying again") }
        }
    }
}
