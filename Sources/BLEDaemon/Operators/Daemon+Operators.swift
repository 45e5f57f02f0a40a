@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import FoundationEssentials

/// Operators: root, the daemon's own user, and the members of a group.
extension Daemon {
    // MARK: Requests

    /// - Returns: the answer; `nil` if it follows when the engine has carried out the request.
    func answer(_ request: OperatorRequest, to connection: Connection) -> OperatorAnswer? {
        var answer = OperatorAnswer()
        answer.adapter = "\(runner.address)"
        switch request {
        case .list: answer.apps = installed.all.map { describe($0) }
        case .reload:
            readInstalledApps()
            answer.apps = installed.all.map { describe($0) }
            answer.ignoredFiles = installed.ignoredFiles
        case .foreground(let name): answer.error = move(name, to: .foreground) ?? ""
        case .background(let name): answer.error = move(name, to: .background) ?? ""
        case .suspend(let name): answer.error = move(name, to: .suspended) ?? ""
        case .quit(let name): answer.error = quit(AppID(rawValue: name)) ?? ""
        case .show(let name):
            if let app = installed[AppID(rawValue: name)] {
                answer.apps = [describeWhole(app)]
            } else {
                answer.error = "no app ‘\(name)’ is installed; see ‘bletool app list’ and ‘bletool app install’"
            }
        case .install(let file): answer.error = install(file, for: connection.peer) ?? ""
        case .remove(let app, let keepsState):
            do throws(RemovalRefusal) {
                answer.removed = try remove(AppID(rawValue: app), keepsState: keepsState, for: connection.peer)
            } catch {
                answer.error = error.description
            }
        case .status: answer.status = status
        case .alerts: answer.alerts = alerts.all.map { OperatorAlert($0) }
        case .followAlerts:
            connection.followsAlerts = true
            answer.alerts = alerts.all.map { OperatorAlert($0) }
        case .answerAlert(let alert, let accepts):
            answer.error = reply(to: AlertID(rawValue: alert), accepts: accepts) ?? ""
        case .bonds: answer.bonds = runner.bonds
        case .removeBond(let identity):
            connection.awaited = runner.submit(.security(.removeBond(identity)))
            return nil
        case .capture:
            connection.isCapturing = true
            noteCapturing()
        case .power(let isOn): setPower(isOn)
        case .unknown: answer.error = "this daemon does not know the request"
        }
        return answer
    }

    /// An operation has ended for which an operator waits.
    func operatorHears(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        guard let connection = connections.first(where: { $0.awaited == operation }) else { return }
        connection.awaited = nil
        var answer = OperatorAnswer()
        answer.adapter = "\(runner.address)"
        switch result {
        case .success(.accepted(true)):
            if let error = runner.takeStoreError() { answer.error = "the bond could not be removed: \(error)" }
        case .success: answer.error = OperatorAnswer.noBond
        case .failure(let failure): answer.error = "the bond could not be removed: \(failure)"
        }
        send(.operatorAnswer(answer), to: connection)
        lineUp(connection)
        connection.readIfEmpty()
    }

    private func send(_ message: FromDaemon, to connection: Connection) {
        connection.stream.send(message.framed().span.bytes)
    }

    // MARK: Alerts

    func show(_ alert: Alert) {
        withApp(alert.app) { $0.show(alert) }
        let user = user(of: alert.app) ?? Self.nobody
        let surplus = alerts.add(alert, of: user)
        tellFollowers(OperatorAlert(alert))
        if let surplus { answer(surplus, isAccepted: false) }
    }

    /// The alert no longer matters: its app came to the foreground, or ended.
    func withdraw(_ id: AlertID) {
        guard let alert = alerts.remove(id) else { return }
        tellFollowers(OperatorAlert(alert, isOver: true))
    }

    private func tellFollowers(_ alert: OperatorAlert) {
        for connection in connections where connection.followsAlerts {
            send(.alert(alert), to: connection)
            endIfStuck(connection)
        }
    }

    private func reply(to id: AlertID, accepts: Bool) -> String? {
        guard let alert = alerts[id] else {
            return "there is no alert \(id.rawValue), or it has been answered"
        }
        answer(alert, isAccepted: accepts)
        guard accepts, installed[alert.app] != nil, connection(of: alert.app) == nil else { return nil }
        // It does not run: accepting the alert brings it up, as a person would.
        return launch(alert.app, LaunchOptions())
    }

    private func answer(_ alert: Alert, isAccepted: Bool) {
        withdraw(alert.id)
        let now = now
        lifecycle.withApps(at: now) { $0.alertAnswered(alert.id, isAccepted: isAccepted, at: now) }
        guard isAccepted else { return }
        notePlace(of: alert.app)
        tellTime(of: alert.app)
    }

    /// In place of the user of an app that is not known.
    private static let nobody = UInt32.max

    // MARK: The device name

    /// The name of the latest program that has set one, else the daemon's own.
    func setDeviceName() {
        let name = connections.last { $0.deviceName != nil }?.deviceName ?? configuration.adapter.deviceName
        _ = runner.submit(.server(.setDeviceName(name)))
    }

    // MARK: Packets

    func noteCapturing() {
        traffic.isWanted = connections.contains(where: \.isCapturing)
        if !traffic.isWanted { keyMask = KeyMask() }
    }

    /// A packet crosses HCI. The engine is at work, so nothing may be asked of it here, and no connection may end.
    func show(_ packet: RawSpan, _ direction: PacketDirection, _ unixMicroseconds: UInt64) {
        let octets = keyMask.masked(packet, direction)
        let isFromController = direction == .controllerToHost
        let limit = configuration.limits.waitingTrafficOctets
        for connection in connections where connection.isCapturing {
            guard connection.stream.waitingByteCount + connection.traffic.count < limit else {
                connection.lostPackets = connection.lostPackets.addingReportingOverflow(1).partialValue
                continue
            }
            connection.traffic +=
                FromDaemon.packet(
                    octets, isFromController: isFromController, unixMicroseconds: unixMicroseconds,
                    lost: connection.lostPackets
                ).framed()
            connection.lostPackets = 0
        }
        guard !isTrafficWaiting else { return }
        isTrafficWaiting = true
        loop.runLater { [weak self] in self?.sendTraffic() }
    }

    private func sendTraffic() {
        isTrafficWaiting = false
        for connection in connections where !connection.traffic.isEmpty {
            let octets = connection.traffic
            connection.traffic = []
            connection.stream.send(octets.span.bytes)
        }
    }

    /// Ends the connection of an operator that does not read.
    private func endIfStuck(_ connection: Connection) {
        guard connection.stream.waitingByteCount > configuration.limits.waitingOctets else { return }
        configuration.warn("an operator (process \(connection.peer.process)) does not read what it is sent")
        connection.stream.close()
        left(connection)
    }
}
