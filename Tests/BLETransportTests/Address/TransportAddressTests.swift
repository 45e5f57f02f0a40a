import BLEChips
import BLEPackets
import Testing

@testable import BLETransport

@Suite("Transport address")
struct TransportAddressTests {
    static let valid: [(String, TransportAddress)] = [
        ("user:0", .userChannel(adapter: 0)),
        ("raw:15", .rawChannel(adapter: 15)),
        ("unix:/tmp/bt-server-le", .unix(path: "/tmp/bt-server-le")),
        ("unix:relative:with:colons", .unix(path: "relative:with:colons")),
        ("unix:@abstract", .unix(path: "@abstract")),
        ("tcp:127.0.0.1:9000", .tcp(host: "127.0.0.1", port: 9000)),
        ("tcp:controller.local:65535", .tcp(host: "controller.local", port: 65535)),
        ("tcp:[::1]:9000", .tcp(host: "::1", port: 9000)),
        ("tcp:[fe80::1%eth0]:1", .tcp(host: "fe80::1%eth0", port: 1)),
        ("uart:/dev/ttyACM0@1000000", .serialPort(device: "/dev/ttyACM0", baud: 1_000_000, hasFlowControl: true)),
        (
            "uart:/dev/by-id/usb@1.2@115200,flow=none",
            .serialPort(device: "/dev/by-id/usb@1.2", baud: 115_200, hasFlowControl: false)
        ),
        ("usb", .usb(.first)),
        ("usb:0a12:0001", .usb(.identifiers(vendor: 0x0A12, product: 1))),
        ("usb:ffff:00ff", .usb(.identifiers(vendor: 0xFFFF, product: 0xFF))),
        ("usb:1-2", .usb(.port("1-2"))),
        ("usb:10-2.3.255.1.1.1.1", .usb(.port("10-2.3.255.1.1.1.1"))),
        (
            "uart:/dev/ttyS1@921600,chip=broadcom,address=B8:27:EB:01:02:03",
            .serialPort(
                device: "/dev/ttyS1", baud: 921_600,
                chip: SerialChip(
                    family: .broadcom, address: DeviceAddress(value: 0xB827_EB01_0203, kind: .public)))
        ),
        ("uart:/dev/ttyS1@115200,h5", .serialPort(device: "/dev/ttyS1", baud: 115_200, framing: .h5)),
        (
            "uart:/dev/ttyS1@115200,h5,flow=none",
            .serialPort(device: "/dev/ttyS1", baud: 115_200, hasFlowControl: false, framing: .h5)
        ),
        ("sim", .simulator(scenario: nil)),
        ("sim:two devices.json", .simulator(scenario: "two devices.json")),
        ("replay:walk.btsnoop", .replay(path: "walk.btsnoop")),
    ]

    @Test("every form is read, and prints back as it was written", arguments: valid)
    func roundTrip(text: String, address: TransportAddress) throws {
        #expect(try TransportAddress(text) == address)
        #expect(address.description == text)
    }

    @Test("other spellings of a USB device are read, too")
    func otherSpellings() throws {
        #expect(try TransportAddress("usb:first") == .usb(.first))
        #expect(try TransportAddress("usb:0A12:00fF") == .usb(.identifiers(vendor: 0x0A12, product: 0xFF)))
    }

    @Test("options of a serial port are read in any order, and in their older spelling")
    func serialOptions() throws {
        let address = TransportAddress.serialPort(device: "/dev/x", baud: 9600, hasFlowControl: false, framing: .h5)
        #expect(try TransportAddress("uart:/dev/x@9600,noflow,h5") == address)
        #expect(try TransportAddress("uart:/dev/x@9600,h5,flow=none") == address)
    }

