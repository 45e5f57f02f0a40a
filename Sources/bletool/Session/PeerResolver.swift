import BLE

/// Finds the address of the device that the user named.
struct PeerResolver: Sendable {
    let adapter: Adapter

    /// - Returns: the address to connect to. A device that was named by its name, or by an address without its type, is
    ///   listened for until it is heard or the task is cancelled.
    func resolve(_ peer: PeerArgument) async throws -> DeviceAddress {
        switch peer {
        case .address(let address): address
        case .untypedAddress(let address): try await resolve(untyped: address)
        case .name(let name): try await listen(for: name)
        }
    }

    /// A bond knows the type.
    private func resolve(untyped address: DeviceAddress) async throws -> DeviceAddress {
        let known = await adapter.bonds.map(\.identity).filter { $0.value == address.value }
        if known.count == 1 { return known[0] }
        return try await listen(for: address.value)
    }

    /// A device says by its advertising whether its address is public or random.
    private func listen(for value: UInt64) async throws -> DeviceAddress {
        for try await discovery in adapter.scan(ScanRequest(isActive: false)) {
            if let address = discovery.address, address.value == value { return address.withoutIdentityMark }
        }
        throw Failure.interrupted
    }

    private func listen(for name: String) async throws -> DeviceAddress {
        for try await discovery in adapter.scan(ScanRequest(name: name)) {
            if let address = discovery.address, discovery.isConnectable { return address.withoutIdentityMark }
        }
        throw Failure.interrupted
    }
}

extension Session {
    /// Finds the device and connects to it.
    /// - Parameter limit: how long both may take together; `nil`: for ever.
    func connect(to peer: PeerArgument, through adapter: Adapter, within limit: Duration?) async throws -> Peripheral {
        let console = console
        console.showProgress("connecting to \(peer.text) …")
        defer { console.showProgress("") }
        return try await withTimeout(
            limit,
            overdue: Failure(
                "\(peer.text) was not reached within \(limit?.secondsText ?? "0") s; it is out of range, off, or "
                    + "does not advertise (--connect-timeout changes the limit)")
        ) {
            let address = try await PeerResolver(adapter: adapter).resolve(peer)
            return try await Self.connect(to: address, through: adapter)
        }
    }

    /// Tries again for as long as the link breaks before it stands (0x3E): the device is there and hard to reach, or
    /// the controller says so of one that it does not hear.
    private static func connect(to address: DeviceAddress, through adapter: Adapter) async throws -> Peripheral {
        while true {
            do throws(AdapterError) {
                return try await adapter.connect(to: address)
            } catch {
                guard error == .host(.connectionFailed(.connectionFailedToBeEstablished)) else { throw error }
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }
}

extension PeerArgument {
    /// As the user wrote it.
    var text: String {
        switch self {
        case .address(let address): address.description
        case .untypedAddress(let address): address.addressText
        case .name(let name): "‘\(name)’"
        }
    }

    /// With `--random` of `hcitool`.
    func asRandom(_ isRandom: Bool) -> PeerArgument {
        guard isRandom, case .untypedAddress(let address) = self else { return self }
        return .address(DeviceAddress(value: address.value, kind: .random))
    }
}
