import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets

/// What operators see: alerts, and what crosses HCI.
struct OperatorDesk {
    /// Alerts that no operator has answered.
    var alerts = WaitingAlerts()
    /// When frames with packets are sent.
    var deadline: UInt64?
    /// Whether the owner has been asked for packets.
    var isCapturing = false
}

/// Operators: root, the daemon's own user, and the members of a group.
extension DaemonCore {
    // MARK: Requests

    /// - Returns: the answer; `nil` if it follows when the request has been carried out.
    mutating func answer(
        _ request: OperatorRequest, of person: OperatorClient, _ connection: Connection
    ) -> OperatorAnswer? {
        var answer = emptyAnswer
        switch request {
        case .list: answer.apps = apps.installed.all.map { describe($0) }
        case .reload:
            guard rules.hasAppsFolder else {
                readManifests(.reload)
                return listOfApps
            }
            person.awaited = .files
            readManifests(.reloadedBy(connection.id))
            return nil
        case .foreground(let name): return move(name, to: .foreground, for: person)
        case .background(let name): return move(name, to: .background, for: person)
        case .suspend(let name): return move(name, to: .suspended, for: person)
        case .quit(let name): answer.error = quit(AppID(rawValue: name)) ?? ""
        case .show(let name):
            if let app = apps.installed[AppID(rawValue: name)] {
                answer.apps = [describeWhole(app)]
            } else {
                answer.error = Self.notInstalled(name)
            }
        case .install(let file):
            guard rules.hasAppsFolder else {
                answer.error = Self.noFolder
                break
            }
            person.awaited = .files
            effects.append(.install(file, connection.peer, apps.installed, apps.owners, by: connection.id))
            return nil
        case .remove(let name, let keepsState):
            guard rules.hasAppsFolder else {
                answer.error = Self.noFolder
                break
            }
            person.awaited = .files
            let app = AppID(rawValue: name)
            effects.append(
                .remove(
                    app, keepsState: keepsState, connection.peer, apps.installed, owner: apps.owners[app],
                    hasState: hasState(of: app), by: connection.id))
            return nil
        case .status: answer.status = status
        case .alerts: answer.alerts = operators.alerts.all.map { OperatorAlert($0) }
        case .followAlerts:
            person.followsAlerts = true
            answer.alerts = operators.alerts.all.map { OperatorAlert($0) }
        case .answerAlert(let alert, let accepts):
            return reply(to: AlertID(rawValue: alert), accepts: accepts, for: person)
        case .bonds: answer.bonds = port.engine.bonds
        case .removeBond(let identity):
            person.awaited = .operation(submit(.security(.removeBond(identity))))
            return nil
        case .capture:
            connection.capture.isOn = true
            noteCapturing()
        case .power(let isOn): setPower(isOn)
        case .resetDevice:
            guard controller.isPowered else {
                answer.error = controller.reasonOfOff
                break
            }
            person.awaited = .files
            resetDevice(for: connection.id)
            return nil
        case .forgetTraits:
            person.awaited = .files
            effects.append(.forgetTraits(by: connection.id))
            return nil
        case .unknown: answer.error = "this daemon does not know the request"
        }
        return answer
    }

    var emptyAnswer: OperatorAnswer {
        var answer = OperatorAnswer()
        answer.adapter = "\(port.engine.address)"
        return answer
    }

    /// The installed apps after the manifests have been read.
    var listOfApps: OperatorAnswer {
        var answer = emptyAnswer
        answer.apps = apps.installed.all.map { describe($0) }
        answer.ignoredFiles = apps.installed.ignoredFiles
        return answer
    }

    /// The empty answer, or one with an error.
    func answer(_ problem: String?) -> OperatorAnswer {
        var answer = emptyAnswer
        answer.error = problem ?? ""
        return answer
    }

    static var noFolder: String { "this daemon has no folder of apps; restart it with ‘bled --apps DIR’" }
    static func notInstalled(_ name: String) -> String {
        "no app ‘\(name)’ is installed; see ‘bletool app list’ and ‘bletool app install’"
    }

    /// Sends an answer for which an operator waits.
    mutating func complete(_ answer: OperatorAnswer, for id: ConnectionID) {
        guard let connection = connections[id], let person = connection.person else { return }
        complete(answer, for: person, connection)
    }

    private mutating func complete(_ answer: OperatorAnswer, for person: OperatorClient, _ connection: Connection) {
        person.awaited = nil
        send(.operatorAnswer(answer), to: connection)
        // In its turn, the next request may follow at once.
        if turns.current?.connection == connection.id { return look(at: connection) }
        lineUp(connection)
        readIfEmpty(connection)
    }