    @Test(
        "anything else is an error that names the mistake or lists the forms",
        arguments: [
            "", "hci0", "0", "user", "user:", "user:x", "user:-1", "user:+1", "user:65535", "user:65536", "user: 1",
            "raw:", "raw:0x1", "unix:", "unix:@", "unix:a\0b", "tcp:", "tcp:host", "tcp:host:", "tcp:host:0",
            "tcp:host:65536", "tcp:host:-1", "tcp::9000", "tcp:::1:9000", "tcp:[::1]", "tcp:[]:1", "tcp:[host]:1",
            "tcp:[::1:1", "uart:", "uart:/dev/tty", "uart:/dev/tty@", "uart:@9600", "uart:/dev/tty@0",
            "uart:/dev/tty@fast", "uart:/dev/tty@9600,flow", "uart:/dev/tty@9600,h6",
            "uart:/dev/tty@9600,h5,h5", "uart:/dev/tty@9600,chip=", "uart:/dev/tty@9600,chip=x",
            "uart:/dev/tty@9600,chip=ti,chip=ti", "uart:/dev/tty@9600,address=B8:27:EB:01:02:03",
            "uart:/dev/tty@9600,chip=ti,address=B8:27:EB:01:02",
            "uart:/dev/tty@9600,chip=ti,address=B8:27:EB:01:02:03/random",
            "uart:/dev/tty@9600,", "uart:/dev/tty@9600,noflow,flow=none",
            "uart:/dev/tty@99999999999", "sim:", "replay", "replay:",
            "USER:0", "serial:/dev/tty", "usb:", "usb:second", "usb:0a12", "usb:a12:1", "usb:0a12:0001:1",
            "usb:0x12:0001",
            "usb:0a12:", "usb::", "usb:+a12:0001", "usb:1", "usb:1-", "usb:-1", "usb:1-2-3", "usb:1-02", "usb:0-1",
            "usb:1-0",
            "usb:1-2.", "usb:1-2..3", "usb:1-256", "usb:1-+2", "usb:1-1.1.1.1.1.1.1.1", "usb:1-2:1.0", "usb:../etc",
        ])
    func rejects(text: String) {
        do throws(TransportError) {
            _ = try TransportAddress(text)
            Issue.record("‘\(text)’ was taken")
        } catch {
            guard case .invalidAddress(text, let reason) = error else { return #expect(Bool(false), "\(error)") }
            guard reason == nil else { return }
            for form in TransportAddress.forms { #expect(error.description.contains(form)) }
        }
    }

    @Test(
        "the part that is wrong is named, and what would be right",
        arguments: [
            ("uart:/dev/tty@fast", "‘fast’ is no speed (such as 115200)"),
            ("uart:/dev/tty@0", "‘0’ is no speed (such as 115200)"),
            ("uart:/dev/tty", "the speed is missing: uart:DEVICE@BAUD, such as uart:/dev/ttyUSB0@115200"),
            ("uart:/dev/tty@9600,h6", "there is no option ‘h6’: h5, flow=none, chip=NAME, address=ADDRESS"),
            ("uart:/dev/tty@9600,h5,h5", "‘h5’ is there twice"),
            ("uart:/dev/tty@9600,flow=soft", "there is no flow control ‘soft’: ‘flow=none’, or nothing for RTS/CTS"),
            ("uart:/dev/tty@9600,chip=foo", "there is no chip ‘foo’: auto, broadcom, realtek, zephyr, ti"),
            ("uart:/dev/tty@9600,address=B8:27:EB:01:02:03", "‘address=’ needs ‘chip=’"),
            (
                "usb:0a12",
                "‘0a12’ is neither VID:PID, four hexadecimal digits each (such as 0a12:0001), nor BUS-PORT (such as 1-2.3)"
            ),
            ("tcp:127.0.0.1:99999", "‘99999’ is no port: a port is 1 to 65535"),
            ("tcp:::1:9000", "write an IPv6 address in brackets: tcp:[::1]:9000"),
            ("user:", "write user:N"), ("user:x", "‘x’ is no number of an adapter (0 to 65534)"),
        ])
    func namesTheMistake(text: String, reason: String) {
        #expect(throws: TransportError.invalidAddress(text, reason: reason)) { try TransportAddress(text) }
    }
}
