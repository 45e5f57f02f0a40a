import BLEPackets
import Glibc
import Testing

@testable import BLETransport

@Suite("What sysfs says of adapters")
struct AdapterHardwareTests {
    private let system = FakeSystem()

    private func read(_ index: UInt16) -> AdapterHardware { AdapterHardware.read(index, root: system.root) }

    @Test("a USB adapter has its identifiers, its ports, its driver and its power settings (A82)")
    func usb() {
        system.plugUSB(0)
        let hardware = read(0)
        #expect(hardware.bus == "usb" && hardware.driver == "btusb" && hardware.deviceName == "1-2.3:1.0")
        let device = hardware.usb
        #expect(device?.identifiers == "0bda:8771" && device?.releaseText == "0200")
        #expect(device?.port == "1-2.3" && device?.bus == 1 && device?.device == 7)
        #expect(device?.productName == "Bluetooth Radio")
        #expect(hardware.place == "1-2.3")
        #expect(hardware.power?.isAutomatic == true && hardware.power?.delayMilliseconds == 2000)
        #expect(hardware.power?.isSuspended == false && hardware.power?.mayBeSuspended == true)
        #expect(hardware.function == nil && hardware.block == nil)
        #expect(device?.otherDrivers == [])
        // The same device is a Wi-Fi adapter, too.
        system.folder(FakeSystem.usb("1-2.3") + "/1-2.3:1.2")
        system.folder("bus/usb/drivers/mt7921u")
        system.link(FakeSystem.usb("1-2.3") + "/1-2.3:1.2/driver", to: "../../../../../../bus/usb/drivers/mt7921u")
        #expect(read(0).usb?.otherDrivers == ["mt7921u"])
        system.write(FakeSystem.usb("1-2.3") + "/power/autosuspend_delay_ms", "-1000\n")
        #expect(read(0).power?.mayBeSuspended == false)
        system.write(FakeSystem.usb("1-2.3") + "/power/control", "on\n")
        #expect(read(0).power?.isAutomatic == false)
    }

    @Test("adapters on other buses have a place, too: serial, SDIO, PCI; a virtual one has none (A79)")
    func others() {
        for (index, bus, name) in [(1, "serial", "serial0-0"), (2, "sdio", "mmc1:0001:2"), (3, "pci", "0000:02:00.0")] {
            let device = "devices/platform/\(name)"
            system.folder("\(device)/bluetooth/hci\(index)")
            system.folder("bus/\(bus)")
            system.link("\(device)/subsystem", to: "../../../bus/\(bus)")
            system.link("\(device)/bluetooth/hci\(index)/device", to: "../..")
            system.link("class/bluetooth/hci\(index)", to: "../../\(device)/bluetooth/hci\(index)")
            let hardware = read(UInt16(index))
            #expect(hardware.bus == bus && hardware.place == name && hardware.usb == nil && hardware.power == nil)
        }
        system.write("devices/platform/0000:02:00.0/vendor", "0x14e4\n")
        system.write("devices/platform/0000:02:00.0/device", "0x5fa0\n")
        #expect(read(3).function == AdapterHardware.Function(vendor: 0x14E4, device: 0x5FA0))
        system.folder("devices/virtual/bluetooth/hci4/rfkill9")
        system.link("class/bluetooth/hci4", to: "../../devices/virtual/bluetooth/hci4")
        system.write("devices/virtual/bluetooth/hci4/rfkill9/soft", "1\n")
        system.write("devices/virtual/bluetooth/hci4/rfkill9/hard", "0\n")
        #expect(read(4).place == nil && read(4).block == RadioBlock(isSoft: true, isHard: false))
        #expect(RadioSwitches.number(ofAdapter: 4, root: system.root) == 9)
        #expect(read(5) == AdapterHardware(index: 5))
    }

    @Test(
        "what sysfs never has is no value: wrong digits, much text, control characters, octets that are no text, nothing",
        arguments: [
            "", "\n", "0BDA ", "bda", "0xbda", "+bda", "0bda0", "\u{1B}[2J", String(repeating: "0bda", count: 1000),
            "☃",
        ])
    func hostileText(text: String) {
        system.plugUSB(0)
        let folder = FakeSystem.usb("1-2.3")
        for name in ["idVendor", "idProduct", "bcdDevice", "busnum", "devnum"] {
            system.unplug(0)
            system.plugUSB(0)
            system.write("\(folder)/\(name)", text)
            #expect(read(0).usb == nil, "\(name)")
            // Its place is still known.
            #expect(read(0).place == "1-2.3:1.0")
        }
        system.write("\(folder)/power/control", text)
        #expect(read(0).power == nil)
    }