    /// An app has been launched, or cannot be, for which an operator may wait.
    mutating func completeLaunch(of app: AppID, _ problem: String?) {
        for connection in connections.all {
            guard let person = connection.person, case .launch(app, let isForeground) = person.awaited else { continue }
            // Also if the system has launched it for an event, and it has not greeted yet.
            if problem == nil, isForeground { notePlace(of: app, isInForeground: true) }
            complete(answer(problem), for: person, connection)
        }
    }

    /// An operation has ended for which an operator may wait.
    mutating func answerOperator(after operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        for connection in connections.all {
            guard let person = connection.person, person.awaited == .operation(operation) else { continue }
            var answer = emptyAnswer
            switch result {
            case .success(.accepted(true)):
                if let error = port.engine.takeStoreError() { answer.error = "the bond could not be removed: \(error)" }
            case .success: answer.error = OperatorAnswer.noBond
            case .failure(let failure): answer.error = "the bond could not be removed: \(failure)"
            }
            return complete(answer, for: person, connection)
        }
    }

    /// Sends a message at once, before what waits.
    mutating func send(_ message: FromDaemon, to connection: Connection) {
        effects.send(message.framed(), to: connection)
    }

    // MARK: Alerts

    mutating func show(_ alert: Alert) {
        withApp(alert.app) { $0.show(alert) }
        // In place of the user of an app that is not known.
        let user = user(of: alert.app) ?? .max
        let surplus = operators.alerts.add(alert, of: user)
        sendToFollowers(OperatorAlert(alert))
        if let surplus { answer(surplus, isAccepted: false) }
    }

    /// The alert no longer matters: its app came to the foreground, or ended.
    mutating func withdraw(_ id: AlertID) {
        guard let alert = operators.alerts.remove(id) else { return }
        sendToFollowers(OperatorAlert(alert, isOver: true))
    }

    private mutating func sendToFollowers(_ alert: OperatorAlert) {
        for connection in connections.all where connection.person?.followsAlerts == true {
            send(.alert(alert), to: connection)
            endIfStuck(connection)
        }
    }

    private mutating func reply(to id: AlertID, accepts: Bool, for person: OperatorClient) -> OperatorAnswer? {
        guard let alert = operators.alerts[id] else {
            return answer("there is no alert \(id.rawValue), or it has been answered")
        }
        answer(alert, isAccepted: accepts)
        guard accepts, apps.installed[alert.app] != nil, connection(of: alert.app) == nil else { return emptyAnswer }
        // It does not run: accepting the alert brings it up, as a person would.
        return launch(alert.app, isForeground: false, for: person)
    }

    private mutating func answer(_ alert: Alert, isAccepted: Bool) {
        withdraw(alert.id)
        let now = now
        apps.lifecycle.withApps(at: now) { $0.alertAnswered(alert.id, isAccepted: isAccepted, at: now) }
        guard isAccepted else { return }
        notePlace(of: alert.app)
        sendTime(to: alert.app)
    }

    // MARK: The device name

    /// The name of the latest program that has set one, else the daemon's own.
    mutating func setDeviceName() {
        let name = connections.all.last { $0.tool?.deviceName != nil }?.tool?.deviceName ?? rules.deviceName
        _ = submit(.server(.setDeviceName(name)))
    }

    // MARK: Packets

    mutating func noteCapturing() {
        let isCapturing = connections.all.contains(where: \.capture.isOn)
        guard isCapturing != operators.isCapturing else { return }
        operators.isCapturing = isCapturing
        effects.append(.capture(isCapturing))
    }

    /// A packet has crossed HCI. What it is sent as waits until the owner has handled everything else.
    mutating func show(_ octets: [UInt8], isFromController: Bool, unixMicroseconds: UInt64) {
        let limit = rules.limits.waitingTrafficOctets
        for connection in connections.all where connection.capture.isOn {
            guard connection.outbox.waiting + connection.capture.frames.count < limit else {
                connection.capture.lost = connection.capture.lost.addingReportingOverflow(1).partialValue
                continue
            }
            connection.capture.frames += FromDaemon.packet(
                octets, isFromController: isFromController, unixMicroseconds: unixMicroseconds,
                lost: connection.capture.lost
            ).framed()
            connection.capture.lost = 0
        }
        if operators.deadline == nil { operators.deadline = microseconds }
    }

    mutating func sendTraffic() {
        operators.deadline = nil
        for connection in connections.all where !connection.capture.frames.isEmpty {
            effects.send(connection.capture.frames, to: connection)
            connection.capture.frames = []
        }
    }

    /// Ends the connection of an operator that does not read.
    private mutating func endIfStuck(_ connection: Connection) {
        guard connection.outbox.waiting > rules.limits.waitingOctets else { return }
        warn("an operator (process \(connection.peer.process)) does not read what it is sent")
        effects.append(.close(connection.id))
        left(connection)
    }
}
