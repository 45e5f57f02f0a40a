import BLE
import BLEScripts

extension ControllerCommands {
    /// The end of an attempt to connect.
    struct Attempt: Sendable {
        var status: HCIStatus
        var handle: ConnectionHandle
        var peer: DeviceAddress

        init?(_ event: HCIEventPacket) {
            switch event {
            case .leConnectionComplete(let event) where event.role == .central:
                (status, handle, peer) = (event.status, event.connectionHandle, event.peerAddress)
            case .leEnhancedConnectionComplete(let event) where event.role == .central:
                (status, handle, peer) = (event.status, event.connectionHandle, event.peerAddress)
            default: return nil
            }
        }
    }

    /// Makes a link without the engine: the kernel's stack adopts it.
    /// - Parameter peer: `nil` for the first device of the accept list.
    func connect(
        to peer: DeviceAddress?, ownAddressType: OwnAddressType, timeout: Duration?
    ) async throws -> (handle: ConnectionHandle, peer: DeviceAddress) {
        let policy: InitiatorFilterPolicy = peer == nil ? .acceptList : .peerAddress
        let address = peer ?? DeviceAddress(value: 0, kind: .public)
        let parameters = LEConnectionParameters(
            minimumInterval: .milliseconds(15), maximumInterval: .milliseconds(30),
            supervisionTimeout: .milliseconds(5000))
        // A link that was made while the attempt was cancelled must be closed.
        let giveUp: @Sendable (@Sendable () async -> Attempt?) async -> Void = { late in
            _ = try? await send(LECreateConnectionCancel())
            if let attempt = await late(), attempt.status.isSuccess {
                _ = try? await disconnect(attempt.handle, reason: .remoteUserTerminatedConnection)
            }
        }
        let attempt: Attempt
        // A controller accepts either extended or legacy commands (Core 5.4, Vol 4, Part E, 3.1.1).
        if await adapter.information.usesExtendedCommands {
            attempt = try await send(
                LEExtendedCreateConnection(
                    filterPolicy: policy, ownAddressType: ownAddressType, peerAddress: address,
                    le1M: LEExtendedCreateConnection.Parameters(connection: parameters)),
                timeout: timeout, giveUp: giveUp, match: Attempt.init)
        } else {
            attempt = try await send(
                LECreateConnection(
                    filterPolicy: policy, peerAddress: address, ownAddressType: ownAddressType, parameters: parameters),
                timeout: timeout, giveUp: giveUp, match: Attempt.init)
        }
        try Self.check(attempt.status, "the connection failed")
        return (attempt.handle, attempt.peer)
    }

    /// Ends a link.
    /// - Returns: the reason that the controller reports.
    func disconnect(_ handle: ConnectionHandle, reason: HCIStatus) async throws -> HCIStatus {
        let (status, reported) = try await send(Disconnect(connectionHandle: handle, reason: reason)) {
            event -> (HCIStatus, HCIStatus)? in
            guard case .disconnectionComplete(let event) = event, event.connectionHandle == handle else { return nil }
            return (event.status, event.reason)
        }
        try Self.check(status, "the disconnection failed")
        return reported
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
        try Self.check(end.status, "the device did not report its version")
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
        try Self.check(end.status, "the device did not report its features")
        return end.features
    }
}

/// The version information of a device's controller (Core 5.4, Vol 4, Part E, 7.7.12).
struct PeerVersion: Sendable {
    var version: UInt8
    var company: UInt16
    var subversion: UInt16

    var name: String { HCIVersion(rawValue: version).name ?? Hexadecimal.number(version, digits: 2) }
}
