import BLELinux
import Glibc

/// Brings the kernel's adapters up and takes them down.
public enum AdapterPower {
    /// Changes whether the kernel's own stack uses an adapter. One that is in the wanted state already stays in it.
    /// - Throws: `TransportError.noSuchAdapter`, `permissionDenied` (CAP_NET_ADMIN), `adapterBlocked`, `adapterBusy`,
    ///   `noBluetoothInKernel`, or `system`.
    public static func set(_ isOn: Bool, adapter index: UInt16) throws(TransportError) {
        let descriptor = try AdapterList.openSocket()
        defer { close(descriptor) }
        guard clinux_hci_set_power(descriptor, index, isOn ? 1 : 0) < 0 else { return }
        let code = errno
        switch code {
        case EALREADY: return
        case EPERM, EACCES:
            throw .permissionDenied(
                .userChannel(adapter: index), capability: .netAdmin, program: HoldingProcesses.ownProgram())
        case ENODEV: throw .noSuchAdapter(index: index, present: try AdapterList.adapters().map(\.name))
        case ERFKILL: throw .adapterBlocked(index: index)
        case EBUSY: throw .adapterBusy(index: index, holders: HoldingProcesses.withHCISockets())
        default: throw .system(call: isOn ? "HCIDEVUP" : "HCIDEVDOWN", code: code)
        }
    }
}
