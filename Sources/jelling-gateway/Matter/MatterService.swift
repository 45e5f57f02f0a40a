import BLE
import BLEGateway
import BLEMatter
import BLEStateFiles
import Dispatch
import Logging
import ServiceLifecycle
import Synchronization

/// Lets a matter-server use the radio, on its own thread: whatever the server does, the radio, the queue, the watchdog
/// and signals go on.
final class MatterService: ServiceLifecycle.Service {
    private let settings: MatterSettings
    private let links: GatewayLinks
    private let pool: Mutex<AdapterPool?> = Mutex(nil)
    private let logger: Logger
    private let mail = ProxyMail<UInt64>()
    private let last = Mutex((counters: MatterCounters(), isServing: false))

    private static let longestWait = Microseconds.seconds(1)
    /// The longest wait while the server wants to hear of devices, which come without a signal.
    private static let scanWait = Microseconds.milliseconds(50)
    private static let tokenLimit = 4096

    /// - Returns: `nil` if the settings want none.
    @inline(never)
    init?(_ settings: GatewaySettings, links: GatewayLinks, logger: Logger) {
        guard let own = settings.matter else { return nil }
        self.settings = own
        self.links = links
        self.logger = logger
    }

    var counters: MatterCounters { last.withLock { $0.counters } }
    /// Whether the server has said Hello, and the session goes on.
    var isServing: Bool { last.withLock { $0.isServing } }

    /// Whose scanners are used.
    func use(_ pool: AdapterPool) { self.pool.withLock { $0 = pool } }

    /// A packet was received.
    func heard(_ discovery: Discovery) { mail.heard(discovery) }

    func run() async throws {
        let thread = DispatchQueue(label: "matter")
        thread.async { self.serve() }
        try? await gracefulShutdown()
        mail.stop()
    }

    /// The token in the octets of a file: its first line.
    static func token(in octets: [UInt8]) throws(SocketProblem) -> String {
        let line = octets.prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty else { throw SocketProblem(text: "has nothing in its first line") }
        // It becomes a part of a line of HTTP.
        guard line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SocketProblem(text: "has a character that no token has")
        }
        return String(decoding: line, as: UTF8.self)
    }

    // MARK: On the thread

    private func serve() {
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var socket = MatterSocket(
            settings, MatterProxy(settings.server, seed: seed, at: GatewayCore.now))
        var requester: LinkRequester?
        var lastProblem: String?
        while !mail.isStopped {
            let post = mail.collect()
            socket.proxy.setRadio(isUsable: isScanning, at: GatewayCore.now)
            for packet in post.packets { socket.proxy.heard(MatterAdvertisement(packet), at: GatewayCore.now) }
            for (session, event) in post.events {
                socket.proxy.received(event, for: session, at: GatewayCore.now)
            }
            perform(&socket, &requester, &lastProblem)
            socket.wait(mail.wakeUp, atMost: socket.proxy.isScanning ? Self.scanWait : Self.longestWait, token: token)
            perform(&socket, &requester, &lastProblem)
            mail.hasSubscribers = socket.proxy.isScanning
            last.withLock { $0 = (socket.proxy.counters, socket.proxy.isServing) }
        }
        socket.proxy.finish(at: GatewayCore.now)
        perform(&socket, &requester, &lastProblem)
    }

    private func perform(
        _ socket: inout MatterSocket, _ requester: inout LinkRequester?, _ lastProblem: inout String?
    ) {
        for action in socket.proxy.drainActions() {
            switch action {
            case .open: socket.open()
            case .begin(let session):
                requester = links.addRequester(of: .matter) { [mail] event in mail.received(event, for: session) }
            case .link(let request): if let requester { links.submit(request, from: requester) }
            case .end:
                if let requester { links.removeRequester(requester) }
                requester = nil
            case .close(let lastOctets): socket.close(lastOctets)
            case .report(let text, isProblem: false):
                lastProblem = nil
                logger.info("matter: \(text)")
            case .report(let text, isProblem: true):
                if text != lastProblem { logger.error("matter: \(text); trying again") }
                lastProblem = text
            }
        }
    }

    private func token() throws(SocketProblem) -> String? {
        guard let path = settings.tokenFile else { return nil }
        let octets: [UInt8]
        do throws(StateFileError) { octets = try InputPlace.read(path, limit: Self.tokenLimit) } catch {
            throw SocketProblem(text: "\(path) \(error.inputCause)")
        }
        do throws(SocketProblem) { return try Self.token(in: octets) } catch {
            throw SocketProblem(text: "\(path) \(error.text)")
        }
    }

    private var isScanning: Bool {
        pool.withLock { $0 }?.runners.contains { $0.status.phase == .scanning } ?? false
    }
}

extension MatterAdvertisement {
    fileprivate init(_ packet: ProxyMail<UInt64>.Packet) {
        self.init(
            address: packet.address, rssi: packet.rssi, isConnectable: packet.isConnectable,
            data: AdvertisingData(advertisement: packet.data.span.bytes))
    }
}
