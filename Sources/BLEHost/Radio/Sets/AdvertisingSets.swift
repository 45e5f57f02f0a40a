import BLEPackets

/// The clients' advertising sets: each request has a set of the controller, by its handle.
///
/// Handle 0 belongs to the advertisement that all clients share (`Advertiser`). How many sets the controller has, and
/// how much data they can have, is read before the first one is made.
struct AdvertisingSets {
    struct Entry {
        var operation: OperationID
        var client: ClientID
        var request: AdvertisingSetRequest
        let handle: UInt8
        /// The Advertising SID, if the request names none.
        let identifier: UInt8
        var machine = AdvertisingSetMachine()
        /// The client no longer wants it; it stays until the controller has removed it.
        var isLeaving = false
        /// In dBm, as the controller chose it.
        var transmitPower: Int8 = 127
        /// Responses whose last part is still missing.
        var responses = ResponseJoiner()

        /// The events and their receivers, without a copy of the rest.
        var owner: (operation: OperationID, client: ClientID, isLeaving: Bool) { (operation, client, isLeaving) }
    }

    /// What the controller can do; `nil` while it is not known.
    struct Capacity: Equatable {
        var sets = 0xF0
        var dataLength = AdvertisingSetRequest.longestData
    }

    private enum Knowledge {
        case unknown, asked
        case known(Capacity)
    }

    /// Whether the controller reports what concerns subevents.
    var hasResponseEvents = false
    /// Handles of sets that are not in the list: directed and raw advertisements of several users.
    var guestHandles: [UInt8] = []
    /// In the order of the requests.
    var entries: [Entry] = []
    private var knowledge = Knowledge.unknown
    private var capacityRead = Capacity()
    /// Sets that a link ended, and which were reported before the link.
    private var earlyEnds: [(link: ConnectionHandle, handle: UInt8)] = []
    /// Links of centrals that ended a set or the shared advertisement, and which one is not reported yet.
    private var openEnds: [ConnectionHandle] = []
    /// How many of each are kept: the other event follows at once.
    private static let endLimit = 8

    /// Whether no set is on, or about to be.
    var isIdle: Bool { !Features.sets || entries.allSatisfy { $0.machine.isOff } }
    var isEmpty: Bool { entries.isEmpty }

    var capacity: Capacity? {
        if case .known(let capacity) = knowledge { capacity } else { nil }
    }

    /// The lowest handle from 1 that is free; `nil` if all are in use.
    var freeHandle: UInt8? {
        (1...0xEF).first { handle in !entries.contains { $0.handle == handle } && !guestHandles.contains(handle) }
    }

    /// An Advertising SID that no set has, as long as there is one. The shared advertisement has 0.
    func freeIdentifier(for handle: UInt8) -> UInt8 {
        let preferred = max(1, handle & 0x0F)
        let used = entries.map { $0.request.identifier ?? $0.identifier }
        return used.contains(preferred) ? (1...0x0F).first { !used.contains($0) } ?? preferred : preferred
    }

    /// Whether the controller has a set left for the shared advertisement, as far as is known.
    var hasRoom: Bool {
        guard Features.sets, let capacity else { return true }
        return entries.count { !$0.isLeaving } + guestHandles.count < capacity.sets
    }

    func index(of operation: OperationID) -> Int? {
        entries.firstIndex { $0.operation == operation && !$0.isLeaving }
    }

    func index(ofHandle handle: UInt8) -> Int? { entries.firstIndex { $0.handle == handle } }

    /// - Returns: whether the controller has to be asked now.
    mutating func askCapacity() -> Bool {
        guard case .unknown = knowledge else { return false }
        knowledge = .asked
        return true
    }

    /// An answer about the capacity; one that is refused leaves the largest value.
    mutating func learned(_ status: HCIStatus, _ opcode: HCIOpcode, _ parameters: RawSpan) {
        var reader = PacketReader(parameters)
        if status.isSuccess {
            switch opcode {
            case LEReadNumberOfSupportedAdvertisingSets.opcode:
                let answer = try? LEReadNumberOfSupportedAdvertisingSets.ReturnParameters(decoding: &reader)
                if let answer { capacityRead.sets = Int(answer.count) }
            case LEReadMaximumAdvertisingDataLength.opcode:
                let answer = try? LEReadMaximumAdvertisingDataLength.ReturnParameters(decoding: &reader)
                if let answer { capacityRead.dataLength = Int(answer.length) }
            default: break
            }
        }
        if opcode == LEReadMaximumAdvertisingDataLength.opcode { knowledge = .known(capacityRead) }
    }

    mutating func controllerReset() {
        guard Features.sets else { return }
        knowledge = .unknown
        hasResponseEvents = false
        capacityRead = Capacity()
        earlyEnds.removeAll()
        openEnds.removeAll()
        entries.removeAll { $0.isLeaving }
        for index in entries.indices { entries[index].machine.controllerReset() }
    }

    mutating func recordEarlyEnd(of handle: UInt8, by link: ConnectionHandle) {
        earlyEnds.removeAll { $0.link == link }
        if earlyEnds.count >= Self.endLimit { earlyEnds.removeFirst() }
        earlyEnds.append((link, handle))
    }

    mutating func removeEarlyEnd(by link: ConnectionHandle) -> UInt8? {
        guard let index = earlyEnds.firstIndex(where: { $0.link == link }) else { return nil }
        return earlyEnds.remove(at: index).handle
    }

    /// A central's link was made; what it ended is reported next.
    mutating func recordOpenEnd(by link: ConnectionHandle) {
        openEnds.removeAll { $0 == link }
        if openEnds.count >= Self.endLimit { openEnds.removeFirst() }
        openEnds.append(link)
    }

    /// - Returns: whether it was not known yet what this link ended.
    mutating func removeOpenEnd(by link: ConnectionHandle) -> Bool {
        guard let index = openEnds.firstIndex(of: link) else { return false }
        openEnds.remove(at: index)
        return true
    }

    var nextDeadline: Instant? {
        Features.sets ? entries.reduce(nil) { earliest($0, $1.machine.nextDeadline) } : nil
    }
}
