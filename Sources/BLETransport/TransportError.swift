import BLEChips
import BLELinux

/// Why a transport could not be opened, or ended. The description of each names the cause and the remedy.
public enum TransportError: Error, Equatable, Sendable {
    /// The text names no transport; `reason` is what is wrong with it, if it is like one of the forms.
    case invalidAddress(String, reason: String? = nil)
    /// This program does not offer transports of this kind.
    case notOffered(TransportAddress)

    /// The kernel was built or started without Bluetooth.
    case noBluetoothInKernel
    /// No adapter has this index; `present` has the names of the existing ones.
    case noSuchAdapter(index: UInt16, present: [String])
    /// The machine has no adapter.
    case noAdapter
    /// The machine has adapters, but none with LE; `present` has their names.
    case noLowEnergyAdapter(present: [String])
    /// The process lacks a capability that this channel requires.
    case permissionDenied(TransportAddress, capability: Capability, program: String)
    /// The user channel requires an adapter that is down. `daemon` is BlueZ's daemon, if it runs.
    case adapterUp(index: UInt16, daemon: HoldingProcess?)
    /// Another process has opened the adapter's user channel. `holders` are all processes with HCI sockets, because the
    /// kernel does not say which one it is; empty if this process may not inspect others.
    case adapterBusy(index: UInt16, holders: [HoldingProcess])
    /// The kernel is still setting the adapter up, or has failed to: it tells nobody which, and keeps an adapter that it
    /// could not set up to itself (Linux, net/bluetooth/hci_core.c, HCI_SETUP).
    case adapterInSetup(index: UInt16)
    /// The raw channel requires an adapter that is up.
    case adapterDown(index: UInt16)
    /// The radio is switched off by rfkill.
    case adapterBlocked(index: UInt16)
    /// The adapter was removed while it was open.
    case adapterRemoved(index: UInt16)

    /// The host's name could not be resolved; `reason` is the resolver's.
    case hostNotFound(String, reason: String)
    /// No process listens at this address.
    case connectionRefused(TransportAddress)
    /// No process answered within `Transports.connectTimeoutSeconds`.
    case connectionTimedOut(TransportAddress)
    /// The file, socket or device does not exist.
    case pathNotFound(String)
    /// The file's mode forbids it.
    case pathForbidden(String)
    /// The path is not a serial port.
    case notASerialPort(String)
    /// The serial port is in use: by these processes, or by the kernel's own Bluetooth (`holders` is empty).
    case serialPortBusy(String, holders: [HoldingProcess])
    /// The serial port does not support this speed; `nearest` is what its driver chose instead.
    case unsupportedBaud(String, requested: UInt32, nearest: UInt32)

    /// A USB device could not be used, or can be used no longer.
    case usb(USBFailure)

    /// The simulator plays no family of this name, and no file has it; `nearest` is what may have been meant.
    case unknownPreset(String, nearest: String?, known: [String])
    /// A scenario or a capture that plays the controller cannot be used: the file and the reason.
    case unusableFile(String, reason: String)

    /// No daemon listens at this path.
    case noDaemon(path: String)
    /// At the socket of a daemon another user listens, who is neither root nor the owner that was named.
    case untrustedDaemon(path: String, user: UInt32)
    /// The daemon ended the connection, for this reason.
    case daemonEnded(reason: String)

    /// The other side closed the stream.
    case closedByPeer
    /// The stream lost its framing: this octet is not a packet type.
    case framingLost(packetType: UInt8)
    /// The controller has not answered HCI Reset; these octets came instead, and no packet could be found in them.
    case noResetAnswer(byteCount: Int)
    /// On the serial port nothing establishes a three-wire link.
    case noThreeWirePeer
    /// The chip behind the serial port could not be started.
    case chipFailed(ChipFailure)
    /// The controller has stopped reading: this many bytes wait to be sent.
    case sendQueueFull(byteCount: Int)
    /// A system call failed with an error that has no case here.
    case system(call: String, code: Int32)

    /// A Linux capability (capabilities(7)).
    public enum Capability: String, Sendable {
        /// Required by the user channel.
        case netAdmin = "CAP_NET_ADMIN"
        /// Required by the raw channel.
        case netRaw = "CAP_NET_RAW"
    }
}

