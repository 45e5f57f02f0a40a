import BLELinux
import Glibc

/// The switches of radios that the kernel's rfkill knows and that concern Bluetooth. They are reported when they change;
/// nothing is asked meanwhile.
///
/// An adapter has a switch of its own, and many machines have one more for all of Bluetooth. Only that one still works
/// while a program has an adapter's user channel: the kernel then refuses to block the adapter by its own switch (Linux,
/// net/bluetooth/hci_core.c, hci_rfkill_set_block).
public final class RadioSwitches {
    /// One switch.
    public struct Switch: Hashable, Sendable {
        /// rfkill's number of it.
        public let number: UInt32
        /// The name that its driver gives it; `nil` if it cannot be read.
        public let name: String?
        /// Whether it is on or off.
        public var block: RadioBlock

        public init(number: UInt32, name: String?, block: RadioBlock) {
            (self.number, self.name, self.block) = (number, name, block)
        }

        /// The adapter whose own switch it is; `nil` for a switch of the machine.
        public var adapter: UInt16? {
            guard let name, name.hasPrefix("hci") else { return nil }
            return UInt16(name.dropFirst(3))
        }
    }

    /// The device of rfkill (Linux, include/uapi/linux/rfkill.h).
    public static let device = "/dev/rfkill"

    private let descriptor: Int32
    private let root: String
    private var registration: EventLoop.Registration?
    /// In the order of their numbers.
    public private(set) var switches: [Switch] = []
    /// A machine has a few; more than these are not looked at.
    private static let limit = 64

    /// - Parameters:
    ///   - device: what reports the switches.
    ///   - root: where sysfs is mounted, which has their names.
    ///   - changed: called on the loop after one or more changes, and once after the first reports; the switches are in
    ///     `switches` then.
    /// - Throws: `TransportError.pathNotFound` (no rfkill), `pathForbidden`, or `system`.
    public init(
        on loop: EventLoop, device: String = RadioSwitches.device, root: String = "/sys",
        changed: @escaping ([Switch]) -> Void
    ) throws(TransportError) {
        descriptor = unsafe open(device, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        self.root = root
        guard descriptor >= 0 else {
            let code = errno
            switch code {
            case ENOENT, ENODEV, ENXIO: throw .pathNotFound(device)
            case EACCES, EPERM: throw .pathForbidden(device)
            default: throw .system(call: "open", code: code)
            }
        }
        do throws(TransportError) {
            registration = try loop.register(descriptor, for: .readable) { [weak self] _ in
                guard let self else { return }
                let before = switches
                guard readAll() else { return cancel() }
                if switches != before { changed(switches) }
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Ends the reports. Call it on the loop.
    public func cancel() {
        registration?.cancel()
        registration = nil
    }

    /// - Returns: whether more may come.
    private func readAll() -> Bool {
        // The first report names all; a flood leaves other work its turn.
        for _ in 0..<(2 * Self.limit) {
            // Number (four octets), type, operation, soft, hard; a longer report is cut off by the kernel.
            var event = [UInt8](repeating: 0, count: 8)
            let count = unsafe read(descriptor, &event, event.count)
            if count == 8 {
                take(event)
            } else if count < 0 {
                return errno == EAGAIN || errno == EINTR
            } else {
                return false
            }
        }
        return true
    }

    private func take(_ event: [UInt8]) {
        let number = (0..<4).reduce(UInt32(0)) { $0 | UInt32(event[$1]) << (8 * UInt32($1)) }
        let (type, operation) = (event[4], event[5])
        // Operations: added, removed, changed, all changed; the last one is only for programs to write.
        guard type == Self.bluetooth, operation <= 2 else { return }
        let place = switches.firstIndex { $0.number >= number } ?? switches.count
        let isKnown = place < switches.count && switches[place].number == number
        guard operation != 1 else {
            if isKnown { switches.remove(at: place) }
            return
        }
        let block = RadioBlock(isSoft: event[6] != 0, isHard: event[7] != 0)
        if isKnown {
            switches[place].block = block
        } else if switches.count < Self.limit {
            let name = SystemFiles.text("\(root)/class/rfkill/rfkill\(number)/name")
            switches.insert(Switch(number: number, name: name, block: block), at: place)
        }
    }

    /// RFKILL_TYPE_BLUETOOTH.
    private static let bluetooth: UInt8 = 2

    /// Switches one radio.
    /// - Throws: `TransportError.pathNotFound`, `pathForbidden`, or `system`.
    public static func set(
        _ number: UInt32, isBlocked: Bool, device: String = RadioSwitches.device
    ) throws(TransportError) {
        let descriptor = unsafe open(device, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            let code = errno
            switch code {
            case ENOENT, ENODEV, ENXIO: throw .pathNotFound(device)
            case EACCES, EPERM, EROFS: throw .pathForbidden(device)
            default: throw .system(call: "open", code: code)
            }
        }
        defer { close(descriptor) }
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
        // Changed: only this one.
        let event = octets + [bluetooth, 2, isBlocked ? 1 : 0, 0]
        guard unsafe write(descriptor, event, event.count) == event.count else {
            let code = errno
            throw code == EPERM || code == EACCES ? .pathForbidden(device) : .system(call: "write", code: code)
        }
    }

    /// The number of an adapter's own switch; `nil` if it has none.
    public static func number(ofAdapter index: UInt16, root: String = "/sys") -> UInt32? {
        RadioBlock.number(ofAdapterIn: "\(root)/class/bluetooth/hci\(index)")
    }
}
