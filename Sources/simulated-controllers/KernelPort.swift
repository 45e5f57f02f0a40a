import BLETransport
import Glibc

/// A place for a controller in this machine's kernel: the device /dev/vhci of Linux (`hci_vhci.c`).
struct KernelPort {
    /// Packets follow on it, one with each read and write, with their type octet.
    let descriptor: Int32
    /// N of hciN.
    let index: UInt16

    static let path = "/dev/vhci"
    /// The octet before vendor packets, which are those about the place itself.
    private static let vendorPacket: UInt8 = 0xFF

    /// Asks the kernel for an adapter, which it brings up by itself.
    /// - Throws: `TransportError.unusableFile` without the module `hci_vhci` or the right, `system` for other failures.
    init() throws(TransportError) {
        descriptor = unsafe open(Self.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENXIO, ENODEV:
                throw .unusableFile(
                    Self.path, reason: "this kernel has no virtual adapters: load them with ‘modprobe hci_vhci’ as root"
                )
            case EACCES, EPERM: throw .unusableFile(Self.path, reason: "only root may make adapters: run this as root")
            default: throw .system(call: "open", code: errno)
            }
        }
        // An adapter of type 0, primary, without external configuration.
        let request: [UInt8] = [Self.vendorPacket, 0x00]
        guard unsafe write(descriptor, request, request.count) == request.count else {
            throw Self.error("write", descriptor)
        }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &answer, answer.count)
        guard count == 4, answer[0] == Self.vendorPacket else { throw Self.error("read", descriptor) }
        index = UInt16(answer[2]) | UInt16(answer[3]) << 8
    }

    private static func error(_ call: String, _ descriptor: Int32) -> TransportError {
        let code = errno
        close(descriptor)
        return .system(call: call, code: code)
    }
}
