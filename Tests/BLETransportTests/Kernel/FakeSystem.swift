import Glibc

/// A folder that looks like sysfs with adapters in it.
final class FakeSystem {
    let root: String

    init() {
        var template = Array("/tmp/jelling-sysfs-XXXXXX".utf8CString)
        root = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let name = unsafe mkdtemp(buffer.baseAddress!) else { return "/nonexistent" }
            return unsafe String(cString: name)
        }
        folder("class/bluetooth")
        folder("class/rfkill")
        folder("bus/usb/drivers/btusb")
    }

    deinit { remove(root) }

    private func remove(_ path: String) {
        guard path.hasPrefix("/tmp/jelling-sysfs-") else { return }
        if let stream = unsafe opendir(path) {
            var names: [String] = []
            while let entry = unsafe readdir(stream) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                    unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                }
                if name != ".", name != ".." { names.append(name) }
            }
            unsafe closedir(stream)
            for name in names {
                var information = stat()
                let inner = path + "/" + name
                if unsafe lstat(inner, &information) == 0, information.st_mode & S_IFMT == S_IFDIR {
                    remove(inner)
                } else {
                    unsafe unlink(inner)
                }
            }
        }
        unsafe rmdir(path)
    }

    func path(_ name: String) -> String { root + "/" + name }

    func folder(_ name: String) {
        var path = root
        for part in name.split(separator: "/") {
            path += "/" + part
            unsafe mkdir(path, 0o755)
        }
    }

    func write(_ name: String, _ text: String) { write(name, Array(text.utf8)) }

    func write(_ name: String, _ octets: [UInt8]) {
        let descriptor = unsafe open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        _ = unsafe Glibc.write(descriptor, octets, octets.count)
        close(descriptor)
    }

    func read(_ name: String) -> String {
        let descriptor = unsafe open(path(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var octets = [UInt8](repeating: 0, count: 256)
        let count = unsafe Glibc.read(descriptor, &octets, octets.count)
        return String(decoding: octets[..<max(0, count)], as: UTF8.self)
    }

    func link(_ name: String, to target: String) { unsafe symlink(target, path(name)) }

    /// The folder of a USB device.
    static func usb(_ port: String) -> String { "devices/pci0000:00/0000:00:14.0/usb1/\(port)" }

    /// Plugs a USB adapter in.
    func plugUSB(
        _ index: Int, port: String = "1-2.3", vendor: String = "0bda", product: String = "8771",
        release: String = "0200",
        bus: Int = 1, device: Int = 7, control: String = "auto"
    ) {
        let home = Self.usb(port)
        let interface = "\(home)/\(port):1.0"
        folder("\(interface)/bluetooth/hci\(index)")
        folder("\(home)/power")
        for (name, value) in [
            ("idVendor", vendor), ("idProduct", product), ("bcdDevice", release), ("busnum", "\(bus)"),
            ("devnum", "\(device)"), ("product", "Bluetooth Radio"), ("power/control", control),
            ("power/autosuspend_delay_ms", "2000"), ("power/runtime_status", "active"),
        ] { write("\(home)/\(name)", value + "\n") }
        link("\(interface)/driver", to: "../../../../../../bus/usb/drivers/btusb")
        link("\(interface)/subsystem", to: "../../../../../../bus/usb")
        link("\(interface)/bluetooth/hci\(index)/device", to: "../..")
        link("class/bluetooth/hci\(index)", to: "../../\(interface)/bluetooth/hci\(index)")
    }

    func unplug(_ index: Int, port: String = "1-2.3") {
        unsafe unlink(path("class/bluetooth/hci\(index)"))
        remove(path(Self.usb(port)))
    }
}
