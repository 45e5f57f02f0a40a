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
            "uart:/dev/by-id/usb@1.2@115200,noflow",
            .serialPort(device: "/dev/by-id/usb@1.2", baud: 115_200, hasFlowControl: false)
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

    @Test(
        "anything else is an error that lists the forms",
        arguments: [
            "", "hci0", "0", "user", "user:", "user:x", "user:-1", "user:+1", "user:65535", "user:65536", "user: 1",
            "raw:", "raw:0x1", "unix:", "unix:@", "unix:a\0b", "tcp:", "tcp:host", "tcp:host:", "tcp:host:0",
            "tcp:host:65536", "tcp:host:-1", "tcp::9000", "tcp:::1:9000", "tcp:[::1]", "tcp:[]:1", "tcp:[host]:1",
            "tcp:[::1:1", "uart:", "uart:/dev/tty", "uart:/dev/tty@", "uart:@9600", "uart:/dev/tty@0",
            "uart:/dev/tty@fast", "uart:/dev/tty@9600,flow", "uart:/dev/tty@99999999999", "sim:", "replay", "replay:",
            "USER:0", "serial:/dev/tty",
        ])
    func rejects(text: String) {
        do throws(TransportError) {
            _ = try TransportAddress(text)
            Issue.record("‘\(text)’ was taken")
        } catch {
            #expect(error == .invalidAddress(text))
            for form in TransportAddress.forms { #expect(error.description.contains(form)) }
        }
    }
}
