import BLEHost
import FoundationEssentials

extension WireTrainSubevents {
    init(_ subevents: TrainSubevents) {
        self.init()
        count = UInt32(subevents.count)
        interval = UInt32(subevents.interval)
        responseSlotDelay = UInt32(subevents.responseSlotDelay)
        responseSlotSpacing = UInt32(subevents.responseSlotSpacing)
        responseSlotCount = UInt32(subevents.responseSlotCount)
    }
}

extension TrainSubevents {
    /// The engine checks what contradicts the specification.
    init(_ wire: WireTrainSubevents) {
        self.init(
            count: UInt8(clamping: wire.count), interval: UInt8(clamping: wire.interval),
            responseSlotDelay: UInt8(clamping: wire.responseSlotDelay),
            responseSlotSpacing: UInt8(clamping: wire.responseSlotSpacing),
            responseSlotCount: UInt8(clamping: wire.responseSlotCount))
    }
}

extension WireSlotResponse {
    init(_ response: SlotResponse) {
        self.init()
        subevent = UInt32(response.subevent)
        slot = UInt32(response.slot)
        if let data = response.data { self.data = Data(data) }
        isTruncated = response.isTruncated
        isWithoutData = !response.followsData
        rssi = Int32(response.rssi)
        if let power = response.txPower { txPower = Int32(power) }
    }
}

extension SlotResponse {
    init(_ wire: WireSlotResponse) {
        self.init(
            subevent: UInt8(clamping: wire.subevent), slot: UInt8(clamping: wire.slot),
            data: wire.hasData ? Array(wire.data) : nil, isTruncated: wire.isTruncated,
            followsData: !wire.isWithoutData, rssi: Int8(clamping: wire.rssi),
            txPower: wire.hasTxPower ? Int8(clamping: wire.txPower) : nil)
    }
}

extension WireSendSubevents {
    init(_ subevents: [SubeventData], of set: OperationID) {
        self.init()
        operation = set.rawValue
        self.subevents = subevents.map { data in
            WireSubeventData.with {
                $0.subevent = UInt32(data.subevent)
                $0.firstResponseSlot = UInt32(data.firstResponseSlot)
                $0.responseSlotCount = UInt32(data.responseSlotCount)
                $0.data = Data(data.data)
            }
        }
    }

    /// - Throws: `WireError.invalidField` for numbers that no train has; the engine checks the rest.
    var command: RadioCommand {
        get throws(WireError) {
            var found: [SubeventData] = []
            for data in subevents {
                guard let subevent = UInt8(exactly: data.subevent), let first = UInt8(exactly: data.firstResponseSlot),
                    let count = UInt8(exactly: data.responseSlotCount)
                else { throw .invalidField }
                found.append(
                    SubeventData(
                        subevent: subevent, firstResponseSlot: first, responseSlotCount: count, data: Array(data.data)))
            }
            return .sendSubevents(found, of: OperationID(rawValue: operation))
        }
    }
}

extension WireRespondInTrain {
    init(_ response: TrainResponse, in train: OperationID) {
        self.init()
        operation = train.rawValue
        event = UInt32(response.event)
        subevent = UInt32(response.subevent)
        responseSubevent = UInt32(response.responseSubevent)
        slot = UInt32(response.slot)
        data = Data(response.data)
    }

    /// - Throws: `WireError.invalidField` for numbers that no train has; the engine checks the rest.
    var command: RadioCommand {
        get throws(WireError) {
            guard let event = UInt16(exactly: event), let subevent = UInt8(exactly: subevent),
                let other = UInt8(exactly: responseSubevent), let slot = UInt8(exactly: slot)
            else { throw .invalidField }
            return .respondInTrain(
                TrainResponse(toEvent: event, subevent: subevent, in: other, slot: slot, data: Array(data)),
                in: OperationID(rawValue: operation))
        }
    }
}
