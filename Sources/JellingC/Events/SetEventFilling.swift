import BLEHost
import BLEPackets
import CJelling

func fill(
    _ event: inout jelling_event, with news: AdvertisingSetEvent, _ operation: OperationID, _ client: ClientID,
    _ arena: inout Arena
) {
    guard Features.sets else { return }
    switch news {
    case .started(let power):
        unsafe event.set(JELLING_EVENT_SET_STARTED, client: client)
        unsafe event.power = Int32(power)
    case .stopped: unsafe event.set(JELLING_EVENT_SET_STOPPED, client: client)
    case .connected(let link): unsafe event.set(JELLING_EVENT_SET_CONNECTED, link: link, client: client)
    case .dataRequested(let first, let count):
        unsafe event.set(JELLING_EVENT_SUBEVENTS_REQUESTED, client: client)
        unsafe event.subevents.first = first
        unsafe event.subevents.count = count
    case .response(let response):
        guard Features.responses else { return }
        unsafe event.set(JELLING_EVENT_SLOT_RESPONSE, client: client)
        unsafe event.slot_response.subevent = response.subevent
        unsafe event.slot_response.slot = response.slot
        unsafe event.slot_response.has_data = response.data == nil ? 0 : 1
        unsafe event.slot_response.is_truncated = response.isTruncated ? 1 : 0
        unsafe event.slot_response.follows_data = response.followsData ? 1 : 0
        unsafe event.slot_response.rssi = response.rssi
        unsafe event.slot_response.tx_power = response.txPower ?? 127
        unsafe event.slot_response.data = arena.copy(response.data ?? [])
    }
    unsafe event.operation = operation.rawValue
}

func fill(
    _ event: inout jelling_event, with news: PeriodicSyncEvent, _ operation: OperationID, _ client: ClientID,
    _ arena: inout Arena
) {
    guard Features.trains else { return }
    switch news {
    case .synchronized(let train):
        unsafe event.set(JELLING_EVENT_TRAIN_FOUND, client: client)
        unsafe event.train.address = jelling_address(train.advertiser)
        unsafe event.train.identifier = train.identifier
        unsafe event.train.interval = train.interval.rawValue
        unsafe event.train.phy = train.phy.rawValue
        unsafe event.train.was_transferred = train.serviceData == nil ? 0 : 1
        unsafe event.train.service_data = train.serviceData ?? 0
        guard Features.responses, let subevents = train.subevents else { break }
        unsafe event.train.subevent_count = subevents.count
        unsafe event.train.subevent_interval = subevents.interval
        unsafe event.train.response_slot_delay = subevents.responseSlotDelay
        unsafe event.train.response_slot_spacing = subevents.responseSlotSpacing
    case .report(let report):
        unsafe event.set(JELLING_EVENT_TRAIN_DATA, client: client)
        unsafe event.train_data.address = jelling_address(report.advertiser)
        unsafe event.train_data.identifier = report.identifier
        unsafe event.train_data.is_truncated = report.isTruncated ? 1 : 0
        unsafe event.train_data.rssi = report.rssi
        unsafe event.train_data.tx_power = report.txPower ?? 127
        unsafe event.train_data.data = arena.copy(report.data)
        unsafe event.train_data.time = report.time.microseconds
        guard Features.responses, let subevent = report.subevent else { break }
        unsafe event.train_data.has_subevent = 1
        unsafe event.train_data.subevent = subevent
        unsafe event.train_data.event = report.event ?? 0
    case .lost(let advertiser, let identifier):
        unsafe event.set(JELLING_EVENT_TRAIN_LOST, client: client)
        unsafe event.train.address = jelling_address(advertiser)
        unsafe event.train.identifier = identifier
    }
    unsafe event.operation = operation.rawValue
}
