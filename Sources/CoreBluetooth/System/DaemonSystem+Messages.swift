@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEDaemonProtocol
import BLEHost
import Foundation

/// The octets of a daemon's messages that have not been read.
typealias MessageReader = FrameReader

/// What goes over the socket.
extension DaemonSystem {
    // MARK: To the daemon

    private func send(_ message: WireFromClient) { stream?.send(message.framed().span.bytes) }

    func greet() {
        let environment = configuration.environment
        var greeting = WireFromClient()
        greeting.hello.version = BledProtocol.version
        greeting.hello.session = .app
        greeting.hello.app.identifier = environment.identifier
        greeting.hello.app.backgroundModes = environment.modeNames
        greeting.hello.app.startsInBackground = isInBackground
        greeting.hello.app.showsSystemServices = environment.showsSystemServices
        greeting.hello.app.authorization = UInt32(environment.authorization.rawValue)
        send(greeting)
    }

    /// - Parameter number: 0 if nobody waits until it has been processed.
    func send(_ request: ClientRequest, from manager: ManagerID, number: UInt64 = 0) {
        var message = WireFromClient()
        message.appRequest = WireAppRequest(request, from: manager, number: number)
        send(message)
    }

    func send(returned count: Int, by manager: ManagerID) {
        var message = WireFromClient()
        message.appReturned.manager = manager.rawValue
        message.appReturned.events = UInt32(clamping: count)
        send(message)
    }

    func send(_ move: AppMove) {
        var message = WireFromClient()
        message.appMove.to =
            switch move {
            case .foreground: .foreground
            case .background: .background
            case .suspended: .suspended
            }
        send(message)
    }

    func send(tasks count: Int) {
        var message = WireFromClient()
        message.appMove.tasks = UInt32(clamping: count)
        send(message)
    }

    func sendPairing() {
        var options = PairingOptions()
        pairing.apply(to: &options)
        var message = WireFromClient()
        message.appPairing = WireAppPairing(asksSomebody: pairingAgent != nil, options)
        send(message)
    }

    func send(_ answer: PairingAnswer, to question: PairingQuestionID) {
        var message = WireFromClient()
        message.appAnswer = WireAnswerPairing(to: question, answer)
        send(message)
    }

    // MARK: From the daemon

    func receive(_ bytes: RawSpan) {
        reader.append(bytes)
        do throws(WireError) {
            while let octets = try reader.next() { try take(try WireFromDaemon(octets: octets)) }
        } catch {
            close("it speaks another protocol: \(error)")
        }
    }

    private func take(_ message: WireFromDaemon) throws(WireError) {
        switch message.message {
        case .appWelcome(let welcome):
            joined(
                LaunchOptions(centrals: welcome.launchCentrals, peripherals: welcome.launchPeripherals),
                ManagerAuthorization(rawValue: Int(welcome.authorization)))
        case .appEvent(let wire):
            let manager = ManagerID(rawValue: wire.manager)
            if let event = try ClientEvent(wire) { take(event, for: manager) } else { skip(manager) }
        case .appTaken(let number): processed(number)
        case .appNotice(let notice): take(notice)
        case .appPairing(let progress): try take(progress)
        case .refusal(let refusal): self.refusal = refusal.text
        // Messages for tools and operators, or of a newer daemon.
        default: break
        }
    }

    private func take(_ notice: WireAppNotice) {
        switch notice.notice {
        case .log(let line): client.write(line)
        case .expiring: client.expire()
        case .remaining(let milliseconds):
            // The greatest number if nothing limits it.
            let end = milliseconds == .max ? nil : client.loop.nowMicroseconds + UInt64(milliseconds) * 1000
            _ = client.noteTime(until: end)
        case .alert(let alert): if let alert = CBApplication.Alert(alert) { client.raise(alert) }
        case .extended(let isExtended):
            client.state.with { $0.features = isExtended ? .extendedScanAndConnect : [] }
        case nil: break
        }
    }

    private func take(_ progress: WireAppPairingProgress) throws(WireError) {
        let event = try progress.event()
        let peer = try PeerIdentifier(wire: progress.peer)
        let told = CBPairingPeer(identifier: UUID(peer), name: progress.hasName ? progress.name : nil)
        // The daemon's questions are only about the device itself.
        var address = DeviceAddress(value: 0, kind: .public)
        if case .question(let question) = event, case .replaceBond(let identity) = question.kind {
            address = identity.withoutIdentityMark
        }
        pair(event, with: told, PairingPeer(link: LinkID(wire: progress.progress.link), address: address))
    }
}

extension MessageReader {
    init() { self.init(limit: BledProtocol.eventLimit) }
}

extension CBApplication.Alert {
    fileprivate init?(_ alert: WireAppAlert) {
        switch alert.kind {
        case .connection: kind = .connection
        case .disconnection: kind = .disconnection
        case .notification: kind = .notification
        case .powerOff: kind = .powerOff
        case .unspecified, .UNRECOGNIZED: return nil
        }
        identifier = (try? PeerIdentifier(wire: alert.peer)).map { UUID($0) }
        name = alert.hasName ? alert.name : nil
    }
}
