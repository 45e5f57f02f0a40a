import BLEHost
import BLEPackets
import BLESimulator
import Foundation

@testable import BLERecording

/// An engine on the simulator's demo world, under a virtual clock, every input of which is recorded.
final class RecordedSession {
    let files: RecordingFiles
    private let recorder: RecordingWriter
    private let air = SimulatedAir.demoWorld()
    private let controller: SimulatedControllerID
    private var host: BLEHost.Host
    private var now = Instant.zero
    private(set) var completed: [OperationID: Result<HostResult, HostFailure>] = [:]

    static let heart = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)

    init(folder: TemporaryFolder, configuration: HostConfiguration = HostConfiguration()) throws {
        files = RecordingFiles(folder.path + "/session")
        recorder = try RecordingWriter(files)
        controller = air.addController()
        host = BLEHost.Host(configuration: configuration)
        recorder.began(configuration)
    }

    /// A whole walk: scan, connect, discover, read, write, subscribe, end.
    func walk() throws {
        input(.transportOpened)
        run(for: 2_000_000)
        let scan = input(.command(.radio(.scan(ScanRequest())), .local))
        run(for: 2_000_000)
        if let scan { input(.command(.cancel(scan), .local)) }
        let link = try connect()
        _ = end(of: .link(link, .gatt(.discoverServices(uuids: []))))
        let whole = AttributeHandleRange(AttributeHandle(rawValue: 1), AttributeHandle(rawValue: 0xFFFF))
        _ = end(of: .link(link, .gatt(.discoverCharacteristics(whole, uuids: []))))
        _ = end(of: .link(link, .gatt(.read(AttributeHandle(rawValue: 0x000F)))))
        _ = end(of: .link(link, .procedure(.readRSSI)))
        run(for: 1_000_000)
        _ = end(of: .stop)
        try recorder.finish()
    }

    private func connect() throws -> LinkID {
        guard case .success(.connected(let link)) = end(of: .radio(.connect(ConnectRequest(peer: Self.heart)))) else {
            throw Missing(what: "the link")
        }
        return link
    }

    struct Missing: Error { var what: String }

    private func end(of command: HostCommand) -> Result<HostResult, HostFailure>? {
        guard let operation = input(.command(command, .local)) else { return nil }
        run(for: 30_000_000) { self.completed[operation] != nil }
        return completed[operation]
    }

    @discardableResult
    private func input(_ input: HostInput) -> OperationID? {
        recorder.observe(input, at: now)
        let operation = host.apply(input, at: now)
        settle()
        return operation
    }

    private func run(for microseconds: Int64, until isDone: () -> Bool = { false }) {
        let end = now.microseconds + microseconds
        while !isDone() {
            let next = [host.nextDeadline?.microseconds, air.nextDeadlineMicroseconds].compactMap { $0 }.min()
            guard let next, next <= end else {
                now = Instant(microseconds: end)
                air.advance(to: end)
                settle()
                return
            }
            now = Instant(microseconds: max(now.microseconds, next))
            air.advance(to: now.microseconds)
            if let deadline = host.nextDeadline, deadline <= now { input(.advance) }
            settle()
        }
    }

    private func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            for packet in packets {
                recorder.observeSent(packet.span.bytes, at: now)
                air.send(packet.span.bytes, to: controller, at: now.microseconds)
                isBusy = true
            }
            if let packet = air.nextPacket(from: controller) {
                recorder.observe(.packet(packet), at: now)
                host.receive(packet.span.bytes, at: now)
                isBusy = true
            }
            while let event = host.nextEvent() {
                if case .completed(let operation, let result) = event { completed[operation] = result }
            }
        }
    }
}

/// A folder that is gone with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "jelling-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
