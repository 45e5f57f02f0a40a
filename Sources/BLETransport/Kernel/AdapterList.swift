import BLELinux
import BLEPackets
import Glibc

/// Asks the kernel for its adapters and their connections. It needs no permission.
public enum AdapterList {
    /// The adapters, lowest index first.
    /// - Throws: `TransportError.noBluetoothInKernel`, or `system`.
    public static func adapters() throws(TransportError) -> [KernelAdapter] {
        let descriptor = try openSocket()
        defer { close(descriptor) }
        var indexes = [UInt16](repeating: 0, count: HCILimit.adapters)
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
    /// - Throws: `TransportError.noAdapter`, `noLowEnergyAdapter`, `noBluetoothInKernel`, or `system`.
    public static func first() throws(TransportError) -> KernelAdapter {
        guard let first = try candidates().first else { throw .noAdapter }
        return first
    }

    /// The adapters that may have LE, lowest index first; at least one.
    /// - Throws: `TransportError.noAdapter`, `noLowEnergyAdapter`, `noBluetoothInKernel`, or `system`.
    public static func candidates() throws(TransportError) -> [KernelAdapter] { try candidates(among: adapters()) }

    static func candidates(among present: [KernelAdapter]) throws(TransportError) -> [KernelAdapter] {
        let found = present.filter(\.mayHaveLowEnergy)
        guard found.isEmpty else { return found }
        throw present.isEmpty ? .noAdapter : .noLowEnergyAdapter(present: present.map(\.name))
    }

    /// The connections of the kernel's own stack through an adapter.
    /// - Throws: `TransportError.noSuchAdapter`, `noBluetoothInKernel`, or `system`.
    public static func connections(of index: UInt16) throws(TransportError) -> [KernelConnection] {
        let descriptor = try openSocket()
        defer { close(descriptor) }
        var found = [CLinuxConnection](repeating: CLinuxConnection(), count: HCILimit.connections)
        let count = unsafe clinux_hci_list_connections(descriptor, index, &found)
        guard count >= 0 else {
            let code = errno
            guard code == ENODEV else { throw .system(call: "HCIGETCONNLIST", code: code) }
            throw .noSuchAdapter(index: index, present: try adapters().map(\.name))
        }
        return found[..<Int(count)].map { info in
            KernelConnection(
                handle: UInt16(truncatingIfNeeded: info.handle), addressValue: info.address,
                link: KernelConnection.Link(rawValue: UInt8(truncatingIfNeeded: info.type)) ?? .other,
                isOutgoing: info.isOutgoing != 0,
                state: KernelConnection.State(rawValue: UInt16(truncatingIfNeeded: info.state)) ?? .other,
                mode: KernelConnection.Mode(rawValue: info.mode))
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
        var info = CLinuxAdapter()
        guard unsafe clinux_hci_adapter_info(descriptor, index, &info) == 0 else { return nil }
        let name = unsafe withUnsafeBytes(of: info.name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let type = UInt8(truncatingIfNeeded: info.type)
        return KernelAdapter(
            index: index, name: name,
            address: DeviceAddress(value: info.address, kind: .public),
            isUp: info.isUp != 0,
            // The bus is in the low four bits, the kind in the next two.
            bus: KernelAdapter.Bus(rawValue: type & 0x0F) ?? .other,
            kind: KernelAdapter.Kind(rawValue: type >> 4 & 0x03) ?? .other,
            aclByteCount: UInt16(truncatingIfNeeded: info.aclByteCount),
            aclPacketCount: UInt16(truncatingIfNeeded: info.aclPacketCount),
            hasLowEnergy: info.features == 0 ? nil : info.features >> 38 & 1 == 1)
    }
}
