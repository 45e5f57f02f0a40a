import BLEPackets

/// How a train with responses divides its interval.
struct SubeventLayout {
    var count: UInt8
    var interval: UInt8
    var responseSlotDelay: UInt8
    var responseSlotSpacing: UInt8
    var responseSlotCount: UInt8

    /// From the beginning of an event to a subevent, in microseconds.
    func offset(of subevent: UInt8) -> Int64 { Int64(subevent) * Int64(interval) * 1250 }

    /// From the beginning of an event to a response slot, in microseconds.
    func offset(ofSlot slot: Int, in subevent: UInt8) -> Int64 {
        offset(of: subevent) + Int64(responseSlotDelay) * 1250 + Int64(slot) * Int64(responseSlotSpacing) * 125
    }

    /// Whether a train with this interval can have it (Core 5.4, Vol 4, Part E, 7.8.61).
    func isValid(in train: PeriodicAdvertisingInterval) -> Bool {
        guard 1...128 ~= count, interval >= 6, Int(count) * Int(interval) <= Int(train.rawValue) else { return false }
        guard responseSlotCount > 0 else { return true }
        return responseSlotDelay >= 1 && responseSlotDelay < interval && responseSlotSpacing >= 2
            && Int(responseSlotSpacing) * Int(responseSlotCount) <= 10 * (Int(interval) - Int(responseSlotDelay))
    }
}

/// What a controller sends in the subevents of its train, and what it receives in their slots.
struct TrainSubeventPlan {
    /// The data of one subevent, which are sent once.
    struct Content {
        var firstSlot: UInt8
        var slotCount: UInt8
        var data: [UInt8]
    }

    /// A response on the air; `data` is `nil` where several collided.
    struct Heard {
        var slot: UInt8
        var data: [UInt8]?
        var signal: Int8
        var transmitPower: Int8
    }

    let layout: SubeventLayout
    private var contents: [Content?]
    private var heard: [[Heard]]

    init(_ layout: SubeventLayout) {
        self.layout = layout
        contents = Array(repeating: nil, count: Int(layout.count))
        heard = Array(repeating: [], count: Int(layout.count))
    }

    mutating func set(_ content: Content, of subevent: UInt8) {
        guard subevent < layout.count else { return }
        contents[Int(subevent)] = content
    }

    mutating func removeContent(of subevent: UInt8) -> Content? {
        guard subevent < layout.count else { return nil }
        defer { contents[Int(subevent)] = nil }
        return contents[Int(subevent)]
    }

    /// A device responds; another response in the same slot makes both unreadable.
    mutating func receive(_ response: Heard, in subevent: UInt8) {
        // It may be under way since an earlier train of the set, which had more subevents.
        guard subevent < layout.count else { return }
        if let place = heard[Int(subevent)].firstIndex(where: { $0.slot == response.slot }) {
            heard[Int(subevent)][place].data = nil
        } else {
            heard[Int(subevent)].append(response)
        }
    }

    mutating func removeResponses(in subevent: UInt8) -> [Heard] {
        guard subevent < layout.count else { return [] }
        defer { heard[Int(subevent)] = [] }
        return heard[Int(subevent)]
    }

    mutating func forgetData() { self = TrainSubeventPlan(layout) }
}
