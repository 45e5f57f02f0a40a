import BLEHost
import BLEJSON
import BLEPackets
import BLEScripts

/// A link of a requester with a device, from the first step that needs it until it is kept no longer.
struct GATTSession {
    /// A request that is carried out.
    struct Job {
        let request: GATTRequest
        let door: GATTDoor
        let deadline: Instant
        var index = 0
        var stage = Stage.beginning
    }

    /// What the step waits for.
    enum Stage: Equatable {
        case beginning
        /// A place for a link, because of this failure.
        case slot(LinkFailure)
        case link
        /// The services, to find what the step names.
        case services
        /// The operation that the step is about.
        case operation
        /// The descriptor that makes a device send.
        case configuration
        /// Values, until there are so many or the time is over.
        case values(count: Int?, until: Instant?, taken: Int, form: ValueForm?)
        case end
    }

    /// A value that was not asked for at that moment.
    struct Arrival {
        var handle: AttributeHandle
        var value: [UInt8]
        var isIndication: Bool
    }

    let requester: GATTRequester
    let peer: DeviceAddress
    var job: Job?
    /// `nil`: there is no link.
    var attMTU: Int?
    var services: [ServiceContents]?
    var subscriptions: Set<AttributeHandle> = []
    var arrivals: [Arrival] = []
    /// The number of the operation whose end is awaited; later ones of ended steps have others.
    var tag: UInt64 = 0
    /// Without a request it ends then.
    var keptUntil = Instant.zero
    /// The last request, under whose identifier values are reported.
    var lastID = ""
    var door = GATTDoor.broker

    init(_ requester: GATTRequester, _ peer: DeviceAddress) {
        self.requester = requester
        self.peer = peer
    }

    /// A place to read or write.
    struct Place {
        var handle: AttributeHandle
        var uuid: BluetoothUUID?
        var contents: ServiceContents.CharacteristicContents?
    }

    var needsServices: Bool { services == nil }

    /// What a target names; `nil`: the device has no such attribute.
    func place(of target: AttributeTarget) -> Place? {
        let services = services ?? []
        let all = services.flatMap(\.characteristics)
        switch target {
        case .handle(let handle):
            let found = all.first { $0.characteristic.valueHandle == handle }
            let descriptor = all.lazy.flatMap(\.descriptors).first { $0.handle == handle }
            return Place(handle: handle, uuid: found?.characteristic.uuid ?? descriptor?.uuid, contents: found)
        case .uuid(let uuid, let service):
            let candidates = services.filter { service == nil || $0.service.uuid == service }.flatMap(\.characteristics)
            if let found = candidates.first(where: { $0.characteristic.uuid == uuid }) {
                return Place(handle: found.characteristic.valueHandle, uuid: uuid, contents: found)
            }
            let descriptor = candidates.lazy.flatMap(\.descriptors).first { $0.uuid == uuid }
            return descriptor.map { Place(handle: $0.handle, uuid: uuid) }
        }
    }

    /// The type of the characteristic that has a value handle.
    func uuid(of handle: AttributeHandle) -> BluetoothUUID? {
        place(of: .handle(handle))?.uuid
    }

    func event(_ arrival: Arrival, form: ValueForm?) -> JSONValue {
        let uuid = uuid(of: arrival.handle)
        let meaning = ValueMeaning(arrival.value, uuid: uuid, form: form)
        return AttributeEvent.json(
            arrival.isIndication ? "indicated" : "notified", arrival.handle, uuid, meaning: meaning)
    }
}
