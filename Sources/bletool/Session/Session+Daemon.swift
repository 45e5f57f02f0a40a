import BLE
import BLEDaemonClient

extension Session {
    /// The socket of the daemon that this command is for; `nil` if it is for a controller or a state folder of this
    /// program's own.
    var daemonSocket: String? {
        switch transport {
        case .daemon?: transport.map { DaemonClient.socketPath(of: $0) }
        case nil: hasOwnState ? nil : DaemonClient.sharedSocketPath
        default: nil
        }
    }

    /// The socket of the daemon that `-t` names, or that is there.
    /// - Throws: `Failure` if `-t` names a controller.
    func operatedSocket() throws -> String {
        switch transport {
        case nil: DaemonClient.sharedSocketPath ?? DaemonClient.defaultSocketPath
        case .daemon?: DaemonClient.socketPath(of: try chosenTransport())
        default: throw Failure("this is for a daemon: name it with -t bled:SOCKET", status: .usage)
        }
    }

    /// Asks a daemon.
    func operate(
        _ request: DaemonOperator.Request, at socket: String? = nil
    ) async throws -> DaemonOperator.Answer {
        let path = try socket ?? operatedSocket()
        do throws(DaemonOperator.Failure) {
            return try await DaemonOperator.perform(request, at: path)
        } catch {
            if error == .cancelled { throw CancellationError() }
            // A controller of one's own, which the library suggests, has no apps and no alerts.
            if case .transport(.noDaemon(let path)) = error {
                throw Failure(
                    "no daemon listens at ‘\(path)’; start one with ‘bled --socket \(path)’, or name its socket with "
                        + "-t bled:SOCKET", status: .transportNotOpened,
                    code: ErrorCode(TransportError.noDaemon(path: path)))
            }
            throw Failure(error)
        }
    }

    /// The bonds of the adapter that this command uses at a daemon, else those of the state folder.
    /// - Throws: `Failure`, `BondStoreError`.
    func knownBonds() async throws -> [Bond] {
        guard let daemonSocket else { return try bondStore.bonds() }
        return try await operate(.bonds, at: daemonSocket).bonds
    }

    /// The bonds by which devices are recognised on an adapter; an ordinary user knows only its own of a daemon.
    func bonds(of adapter: Adapter) async -> [Bond] {
        if case .daemon = adapter.address { return await adapter.bonds }
        return (try? bondStore.bonds()) ?? []
    }

    /// Removes the bonds that were made for a user, from each adapter its own.
    /// - Returns: the devices.
    func removeBonds(ofUser user: UInt32) async throws -> [DeviceAddress] {
        var removed: [DeviceAddress] = []
        guard daemonSocket != nil else {
            for bond in try bondStore.bonds() where bond.user?.number == user {
                if try bondStore.remove(bond.identity) { removed.append(bond.identity) }
            }
            return removed
        }
        for socket in try operatedSockets() {
            for bond in try await operate(.bonds, at: socket).bonds where bond.user?.number == user {
                _ = try await operate(.removeBond(bond.identity), at: socket)
                removed.append(bond.identity)
            }
        }
        return removed
    }

    /// Removes the bond from every adapter that has it.
    /// - Returns: whether there was such a bond.
    func removeBond(_ identity: DeviceAddress) async throws -> Bool {
        guard daemonSocket != nil else { return try bondStore.remove(identity) }
        var wasRemoved = false
        for socket in try operatedSockets() {
            do throws(DaemonOperator.Failure) {
                _ = try await DaemonOperator.perform(.removeBond(identity), at: socket)
                wasRemoved = true
            } catch {
                if error == .noBond { continue }
                if error == .cancelled { throw CancellationError() }
                throw Failure(error)
            }
        }
        return wasRemoved
    }
}

extension Failure {
    init(_ failure: DaemonOperator.Failure) {
        switch failure {
        case .transport(.daemonEnded), .transport(.closedByPeer):
            self.init(failure.description, code: .transportLost)
        case .transport: self.init(failure.description, status: .transportNotOpened)
        case .noAnswer: self.init(failure.description, code: .transportLost)
        case .refused(let text, isNotPermitted: true): self.init(text, code: .noPermission)
        case .refused, .noBond, .cancelled: self.init(failure.description)
        }
    }
}
