@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEMessages
import Foundation

/// The daemon's events.
extension DaemonSystem {
    func take(_ event: ClientEvent, for manager: ManagerID) {
        switch event {
        case .retrieved(let query, _), .updateQueued(let query, _): answer(query, with: event)
        // This process never ended, so its manager already knows what is restored.
        case .willRestoreCentral, .willRestorePeripheral:
            if !isMadeAgain(manager), note(event, for: manager) { tell(event, to: manager) } else { skip(manager) }
        case .stateChanged, .statePassed, .eventsLost, .discovered, .connected, .connectionFailed, .disconnected,
            .connectionEvent, .peripheral, .serviceAdded, .advertisingStarted, .readRequest, .writeRequests,
            .subscribed,
            .unsubscribed, .readyToUpdateSubscribers, .channelPublished, .channelUnpublished, .channelAccepted,
            .channel:
            if note(event, for: manager) { tell(event, to: manager) } else { skip(manager) }
        }
    }

    func take(_ notice: AppNotice) {
        switch notice {
        case .log(let line): write(line)
        case .expiring: expire()
        case .remaining(let milliseconds): setTimeLeft(milliseconds)
        case .alert(let alert): raise(alert)
        case .extended(let isExtended): setFeatures(isExtended ? .extendedScanAndConnect : [])
        case .unknown: break
        }
    }

    func take(_ progress: AppPairing) {
        let told = CBPairingPeer(identifier: UUID(progress.peer), name: progress.name)
        // The daemon's questions are only about the device itself.
        var address = DeviceAddress(value: 0, kind: .public)
        if case .question(let question) = progress.event, case .replaceBond(let identity) = question.kind {
            address = identity.withoutIdentityMark
        }
        pair(progress.event, with: told, PairingPeer(link: progress.link, address: address))
    }
}
