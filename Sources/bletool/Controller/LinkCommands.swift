import BLE

extension ControllerCommands {
    /// Makes a link that the engine knows nothing of: the kernel's stack adopts it.
    func connect(
        to peer: DeviceAddress?, ownAddressType: OwnAddressType, patience: Duration?
    ) async throws -> (
        handle: ConnectionHandle, peer: DeviceAddress
    ) {
        let command = LECreateConnection(
            filterPolicy: peer == nil ? .acceptList : .peerAddress,
            peerAddress: peer ?? DeviceAddress(value: 0, kind: .public), ownAddressType: ownAddressType,
            parameters: LEConnectionParameters(
                minimumInterval: .milliseconds(15), maximumInterval: .milliseconds(30),
                supervisionTimeout: .milliseconds(5000)))
        do {
            let (status, handle, address) = try await send(command, patience: patience) {
                event -> (HCIStatus, ConnectionHandle, DeviceAddress)? in
                switch event {
                case .leConnectionComplete(let event):
                    (event.status, event.connectionHandle, event.peerAddress)
                case .leEnhancedConnectionComplete(let event):
                    (event.status, event.connectionHandle, event.peerAddress)
                default: nil
                }
            }
            try Self.check(status, "the connection could not be made")
            return (handle, address)
        } catch {
            _ = try? await Task { try await send(LECreateConnectionCancel()) }.value
            throw error
        }
    }

    /// Ends a link.
    /// - Returns: the reason that the controller tells.
    func disconnect(_ handle: ConnectionHandle, reason: HCIStatus) async throws -> HCIStatus {
        let (status, told) = try await send(Disconnect(connectionHandle: handle, reason: reason)) {
            event -> (HCIStatus, HCIStatus)? in
            guard case .disconnectionComplete(let event) = event, event.connectionHandle == handle else { return nil }
            return (event.status, event.reason)
        }
        try Self.check(status, "the link could not be ended")
        return told
    }

    /// Changes a link's parameters.
    func update(
        _ handle: ConnectionHandle, _ parameters: LEConnectionParameters
    ) async throws -> LEConnectionUpdateComplete {
        let end = try await send(LEConnectionUpdate(connectionHandle: handle, parameters: parameters)) {
            event -> LEConnectionUpdateComplete? in
            guard case .leConnectionUpdateComplete(let event) = event, event.connectionHandle == handle else {
                return nil
            }
            return event
        }
        try Self.check(end.status, "the parameters could not be changed")
        return end
    }

    func readRemoteVersion(_ handle: ConnectionHandle) async throws -> PeerVersion {
        let end = try await send(ReadRemoteVersionInformation(connectionHandle: handle)) {
            event -> ReadRemoteVersionInformationComplete? in
            guard case .readRemoteVersionInformationComplete(let event) = event, event.connectionHandle == handle
            else { return nil }
            return event
        }
        try Self.check(end.status, "the device does not tell its version")
        return PeerVersion(
            version: end.version.rawValue, company: end.manufacturer.rawValue, subversion: end.subversion)
    }

    func readRemoteFeatures(_ handle: ConnectionHandle) async throws -> LEFeatures {
        let end = try await send(LEReadRemoteFeatures(connectionHandle: handle)) {
            event -> LEReadRemoteFeaturesComplete? in
            guard case .leReadRemoteFeaturesComplete(let event) = event, event.connectionHandle == handle else {
                return nil
            }
            return event
        }
        try Self.check(end.status, "the device does not tell its features")
        return end.features
    }
}

/// What the controller of a device says it is (Core 5.4, Vol 4, Part E, 7.7.12).
struct PeerVersion: Sendable {
    var version: UInt8
    var company: UInt16
    var subversion: UInt16

    var name: String { HCIVersion(rawValue: version).name ?? Hexadecimal.number(version, digits: 2) }
}
