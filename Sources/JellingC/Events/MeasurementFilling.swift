import BLEHost
import BLEPackets
import CJelling

func fill(_ event: inout jelling_event, with report: LinkReport, on link: LinkID) {
    guard Features.linkReports else { return }
    switch report {
    case .transmitPower(let power, let isPeers):
        unsafe event.set(JELLING_EVENT_TRANSMIT_POWER_CHANGED, link: link)
        unsafe event.transmit_power = jelling_transmit_power(power)
        unsafe event.transmit_power.is_remote = isPeers ? 1 : 0
    case .pathLoss(let loss):
        unsafe event.set(JELLING_EVENT_PATH_LOSS, link: link)
        unsafe event.path_loss.zone = loss.zone.rawValue
        unsafe event.path_loss.decibels = loss.decibels ?? 255
    case .unauthenticated: unsafe event.set(JELLING_EVENT_UNAUTHENTICATED, link: link)
    }
}

extension jelling_transmit_power {
    init(_ power: TransmitPower) {
        self.init()
        phy = power.phy.rawValue
        level = power.level ?? 127
        maximum = power.maximum ?? 127
        is_least = power.isLeast ? 1 : 0
        is_greatest = power.isGreatest ? 1 : 0
    }
}

extension jelling_subrate {
    init(_ subrate: LinkSubrate) {
        self.init(
            factor: subrate.factor, continuation_number: subrate.continuationNumber, latency: subrate.latency,
            supervision_timeout: subrate.supervisionTimeout.rawValue)
    }
}
