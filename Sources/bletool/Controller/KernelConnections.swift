import BLE

/// The connections of the kernel's stack, which `raw:` shares.
struct KernelConnections: Sendable {
    let adapter: UInt16

    func all() throws -> [KernelConnection] {
        do throws(TransportError) {
            return try AdapterList.connections(of: adapter)
        } catch {
            throw Failure.notOpened(error)
        }
    }

    /// The handle of the LE connection to a device; `nil` if there is none. The kernel does not report the type of the
    /// address.
    func handle(of peer: PeerArgument) throws -> ConnectionHandle? {
        let value: UInt64
        switch peer {
        case .address(let address), .untypedAddress(let address): value = address.value
        case .name: return nil
        }
        return try all().first { $0.addressValue == value && $0.link == .le && $0.state == .connected }
            .map { ConnectionHandle(rawValue: $0.handle) }
    }
}
