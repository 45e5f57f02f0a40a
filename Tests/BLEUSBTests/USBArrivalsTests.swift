import BLETransport
import Testing

@testable import BLEUSB

@Suite("USB devices that are plugged in")
struct USBArrivalsTests {
    static func message(_ fields: String...) -> [UInt8] { fields.flatMap { Array($0.utf8) + [0] } }

    @Test("a device that was added is one; an interface, or one that is removed, is not")
    func arrivals() {
        let head = "add@/devices/pci0000:00/usb1/1-2"
        #expect(USBArrivals.isArrival(Self.message(head, "ACTION=add", "SUBSYSTEM=usb", "DEVTYPE=usb_device")[...]))
        #expect(!USBArrivals.isArrival(Self.message(head, "ACTION=add", "SUBSYSTEM=usb", "DEVTYPE=usb_interface")[...]))
        #expect(!USBArrivals.isArrival(Self.message(head, "ACTION=remove", "DEVTYPE=usb_device")[...]))
        #expect(!USBArrivals.isArrival([]))
        #expect(!USBArrivals.isArrival([0, 0, 0xFF, 0xC3][...]))
    }

    @Test("the kernel's messages can be watched without a permission, and the watch ends")
    func watches() throws {
        let loop = try EventLoop()
        let arrivals = try USBArrivals(on: loop) {}
        arrivals.cancel()
        loop.stop()
    }
}
