import BLEPackets
import CLinux
import Glibc

/// Asks the kernel for its adapters and their connections. It needs no permission.
public enum AdapterList {
    /// The adapters, lowest index first.
    /// - Throws: `TransportError.noBluetoothInKernel`, or `system`.
    public static func adapters() throws(TransportError) -> [KernelAdapter] {
        let descriptor = try openSocket()
        defer { close(descriptor) }
        var indexes = [UInt16](repeating: 0, count: Int(CLINUX_HCI_MAX_ADAPTERS))
        let count = unsafe clinux_hci_list_adapters(descriptor, &indexes)
        guard count >= 0 else { throw .system(call: "HCIGETDEVLIST", code: errno) }
        // An adapter that was removed between the two calls is left out.
        return indexes[..<Int(count)].sorted().compactMap { read($0, through: descriptor) }
    }

    /// One adapter.
    /// - Throws: `TransportError.noSuchAdapter`, `noBluetoothInKernel`, or `system`.
    public static func adapter(_ index: UInt16) throws(TransportError) -> KernelAdapter {
        let descriptor = try openSocket()
        defer { close(descriptor) }
        guard let adapter = read(index, through: descriptor) else {
            let code = errno
            guard code == ENODEV else { throw .system(call: "HCIGETDEVINFO", code: code) }
            throw .noSuchAdapter(index: index, present: try adapters().map(\.name))
        }
        return adapter
    }

    /// The first adapter with LE: the default transport.
    /// - Throws: `TransportError.noAdapter`, `noBluetoothInKernel`, or `system`.
    public static func first() throws(TransportError) -> KernelAdapter {
        guard let adapter = try adapters().first(where: { $0.kind != .amp }) else { throw .noAdapter }
        return adapter
    }

    /// The connections that the kernel's own stack holds through an adapter.
    /// - Throws: `TransportError.noSuchAdapter`, `noBluetoothInKernel`, or `system`.
    public static func connections(of index: UInt16) throws(TransportError) -> [KernelConnection] {
        let descriptor = try openSocket()
        defer { close(descriptor) }
        var found = [hci_conn_info](repeating: hci_conn_info(), count: Int(CLINUX_HCI_MAX_CONNECTIONS))
        let count = unsafe clinux_hci_list_connections(descriptor, index, &found)
        guard count >= 0 else {
            let code = errno
            guard code == ENODEV else { throw .system(call: "HCIGETCONNLIST", code: code) }
            throw .noSuchAdapter(index: index, present: try adapters().map(\.name))
        }
        return found[..<Int(count)].map { info in
            var address = info.bdaddr
            return unsafe KernelConnection(
                handle: info.handle, addressValue: clinux_hci_address(&address),
                link: KernelConnection.Link(rawValue: info.type) ?? .other, isOutgoing: info.out != 0,
                state: KernelConnection.State(rawValue: info.state) ?? .other,
                mode: KernelConnection.Mode(rawValue: info.link_mode))
        }
    }

    /// An unbound socket of the kernel's Bluetooth subsystem.
    static func openSocket() throws(TransportError) -> Int32 {
        let descriptor = clinux_hci_socket()
        guard descriptor >= 0 else {
            let code = errno
            switch code {
            case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT: throw .noBluetoothInKernel
            default: throw .system(call: "socket", code: code)
            }
        }
        return descriptor
    }

    private static func read(_ index: UInt16, through descriptor: Int32) -> KernelAdapter? {
        var info = hci_dev_info()
        guard unsafe clinux_hci_adapter_info(descriptor, index, &info) == 0 else { return nil }
        let name = unsafe withUnsafeBytes(of: info.name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return KernelAdapter(
            index: index, name: name,
            address: DeviceAddress(value: unsafe clinux_hci_address(&info.bdaddr), kind: .public),
            isUp: unsafe clinux_hci_is_up(&info) != 0,
            // The bus is in the low four bits, the kind in the next two.
            bus: KernelAdapter.Bus(rawValue: info.type & 0x0F) ?? .other,
            kind: KernelAdapter.Kind(rawValue: info.type >> 4 & 0x03) ?? .other,
            aclByteCount: info.acl_mtu, aclPacketCount: info.acl_pkts)
    }
}
