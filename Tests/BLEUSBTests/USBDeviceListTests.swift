import Glibc
import Testing

@testable import BLETransport
@testable import BLEUSB

@Suite("The list of USB devices")
struct USBDeviceListTests {
    /// A tree like sysfs, which is removed at the end.
    final class Tree {
        let path: String

        init() {
            var template = Array("/tmp/jelling-usb-XXXXXX".utf8CString)
            path = unsafe String(cString: mkdtemp(&template))
        }

        deinit { unsafe system("rm -rf '\(path)'") }

        func add(_ name: String, _ octets: [UInt8], active: String = "1", bus: Int = 1, number: Int = 4) {
            unsafe mkdir("\(path)/\(name)", 0o755)
            write(octets, "\(name)/descriptors")
            for (file, text) in [
                ("busnum", "\(bus)"), ("devnum", "\(number)"), ("bConfigurationValue", active),
                ("product", "CSR8510 A10"),
            ] { write(Array("\(text)\n".utf8), "\(name)/\(file)") }
        }

        func write(_ octets: [UInt8], _ file: String) {
            let descriptor = unsafe open("\(path)/\(file)", O_WRONLY | O_CREAT, 0o644)
            _ = unsafe Glibc.write(descriptor, octets, octets.count)
            close(descriptor)
        }

        var list: USBDeviceList { USBDeviceList(folder: path, files: "/dev/bus/usb") }
    }

    @Test("a dongle with its driver and the kernel's adapter")
    func dongle() throws {
        let tree = Tree()
        tree.add("1-2.3", SampleDescriptors.dongle, number: 12)
        unsafe mkdir("\(tree.path)/btusb", 0o755)
        unsafe mkdir("\(tree.path)/1-2.3:1.0", 0o755)
        unsafe mkdir("\(tree.path)/1-2.3:1.0/bluetooth", 0o755)
        unsafe mkdir("\(tree.path)/1-2.3:1.0/bluetooth/hci4", 0o755)
        #expect(unsafe symlink("../btusb", "\(tree.path)/1-2.3:1.0/driver") == 0)
        let device = try #require(tree.list.bluetoothDevices().first)
        #expect(device.port == "1-2.3" && device.identifiers == "0a12:0001" && device.release == 0x0134)
        #expect(device.driver == "btusb" && device.adapter == "hci4" && device.name == "CSR8510 A10")
        #expect(device.path == "/dev/bus/usb/001/012")
        #expect(device.address.description == "usb:1-2.3")
    }

    @Test("devices come in the order of buses and ports; hubs, interfaces and others are left out (A79)")
    func order() throws {
        let tree = Tree()
        for (number, name) in ["1-10", "1-9", "2-1", "1-2.3", "1-2.10"].enumerated() {
            tree.add(name, SampleDescriptors.dongle, number: number + 1)
        }
        tree.add("usb1", SampleDescriptors.dongle)
        tree.add("1-2", SampleDescriptors.device([9, 0, 0]) + SampleDescriptors.configuration())
        tree.add("1-2:1.0", [])
        tree.add("1-3", [1, 2, 3])
        #expect(tree.list.bluetoothDevices().map(\.port) == ["1-2.3", "1-2.10", "1-9", "1-10", "2-1"])
        #expect(tree.list.devices(.port("1-9")).map(\.port) == ["1-9"])
        #expect(tree.list.devices(.port("1-4")).isEmpty)
        #expect(tree.list.devices(.identifiers(vendor: 0x0A12, product: 1)).count == 5)
        #expect(tree.list.devices(.identifiers(vendor: 0x0A12, product: 2)).isEmpty)
        #expect(tree.list.contains(.port("1-2")) && !tree.list.contains(.port("1-7")))
    }

    @Test("a device without a configuration is listed, and one whose files are nonsense is not")
    func odd() throws {
        let tree = Tree()
        tree.add("1-1", SampleDescriptors.dongle, active: "")
        tree.add("1-2", SampleDescriptors.dongle, number: 100_000)
        tree.add("1-3", SampleDescriptors.dongle, bus: -1)
        unsafe mkdir("\(tree.path)/1-4", 0o755)
        let found = tree.list.bluetoothDevices()
        #expect(found.map(\.port) == ["1-1"] && found[0].activeConfiguration == 0)
        #expect(USBDeviceList(folder: "/nowhere").bluetoothDevices().isEmpty)
    }

    @Test("errors name the device, the cause and the remedy")
    func texts() throws {
        let tree = Tree()
        tree.add("1-2", SampleDescriptors.dongle)
        let device = try #require(tree.list.bluetoothDevices().first)
        func text(_ failure: USBFailure) -> String { TransportError.usb(failure).description }
        let forbidden = text(.notOpened(device, code: EACCES))
        for part in ["0a12:0001", "1-2", "/dev/bus/usb/001/004", "60-jelling-usb.rules", "/etc/udev/rules.d"] {
            #expect(forbidden.contains(part))
        }
        #expect(
            text(.busy(device, [HoldingProcess(identifier: 7, name: "bumble")])).contains("bumble (process 7) has it"))
        #expect(text(.busy(device, [])).contains("run as root to see which one it is"))
        #expect(USBFailure.notOpened(device, code: ENODEV).kind == .removed)
        #expect(text(.libraryMissing("no such file")).contains("apt install libusb-1.0-0"))
        let missing = text(.missing(.port("1-9"), isThere: false, present: [device]))
        #expect(missing == "there is no USB device 1-9: there is 1-2 (0a12:0001)")
        #expect(
            text(.missing(.first, isThere: false, present: [])).hasPrefix("no Bluetooth controller is plugged in; "))
        #expect(USBFailure.missing(.port("1-2"), isThere: true, present: []).kind == .unsuitable)
    }

    @Test("without a device, opening says so and does not need the library")
    func noDevice() throws {
        let address = try TransportAddress("usb:fffe:fffe")
        do throws(TransportError) {
            _ = try USBTransport.open(address)
            Issue.record("there is no such device")
        } catch {
            guard case .usb(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.kind == .deviceMissing)
        }
        #expect(throws: TransportError.notOffered(.rawChannel(adapter: 0))) {
            try USBTransport.reset(.rawChannel(adapter: 0))
        }
    }
}
