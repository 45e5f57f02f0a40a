import BLETransport
import Glibc

/// The power management of the adapter's device: a USB device that the kernel suspends while it seems idle loses packets,
/// or does not wake up again (bluez/bluetooth-next#276, systemd/systemd#27768).
final class AdapterCare {
    private let configuration: Daemon.Configuration
    /// Reads what the machine says of an adapter.
    private let read: (UInt16) -> AdapterHardware
    /// The settings that were changed, to be given back.
    private var changed: [String] = []
    /// The devices whose power settings were reported.
    private var named: Set<String> = []
    private(set) var hardware: AdapterHardware?

    init(
        _ configuration: Daemon.Configuration,
        read: @escaping (UInt16) -> AdapterHardware = { AdapterHardware.read($0) }
    ) {
        (self.configuration, self.read) = (configuration, read)
    }

    /// The adapter is in use.
    /// - Returns: what people should know.
    func isUsed(_ index: UInt16) -> [String] {
        let hardware = read(index)
        self.hardware = hardware
        guard let power = hardware.power, power.mayBeSuspended else { return [] }
        if configuration.keepsAwake, write("on", to: power.path) {
            if !changed.contains(power.path) { changed.append(power.path) }
            configuration.log("hci\(index): autosuspend is off while bled uses it")
            return []
        }
        let text = warning(index, power)
        if named.insert(power.path).inserted { configuration.warn(text) }
        return [text]
    }

    private func warning(_ index: UInt16, _ power: AdapterHardware.DevicePower) -> String {
        let begin = "hci\(index): the kernel may suspend the device while it seems idle, and packets get lost then"
        let remedy =
            configuration.keepsAwake
            ? "bled may not change that: ‘echo on > \(power.path)’ as root, or a udev rule with ATTR{power/control}=\"on\""
            : "switch that off with ‘echo on > \(power.path)’ as root, or let bled do so with ‘keepsAwake’ in its settings"
        return begin + "; " + remedy
    }

    /// Gives back what was changed.
    func release() {
        for path in changed { _ = write("auto", to: path) }
        changed = []
    }

    private func write(_ value: String, to path: String) -> Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let octets = Array((value + "\n").utf8)
        return unsafe Glibc.write(descriptor, octets, octets.count) == octets.count
    }
}
