@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEMessages
import Foundation

/// The octets of a daemon's messages that have not been read.
typealias MessageReader = FrameReader

/// What goes over the socket.
extension DaemonSystem {
    // MARK: To the daemon

    private func send(_ message: FromClient) { stream?.send(message.framed().span.bytes) }

    func greet() {
        let environment = configuration.environment
        var app = AppGreeting(environment.identifier)
        app.backgroundModes = environment.modeNames
        app.startsInBackground = isInBackground
        app.showsSystemServices = environment.showsSystemServices
        app.authorization = environment.authorization
        send(.hello(Greeting(.app, app: app)))
    }

    /// - Parameter number: 0 if no caller waits until it has been processed.
    func send(_ request: ClientRequest, from manager: ManagerID, number: UInt64 = 0) {
        send(.appRequest(AppRequest(request, from: manager, number: number)))
    }

    func send(returned count: Int, by manager: ManagerID) { send(.appReturned(manager, events: count)) }
    func send(_ move: AppMove) { send(.appMove(move, tasks: nil)) }
    func send(tasks count: Int) { send(.appMove(nil, tasks: count)) }

    func sendPairing() {
        var options = PairingOptions()
        pairing.apply(to: &options)
        send(.appPairing(asksSomebody: pairingAgent != nil, options))
    }

    func send(_ answer: PairingAnswer, to question: PairingQuestionID) { send(.appAnswer(question, answer)) }

    // MARK: From the daemon

    func receive(_ bytes: RawSpan) {
        reader.append(bytes)
        do throws(MessageError) {
            while let octets = try reader.next() { handle(try FromDaemon(octets: octets)) }
        } catch {
            close("it speaks another protocol: \(error)")
        }
    }

    private func handle(_ message: FromDaemon) {
        switch message {
        case .appWelcome(let launch, let authorization): joined(launch, authorization)
        case .appEvent(let event):
            if let content = event.event { receive(content, for: event.manager) } else { skip(event.manager) }
        case .appTaken(let number): processed(number)
        case .appNotice(let notice): handle(notice)
        case .appPairing(let progress): handle(progress)
        case .refusal(_, let text): refusal = text
        // Messages for tools and operators, or of a newer daemon.
        default: break
        }
    }

    private func handle(_ notice: AppNotice) {
        switch notice {
        case .log(let line): client.write(line)
        case .expiring: client.expire()
        case .remaining(let milliseconds):
            // The greatest number if nothing limits it.
            let end = milliseconds == .max ? nil : client.loop.nowMicroseconds + UInt64(milliseconds) * 1000
            _ = client.setTime(until: end)
        case .alert(let alert): client.raise(CBApplication.Alert(alert))
        case .extended(let isExtended):
            client.state.with { $0.features = isExtended ? .extendedScanAndConnect : [] }
        case .unknown: break
        }
    }

    private func handle(_ progress: AppPairing) {
        let peer = CBPairingPeer(identifier: UUID(progress.peer), name: progress.name)
        // The daemon's questions are only about the device itself.
        var address = DeviceAddress(value: 0, kind: .public)
        if case .question(let question) = progress.event, case .replaceBond(let identity) = question.kind {
            address = identity.withoutIdentityMark
        }
        pair(progress.event, with: peer, PairingPeer(link: progress.link, address: address))
    }
}

extension MessageReader {
    init() { self.init(limit: BledProtocol.eventLimit) }
}
