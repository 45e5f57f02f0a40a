import BLEHost
import BLEPackets
import BLESimulator
import Foundation
import TestSupport

@testable import BLERecording

/// An engine in the simulator's demo world, every input of which is recorded.
final class RecordedSession {
    let files: RecordingFiles
    private let recorder: RecordingWriter
    private let station: HostStation

    static let heart = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)

    init(folder: TemporaryFolder, configuration: HostConfiguration = HostConfiguration()) throws {
        files = RecordingFiles(folder.path + "/session")
        recorder = try RecordingWriter(files)
        station = HostStation(World(.demoWorld()), configuration: configuration)
        recorder.began(configuration)
        station.watch = { [unowned self] in recorder.observe($0, at: station.now) }
        station.change = { [unowned self] packet in
            recorder.observeSent(packet.span.bytes, at: station.now)
            return packet
        }
    }

    /// A whole walk: scan, connect, discover, read, write, subscribe, end.
    func walk() throws {
        station.apply(.transportOpened)
        station.run(for: .seconds(2))
        let scan = station.submit(.radio(.scan(ScanRequest())))
        station.run(for: .seconds(2))
        station.submit(.cancel(scan))
        guard let link = station.connect(Self.heart) else { throw Missing(what: "the link") }
        _ = station.gatt(link, .discoverServices(uuids: []))
        let whole = AttributeHandleRange(AttributeHandle(rawValue: 1), AttributeHandle(rawValue: 0xFFFF))
        _ = station.gatt(link, .discoverCharacteristics(whole, uuids: []))
        _ = station.gatt(link, .read(AttributeHandle(rawValue: 0x000F)))
        _ = station.result(of: .link(link, .procedure(.readRSSI)))
        station.run(for: .seconds(1))
        _ = station.result(of: .stop)
        try recorder.finish()
    }

    struct Missing: Error { var what: String }
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
