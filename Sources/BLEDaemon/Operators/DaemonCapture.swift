import BLE
import BLECapture
import BLEPackets
import Glibc
import Synchronization

/// Writes what crosses HCI of all adapters into one file (`bled -w`), with zeros in place of keys.
///
/// A btsnoop file has the format of the kernel's monitor, which says for each packet which adapter it belongs to.
public final class DaemonCapture: Sendable {
    private struct State: ~Copyable {
        /// `nil` while the file cannot be written.
        var writer: CaptureWriter?
        /// What the path named when the file was opened.
        var place: Place?
    }

    private struct Place: Equatable {
        let device: dev_t
        let node: ino_t

        init?(_ path: String) {
            var information = stat()
            guard unsafe stat(path, &information) == 0 else { return nil }
            device = information.st_dev
            node = information.st_ino
        }
    }

    private let path: String
    private let format: CaptureFormat
    private let warn: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// Creates the file; its ending says which format it gets. One that is there is kept under another name, see
    /// `EarlierFiles`.
    /// - Parameter warn: gets a line if nothing is captured, or the file cannot be written later.
    /// - Throws: an error that names the path if it has the ending of no format, or the file cannot be written. If
    ///   there is only no name left for the one that is there, nothing is captured until `reopen` finds one.
    public init(path: String, warn: @escaping @Sendable (String) -> Void) throws {
        guard let format = CaptureFormat(ending: path) else {
            throw SettingsFile.Problem(description: Self.complaint(ofEnding: path) ?? path)
        }
        self.path = path
        self.format = format == .btsnoop ? .btsnoopMonitor : format
        self.warn = warn
        try open()
    }

    /// Why no capture can be written to a path; `nil` if its ending is that of a format.
    public static func complaint(ofEnding path: String) -> String? {
        guard CaptureFormat(ending: path) == nil else { return nil }
        return "the ending of ‘\(path)’ is not that of a capture format; use .btsnoop, .pcap, .pcapng or .pklg"
    }

    private func open() throws(SettingsFile.Problem) {
        state.withLock { $0.writer = nil }
        if let code = EarlierFiles(path: path).keep() {
            guard code != EarlierFiles.noName else {
                // Whoever has taken the names must neither keep programs from Bluetooth nor have the file destroyed.
                return warn(
                    "nothing is captured: the earlier capture ‘\(path)’ cannot be renamed to keep it, as the names "
                        + "from \(EarlierFiles(path: path).name(1)) on are taken; move it, and send SIGHUP")
            }
            let reason = unsafe String(cString: strerror(code))
            throw SettingsFile.Problem(
                description: "the earlier capture ‘\(path)’ cannot be renamed to keep it (\(reason)); make its folder "
                    + "writable, or move the file")
        }
        do throws(CaptureError) {
            try state.withLock { state throws(CaptureError) in
                state.writer = try CaptureWriter(path: path, format: format)
                state.place = Place(path)
            }
        } catch {
            throw SettingsFile.Problem(description: "the capture ‘\(path)’ cannot be written: \(error)")
        }
    }

    /// Begins a new file if the path no longer names the present one, because it was renamed or removed, or if the
    /// present one could not be written any more.
    public func reopen() {
        let isCurrent = state.withLock { $0.writer != nil && $0.place != nil && $0.place == Place(path) }
        guard !isCurrent else { return }
        do throws(SettingsFile.Problem) { try open() } catch { warn("nothing more is captured: \(error)") }
    }

    /// Shows the capture the packets of one adapter.
    /// - Parameter adapter: the number of the adapter in the file.
    func observer(of adapter: UInt16) -> any PacketObserver { Observer(self, adapter) }

    private func append(_ packet: [UInt8], _ direction: PacketDirection, _ unixMicroseconds: UInt64, of adapter: UInt16)
    {
        let failure = state.withLock { state -> CaptureError? in
            do throws(CaptureError) {
                try state.writer?.append(
                    packet: packet.span.bytes,
                    direction: direction == .hostToController ? .hostToController : .controllerToHost,
                    timestampMicroseconds: Int64(clamping: unixMicroseconds), adapter: adapter)
                return nil
            } catch {
                guard error.isFinal else { return nil }
                state.writer = nil
                return error
            }
        }
        if let failure {
            warn("the capture ‘\(path)’ has ended: \(failure); SIGHUP begins it again")
        }
    }

    /// The mask has to see every packet of its adapter.
    private final class Observer: PacketObserver {
        private let capture: DaemonCapture
        private let adapter: UInt16
        private let mask = Mutex(KeyMask())

        init(_ capture: DaemonCapture, _ adapter: UInt16) {
            self.capture = capture
            self.adapter = adapter
        }

        func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
            let octets = mask.withLock { $0.masked(packet, direction) }
            capture.append(octets, direction, unixMicroseconds, of: adapter)
        }
    }
}
