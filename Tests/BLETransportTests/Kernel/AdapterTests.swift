import Glibc
import Testing

@testable import BLETransport

private func kernelHasBluetooth() -> Bool {
    let descriptor = socket(bluetoothFamily, Int32(SOCK_RAW.rawValue), 1)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
}

private let bluetoothFamily: Int32 = 31

@Suite("Adapters of the kernel")
struct AdapterTests {
    private func error(opening text: String) -> TransportError? {
        do throws(TransportError) {
            _ = try Transports.open(try TransportAddress(text))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a kernel without Bluetooth is reported as such, with the remedy (pain 8)",
        .disabled(if: kernelHasBluetooth(), "this machine's kernel has Bluetooth"),
        arguments: ["user:0", "raw:0"])
    func noBluetooth(address: String) {
        #expect(error(opening: address) == .noBluetoothInKernel)
        #expect(error(opening: address)?.description.contains("modprobe bluetooth") == true)
    }

    @Test(
        "adapters and connections cannot be listed without Bluetooth (pain 8)",
        .disabled(if: kernelHasBluetooth(), "this machine's kernel has Bluetooth"))
    func noList() {
        #expect(throws: TransportError.noBluetoothInKernel) { try AdapterList.adapters() }
        #expect(throws: TransportError.noBluetoothInKernel) { try AdapterList.adapter(0) }
        #expect(throws: TransportError.noBluetoothInKernel) { try AdapterList.first() }
        #expect(throws: TransportError.noBluetoothInKernel) { try AdapterList.connections(of: 0) }
    }

    @Test(
        "an adapter that does not exist is reported as such, with those that do (pain 8)",
        .enabled(if: kernelHasBluetooth(), "this machine's kernel has no Bluetooth"),
        arguments: ["user:4000", "raw:4000"])
    func noSuchAdapter(address: String) throws {
        let present = try AdapterList.adapters().map(\.name)
        #expect(error(opening: address) == .noSuchAdapter(index: 4000, present: present))
    }

    @Test("each obstacle to an adapter has an error and a remedy of its own (pain 8)")
    func texts() {
        let daemon = HoldingProcess(identifier: 7, name: "bluetoothd")
        let expected: [(TransportError, [String])] = [
            (.noSuchAdapter(index: 3, present: ["hci0", "hci1"]), ["no adapter hci3", "there is hci0, hci1"]),
            (.noSuchAdapter(index: 0, present: []), ["no adapter hci0", "rfkill list"]),
            (.noAdapter, ["no Bluetooth adapter"]),
            (
                .permissionDenied(.userChannel(adapter: 0), capability: .netAdmin, program: "/bin/x"),
                ["user:0", "CAP_NET_ADMIN", "setcap cap_net_admin+ep /bin/x"]
            ),
            (
                .permissionDenied(.rawChannel(adapter: 0), capability: .netRaw, program: "/bin/x"),
                ["raw:0", "CAP_NET_RAW", "setcap cap_net_raw+ep /bin/x"]
            ),
            (.adapterUp(index: 1, daemon: nil), ["hci1 is up", "hciconfig hci1 down", "raw:1"]),
            (.adapterUp(index: 1, daemon: daemon), ["bluetoothd (process 7)", "bluetoothctl power off", "raw:1"]),
            (.adapterBusy(index: 2, holders: [daemon]), ["user channel", "bluetoothd (process 7)"]),
            (.adapterBusy(index: 2, holders: []), ["user channel", "as root"]),
            (.adapterInSetup(index: 2), ["setting it up", "try again"]),
            (.adapterDown(index: 2), ["hciconfig hci2 up", "user:2"]),
            (.adapterBlocked(index: 2), ["rfkill unblock bluetooth"]),
            (.adapterRemoved(index: 2), ["hci2 disappeared"]),
            (.pathForbidden("/dev/ttyS0"), ["/dev/ttyS0", "dialout"]),
            (.unsupportedBaud("/dev/ttyS0", requested: 5, nearest: 50), ["/dev/ttyS0", "5 baud", "50"]),
            (.connectionTimedOut(.tcp(host: "a", port: 1)), ["tcp:a:1", "10 seconds"]),
            (.framingLost(packetType: 9), ["0x09", "baud rate"]),
            (.noThreeWirePeer, ["H5", "baud rate"]),
            (.noResetAnswer(byteCount: 12), ["12 octets", "Reset", "baud rate"]),
            (.system(call: "bind", code: EINVAL), ["bind failed: Invalid argument"]),
        ]
        for (error, parts) in expected {
            for part in parts { #expect(error.description.contains(part), "\(error)") }
        }
        #expect(Set(expected.map(\.0.description)).count == expected.count)
    }

    @Test("processes with HCI sockets are read from what the kernel lists; none where there is no Bluetooth")
    func holders() {
        if !kernelHasBluetooth() { #expect(HoldingProcesses.withHCISockets().isEmpty) }
        #expect(HoldingProcesses.ownProgram().hasPrefix("/"))
    }
}
