import BLEHost
import BLEPackets
import CJelling

func fill(_ event: inout jelling_event, with news: AdvertisingSetEvent, _ operation: OperationID, _ client: ClientID) {
    guard BuiltIn.sets else { return }
    switch news {
    case .started(let power):
        unsafe event.set(JELLING_EVENT_SET_STARTED, client: client)
        unsafe event.power = Int32(power)
    case .stopped: unsafe event.set(JELLING_EVENT_SET_STOPPED, client: client)
    case .connected(let link): unsafe event.set(JELLING_EVENT_SET_CONNECTED, link: link, client: client)
    // Of trains with responses, which this API does not offer.
    case .dataRequested, .response: return
    }
    unsafe event.operation = operation.rawValue
}

func fill(
    _ event: inout jelling_event, with news: TrainEvent, _ operation: OperationID, _ client: ClientID,
    _ arena: inout Arena
) {
    guard BuiltIn.trains else { return }
    switch news {
    case .synchronized(let train):
        unsafe event.set(JELLING_EVENT_TRAIN_FOUND, client: client)
        unsafe event.train.address = jelling_address(train.advertiser)
        unsafe event.train.identifier = train.identifier
        unsafe event.train.interval = train.interval.rawValue
        unsafe event.train.phy = train.phy.rawValue
        unsafe event.train.was_transferred = train.serviceData == nil ? 0 : 1
        unsafe event.train.service_data = train.serviceData ?? 0
    case .report(let report):
        unsafe event.set(JELLING_EVENT_TRAIN_DATA, client: client)
        unsafe event.train_data.address = jelling_address(report.advertiser)
        unsafe event.train_data.identifier = report.identifier
        unsafe event.train_data.is_truncated = report.isTruncated ? 1 : 0
        unsafe event.train_data.rssi = report.rssi
        unsafe event.train_data.tx_power = report.txPower ?? 127
        unsafe event.train_data.data = arena.copy(report.data)
        unsafe event.train_data.time = report.time.microseconds
    case .lost(let advertiser, let identifier):
        unsafe event.set(JELLING_EVENT_TRAIN_LOST, client: client)
        unsafe event.train.address = jelling_address(advertiser)
        unsafe event.train.identifier = identifier
    }
    unsafe event.operation = operation.rawValue
}
