import BLE

/// The state of `serve`.
struct ServingState: Sendable {
    /// The maximum number of updates that wait for room; beyond it the oldest is dropped.
    private static let maximumWaiting = 256

    let adapter: Adapter
    var log: PeripheralLog
    var values: ServedValues
    let packed: PackedAdvertisement
    /// Updates for which there was no room, in order.
    private var waiting: [(handle: AttributeHandle, octets: [UInt8])] = []

    init(adapter: Adapter, log: PeripheralLog, values: ServedValues, packed: PackedAdvertisement) {
        self.adapter = adapter
        self.log = log
        self.values = values
        self.packed = packed
    }

    mutating func receive(_ event: ServerEvent) async {
        switch event {
        case .advertisingStarted: log.advertising(packed)
        case .advertisingStopped: break
        case .advertisingRoom(let room): report(room)
        case .connected(let link): log.connected(link)
        case .mtuChanged(let link, let mtu): log.mtu(mtu, link)
        case .disconnected(let link, let reason): log.disconnected(link, reason)
        case .gatt(let event): await receive(event)
        case .pairing(let link, let event): log.pairing(event, link)
        case .securityChanged(let link, let security): log.security(security, link)
        case .bondNotKept(let error): log.console.note(error.description)
        }
    }

    private func report(_ room: AdvertisingRoom) {
        var parts = room.hiddenServices.map(\.description)
        if room.hidesName { parts.append("the name") }
        guard !parts.isEmpty else { return log.console.note("everything that is advertised has room now") }
        log.console.note("no room beside what other users advertise for " + parts.joined(separator: ", "))
    }

    private mutating func receive(_ event: GATTServerEvent) async {
        switch event {
        case .read(let request):
            await answer(request)
            if let entry = values[request.handle] { log.read(request, entry.uuid) }
        case .write(let request): await write(request)
        case .subscribed(let subscription), .unsubscribed(let subscription):
            if let entry = values[subscription.handle] { log.subscription(subscription, entry.uuid) }
        case .readyToUpdate: await sendWaiting()
        case .fellBehind(let link): log.fellBehind(link)
        // Of what this profile has, the server keeps no other value that can be written.
        case .stored(let link, let write):
            log.written(write.value, write.handle, .serverCharacteristicConfiguration, link)
        case .confirmed, .requestExpired: break
        }
    }

    private func answer(_ request: GATTReadRequest) async {
        let answer = values.answer(request.handle, offset: request.offset)
        guard let delay = values[request.handle]?.answerAfter else {
            await adapter.respond(to: request.id, with: answer)
            return
        }
        // Others are answered meanwhile. A central has one request at a time on each bearer, so these are few.
        Task { [adapter] in
            try? await Task.sleep(for: delay)
            await adapter.respond(to: request.id, with: answer)
        }
    }

    private mutating func write(_ request: GATTWriteRequest) async {
        let (written, answer) = values.write(
            request.writes.map { (handle: $0.handle, offset: $0.offset, octets: $0.value) })
        await adapter.respond(to: request.id, with: answer)
        for handle in written {
            guard let entry = values[handle] else { continue }
            log.written(entry.octets, handle, entry.uuid, request.link)
            if entry.isSent { await update(handle, entry.octets) }
        }
    }

    /// It is time to send a value again. If updates wait for room, this one is skipped.
    mutating func tick(_ handle: AttributeHandle) async {
        guard waiting.isEmpty, let entry = values[handle] else { return }
        await update(handle, entry.octets)
    }

    private mutating func update(_ handle: AttributeHandle, _ octets: [UInt8]) async {
        if waiting.isEmpty, await adapter.updateValue(octets, of: handle) { return }
        if waiting.count == Self.maximumWaiting { waiting.removeFirst() }
        waiting.append((handle, octets))
    }

    private mutating func sendWaiting() async {
        while let next = waiting.first, await adapter.updateValue(next.octets, of: next.handle) {
            waiting.removeFirst()
        }
    }
}