extension TransportError: CustomStringConvertible {
    /// The cause, and after a semicolon the remedy, if one is known.
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }

    /// What went wrong, without the remedy.
    public var cause: String {
        switch self {
        case .invalidAddress(let text, let reason):
            "‘\(text)’ is not a transport" + (reason.map { ": \($0)" } ?? "")
        case .unknownPreset(let name, _, _):
            "there is no preset ‘\(name)’, and no file of that name"
        case .unusableFile(let path, let reason):
            "‘\(path)’: \(reason)"
        case .notOffered(let address):
            "the transport \(address) is not supported by this program"
        case .noBluetoothInKernel:
            "this kernel has no Bluetooth"
        case .noSuchAdapter(let index, let present):
            "there is no adapter hci\(index): "
                + (present.isEmpty ? "there are no adapters" : "there is " + present.joined(separator: ", "))
        case .noAdapter:
            "there is no Bluetooth adapter"
        case .noLowEnergyAdapter(let present):
            "there is no adapter with Bluetooth LE: \(present.joined(separator: ", ")) "
                + (present.count == 1 ? "has" : "have") + " classic Bluetooth (BR/EDR) only"
        case .permissionDenied(let address, let capability, _):
            "no permission to open \(address): this needs \(capability.rawValue)"
        case .adapterUp(let index, let daemon):
            "hci\(index) is up, but the user channel needs it down"
                + (daemon.map { ": \($0) is running and powers adapters" } ?? "")
        case .adapterBusy(let index, let holders):
            "hci\(index) is busy: a process holds its user channel"
                + (holders.isEmpty ? "" : ", and HCI sockets are open in \(list(holders))")
        case .adapterInSetup(let index):
            "hci\(index) is busy: the kernel is still setting it up, or has failed to"
        case .adapterDown(let index):
            "hci\(index) is down, but the raw channel needs it up"
        case .adapterBlocked(let index):
            "the radio of hci\(index) is switched off"
        case .adapterRemoved(let index):
            "the adapter hci\(index) disappeared: it was unplugged, reset by its driver, or taken down"
        case .hostNotFound(let host, let reason):
            "the host ‘\(host)’ was not found: \(reason)"
        case .connectionRefused(let address):
            "nothing is listening at \(address)"
        case .connectionTimedOut(let address):
            "\(address) did not answer within \(Transports.connectTimeoutSeconds) seconds"
        case .pathNotFound(let path):
            "‘\(path)’ does not exist"
        case .pathForbidden(let path):
            "no permission to use ‘\(path)’"
        case .notASerialPort(let path):
            "‘\(path)’ is not a serial port"
        case .serialPortBusy(let path, let holders):
            "the serial port ‘\(path)’ is in use by "
                + (holders.isEmpty ? "the kernel's Bluetooth or another program" : list(holders))
        case .unsupportedBaud(let path, let requested, _):
            "the serial port ‘\(path)’ does not support \(requested) baud"
        case .usb(let failure):
            failure.cause
        case .noDaemon(let path):
            "no daemon listens at ‘\(path)’"
        case .untrustedDaemon(let path, let user):
            "user \(user) listens at ‘\(path)’, not root and not you"
        case .daemonEnded(let reason):
            "the daemon ended the connection: \(reason)"
        case .closedByPeer:
            "the controller closed the connection"
        case .framingLost(let packetType):
            "lost synchronisation: \(hexadecimal(packetType)) is not an H4 packet type"
        case .noResetAnswer(let byteCount):
            "the controller did not answer HCI Reset: \(byteCount) octets came that are not an answer"
        case .noThreeWirePeer:
            "nothing at the serial port answers as a controller with a three-wire link (H5)"
        case .chipFailed(let failure): failure.cause
        case .sendQueueFull(let byteCount):
            "the controller stopped accepting data, and \(byteCount) bytes are waiting"
        case .system(let call, let code):
            "\(call) failed: \(describeSystemError(code))"
        }
    }

    /// What to do about it; `nil` if no remedy is known.
    public var remedy: String? {
        switch self {
        case .invalidAddress(_, let reason):
            reason == nil ? "use one of: " + TransportAddress.forms.joined(separator: ", ") : nil
        case .unknownPreset(_, let nearest, let known):
            (nearest.map { "did you mean ‘\($0)’? Presets: " } ?? "presets: ") + known.joined(separator: ", ")
        case .noBluetoothInKernel:
            "load it with ‘modprobe bluetooth’ (and the adapter's driver, e.g. ‘btusb’), or use a kernel built with "
                + "CONFIG_BT (a container uses the host's kernel)"
        case .noSuchAdapter(_, let present):
            present.isEmpty ? "plug one in, or check ‘rfkill list’ and ‘dmesg’" : nil
        case .noAdapter: "plug one in, check ‘rfkill list’ and ‘dmesg’, or choose another transport"
        case .noLowEnergyAdapter: "plug in one of Bluetooth 4.0 or later, or choose another transport"
        case .permissionDenied(_, let capability, let program):
            "run as root, or grant the capability with ‘sudo setcap \(capability.setcapName)+ep \(program)’"
        case .adapterUp(let index, let daemon):
            (daemon == nil
                ? "take it down with ‘hciconfig hci\(index) down’ or ‘btmgmt --index \(index) power off’"
                : "power this one off with ‘bluetoothctl power off’ or ‘btmgmt --index \(index) power off’, or stop it "
                    + "with ‘systemctl stop bluetooth’") + ", or share it through raw:\(index)"
        case .adapterBusy(_, let holders): "stop it first" + (holders.isEmpty ? " (run as root to see which one)" : "")
        case .adapterInSetup:
            "try again in a few seconds; if that does not help, ‘dmesg’ says why, and the transport usb needs no Bluetooth in "
                + "the kernel"
        case .adapterDown(let index):
            "bring it up with ‘hciconfig hci\(index) up’ or ‘bluetoothctl power on’ (see ‘rfkill list’ if that fails), "
                + "or use it exclusively with user:\(index)"
        case .adapterBlocked: "see ‘rfkill list’, switch it on with ‘rfkill unblock bluetooth’"
        case .connectionRefused: "start the controller's program first, or correct the address"
        case .connectionTimedOut: "check host, port and firewall"
        case .pathNotFound: "start the controller's program or plug the device in, or correct the path"
        case .pathForbidden:
            "see its mode with ‘ls -l’; serial ports often belong to the group dialout, and bled lets in other users with "
                + "--allow"
        case .serialPortBusy(_, let holders):
            holders.isEmpty ? "stop ‘btattach’ or the program that uses it" : "stop it first"
        case .unsupportedBaud(_, _, let nearest): "use \(nearest), the nearest speed that it supports"
        case .usb(let failure): failure.remedy
        case .noDaemon(let path): "start one with ‘bled --socket \(path)’, or name a controller of your own (user:0)"
        case .untrustedDaemon(_, let user):
            "if that user runs bled for you, set JELLING_SOCKET_OWNER=\(user); otherwise remove the socket, or name another "
                + "one (bled:PATH, JELLING_SOCKET)"
        case .framingLost, .noResetAnswer:
            "check the baud rate, the framing (‘,h5’ is for three wires), the flow control, and that a controller is connected"
        case .chipFailed(let failure): failure.remedy
        case .noThreeWirePeer:
            "check the baud rate and the wires, and that the controller speaks H5; for H4 leave out ‘,h5’, and "
                + "‘chip=realtek’, whose chips speak H5 only"
        case .closedByPeer:
            "start it again, or stop the other program that uses it: such a controller has one client at a time"
        case .unusableFile, .notOffered, .adapterRemoved, .hostNotFound, .notASerialPort, .daemonEnded, .sendQueueFull,
            .system:
            nil
        }
    }

    private func list(_ processes: [HoldingProcess]) -> String {
        processes.map(\.description).joined(separator: ", ")
    }

    private func hexadecimal(_ octet: UInt8) -> String {
        (octet < 16 ? "0x0" : "0x") + String(octet, radix: 16)
    }
}

extension TransportError.Capability {
    /// As setcap(8) spells it.
    var setcapName: String { self == .netAdmin ? "cap_net_admin" : "cap_net_raw" }
}

/// A process that uses the adapter or the device.
public struct HoldingProcess: Hashable, Sendable, CustomStringConvertible {
    /// The process identifier.
    public let identifier: Int32
    /// The process's short name, as `ps` prints it.
    public let name: String

    public init(identifier: Int32, name: String) {
        self.identifier = identifier
        self.name = name
    }

    /// `bluetoothd (process 123)`.
    public var description: String { "\(name) (process \(identifier))" }
}

/// What an errno value means.
func describeSystemError(_ code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        guard let text = buffer.baseAddress else { return "error \(code)" }
        unsafe clinux_describe_error(code, text, buffer.count)
        return unsafe String(cString: text)
    }
}