    @Test("a pipe, a folder, a link and a loop in the place of a file neither block nor are followed")
    func hostileFiles() {
        system.plugUSB(0)
        let vendor = FakeSystem.usb("1-2.3") + "/idVendor"
        unsafe unlink(system.path(vendor))
        #expect(unsafe mkfifo(system.path(vendor), 0o600) == 0)
        #expect(read(0).usb == nil)
        unsafe unlink(system.path(vendor))
        system.folder(vendor)
        #expect(read(0).usb == nil)
        unsafe rmdir(system.path(vendor))
        system.link(vendor, to: "idProduct")
        #expect(read(0).usb == nil)
        system.write(FakeSystem.usb("1-2.3") + "/product", [0x42, 0xFF, 0xFE])
        system.link("class/bluetooth/hci7", to: "hci7")
        #expect(read(7) == AdapterHardware(index: 7))
    }

    @Test(
        "the ports on the way to a device, and nothing else, are a port",
        arguments: [
            ("1-2", true), ("1-2.3.4", true), ("12-1.14", true), ("usb1", false), ("1-", false), ("-1", false),
            ("1-2.", false), ("1-2..3", false), ("1-2:1.0", false), ("1-2/../3", false), ("1-2-3", false), ("", false),
        ])
    func ports(text: String, isPort: Bool) { #expect(AdapterHardware.isPort(text) == isPort) }

    // MARK: Reset

    private let wanted = AdapterHardware.USBDevice(
        vendor: 0x0BDA, product: 0x8771, release: 0x0200, port: "1-2.3", bus: 1, device: 7)

    private func reset() -> AdapterResetError? {
        do throws(AdapterResetError) {
            try AdapterReset.resetUSB(wanted, devices: system.path("usb"))
            return nil
        } catch { return error }
    }

    @Test(
        "a USB device is reset only if it is still the one that sysfs described; what is wrong is said with the remedy (A78)"
    )
    func usbReset() {
        var combined = wanted
        combined.otherDrivers = ["mt7921u"]
        #expect(throws: AdapterResetError.hasOtherFunctions(["mt7921u"])) {
            try AdapterReset.resetUSB(combined, devices: system.path("usb"))
        }
        #expect(reset() == .noDeviceFile(system.path("usb/001/007")))
        system.folder("usb/001")
        // The descriptor of another device, which has taken the number.
        var descriptor: [UInt8] = [18, 1, 0, 2, 0xE0, 1, 1, 64, 0xDA, 0x0B, 0x72, 0x87, 0, 2, 0, 0, 0, 1]
        system.write("usb/001/007", descriptor)
        #expect(reset() == .anotherDevice(system.path("usb/001/007")))
        system.write("usb/001/007", [])
        #expect(reset() == .anotherDevice(system.path("usb/001/007")))
        descriptor[10] = 0x71
        system.write("usb/001/007", descriptor)
        // The right one, but a file is no device.
        #expect(reset() == .system(call: "USBDEVFS_RESET", code: ENOTTY))
        #expect(AdapterResetError.permissionDenied("/dev/bus/usb/001/007").description.contains("udev rule"))
        #expect(AdapterResetError.permissionDenied("/dev/bus/usb/001/007").description.contains("DeviceAllow="))
    }

    @Test("an adapter without a USB device is switched off and on by its own rfkill switch (A78)")
    func cycle() {
        system.folder("devices/virtual/bluetooth/hci4/rfkill9")
        system.link("class/bluetooth/hci4", to: "../../devices/virtual/bluetooth/hci4")
        system.write("rfkill", "")
        let appended = system.path("rfkill")
        #expect(throws: AdapterResetError.noSwitch(index: 3)) {
            try AdapterReset.cycleSwitch(ofAdapter: 3, device: appended, root: system.root)
        }
        // Each write begins at the start of a plain file: the last one is left.
        #expect(throws: Never.self) {
            try AdapterReset.cycleSwitch(ofAdapter: 4, device: appended, root: system.root)
        }
        #expect(Array(system.read("rfkill").utf8) == [9, 0, 0, 0, 2, 2, 0, 0])
        #expect(throws: AdapterResetError.noSwitch(index: 4)) {
            try AdapterReset.cycleSwitch(ofAdapter: 4, device: system.path("none"), root: system.root)
        }
    }

    // MARK: LE

    @Test("adapters that have no LE are passed over, and a machine with such only says so (A8)")
    func lowEnergy() throws {
        let zero = DeviceAddress(value: 0, kind: .public)
        let old = KernelAdapter(index: 0, name: "hci0", address: zero, hasLowEnergy: false)
        let unknown = KernelAdapter(index: 1, name: "hci1", address: zero, hasLowEnergy: nil)
        let new = KernelAdapter(index: 2, name: "hci2", address: zero, hasLowEnergy: true)
        #expect(try AdapterList.candidates(among: [old, unknown, new]) == [unknown, new])
        #expect(throws: TransportError.noAdapter) { try AdapterList.candidates(among: []) }
        #expect(throws: TransportError.noLowEnergyAdapter(present: ["hci0"])) {
            try AdapterList.candidates(among: [old])
        }
        let text = TransportError.noLowEnergyAdapter(present: ["hci0"]).description
        #expect(text.contains("hci0 has classic Bluetooth (BR/EDR) only") && text.contains("4.0"))
    }
}
