import BLEHost
import BLEMessages
import BLEPackets

/// What a tool offers to centrals: services, advertisements and channels, and the questions of centrals that it has not
/// answered. Nothing in it belongs to another client.
struct ToolServing {
    /// Whether the client has ever served: only then does it hear of centrals.
    var hasBegun = false
    /// Whether the client was last told that the controller advertises.
    var toldAdvertising = false
    /// Its running advertisements, by its own numbers.
    private(set) var advertisements: [OperationID] = []
    /// Its services in the order of publication, with the attributes that they were counted with.
    private(set) var services: [(range: AttributeHandleRange, attributes: Int)] = []
    /// Services that the engine has not published or removed yet, by the client's numbers.
    private var publishing: [OperationID: Int] = [:]
    private var removing: [OperationID: AttributeHandle] = [:]
    /// Reads and writes that wait for the client's answer.
    private(set) var questions: [(id: GATTRequestID, link: LinkID)] = []
    /// The centrals that the client was told about.
    private(set) var centrals: [LinkID] = []
    private(set) var channels: [ChannelID] = []
    private(set) var listeners: [UInt16] = []
    /// Channels that are being opened and listeners that begin.
    private var opening: [OperationID] = []
    /// Write commands that were dropped because the client read too slowly.
    private(set) var lostWrites: UInt32 = 0

    var serviceCount: Int { services.count + publishing.count }
    var attributeCount: Int { services.reduce(0) { $0 + $1.attributes } + publishing.values.reduce(0, +) }
    var channelCount: Int { channels.count + listeners.count + opening.count }

    // MARK: What the client asks for

    mutating func advertises(_ number: OperationID) { advertisements.append(number) }
    mutating func publishes(_ service: GATTServiceDefinition, _ number: OperationID) {
        publishing[number] = service.attributeCount
    }
    mutating func removes(_ handle: AttributeHandle, _ number: OperationID) { removing[number] = handle }
    mutating func opens(_ number: OperationID, count: Int = 1) {
        opening += Array(repeating: number, count: count)
    }
    mutating func stopsListening(_ spsm: UInt16) { listeners.removeAll { $0 == spsm } }

    /// Whether the handle is the first of one of its services.
    func isService(_ handle: AttributeHandle) -> Bool { services.contains { $0.range.first == handle } }

    /// Whether the attribute is one of its own.
    func owns(_ handle: AttributeHandle) -> Bool {
        services.contains { $0.range.first <= handle && handle <= $0.range.last }
    }

    /// The question is answered.
    /// - Returns: whether it was open.
    mutating func answers(_ id: GATTRequestID) -> Bool {
        guard let place = questions.firstIndex(where: { $0.id == id }) else { return false }
        questions.remove(at: place)
        return true
    }

    // MARK: What the engine reports

    /// An operation of the client has ended.
    mutating func completed(_ number: OperationID, _ result: Result<HostResult, HostFailure>) {
        advertisements.removeAll { $0 == number }
        if advertisements.isEmpty { toldAdvertising = false }
        opening.removeAll { $0 == number }
        let attributes = publishing.removeValue(forKey: number)
        let removed = removing.removeValue(forKey: number)
        guard case .success(let success) = result else { return }
        switch success {
        case .published(let service):
            services.append((service.range, attributes ?? 0))
        case .listening(let spsm): listeners.append(spsm)
        case .channel(let information): channels.append(information.id)
        case .channels(let opened): channels += opened.map(\.id)
        case .done: if let removed { services.removeAll { $0.range.first == removed } }
        case .connected, .gatt, .accepted, .paired, .outOfBandData, .rssi, .remoteVersion, .remoteFeatures,
            .connectionParameters, .dataLength, .phy, .subrate, .transmitPower, .hciAnswer:
            break
        }
    }

    /// - Returns: whether the client is told.
    mutating func connected(_ link: LinkID) -> Bool {
        guard hasBegun, !centrals.contains(link) else { return false }
        centrals.append(link)
        return true
    }

    /// - Returns: whether the client is told.
    mutating func disconnected(_ link: LinkID) -> Bool {
        questions.removeAll { $0.link == link }
        guard let place = centrals.firstIndex(of: link) else { return false }
        centrals.remove(at: place)
        return true
    }

    /// - Parameter isSlow: whether the client reads too slowly for what nobody waits for.
    /// - Returns: whether the client is told.
    mutating func hears(_ event: GATTServerEvent, client: ClientID, isSlow: Bool) -> Bool {
        guard hasBegun else { return false }
        switch event {
        case .read(let request):
            guard request.owner == client else { return false }
            questions.append((request.id, request.link))
            return true
        case .write(let request):
            guard request.owner == client else { return false }
            if request.needsAnswer {
                questions.append((request.id, request.link))
            } else if isSlow {
                lostWrites = lostWrites.addingReportingOverflow(1).partialValue
                return false
            }
            return true
        case .subscribed(let subscription), .unsubscribed(let subscription): return subscription.owner == client
        case .readyToUpdate: return !services.isEmpty
        case .stored(_, let write): return owns(write.handle)
        case .confirmed(_, let handle): return owns(handle)
        case .fellBehind(let link): return centrals.contains(link)
        case .requestExpired(let id, _): return answers(id)
        }
    }

    /// - Returns: whether the client is told.
    mutating func hears(_ event: ChannelEvent, client: ClientID) -> Bool {
        switch event {
        case .opened(let information, let owner):
            guard owner == client else { return false }
            channels.append(information.id)
            return true
        case .reconfigured(let information): return channels.contains(information.id)
        case .received(let channel, _): return channels.contains(channel)
        case .closed(let channel, _):
            guard let place = channels.firstIndex(of: channel) else { return false }
            channels.remove(at: place)
            return true
        }
    }

    // MARK: The end

    /// What ends with the client, in order; cancelling its operations ends its advertisements.
    mutating func left() -> [HostCommand] {
        defer {
            var rest = ToolServing()
            // The engine carries these out, or has and has not reported it yet: until it does, they count.
            (rest.publishing, rest.removing, rest.opening) = (publishing, removing, opening)
            self = rest
        }
        let answers = questions.map { HostCommand.server(.respond($0.id, .failure(.unlikelyError))) }
        // A service may include earlier ones.
        let removals = services.reversed().map { HostCommand.server(.removeService($0.range.first)) }
        return answers + listeners.map { .channel(.stopListening(spsm: $0)) }
            + channels.map { .channel(.close($0)) } + removals
    }
}

extension GATTServiceDefinition {
    /// The attributes that it takes at most.
    var attributeCount: Int {
        1 + includedServices.count
            + characteristics.reduce(0) { count, characteristic in
                // Declaration and value, the client's configuration and the extended properties.
                count + 4 + characteristic.descriptors.count + (characteristic.properties.contains(.broadcast) ? 1 : 0)
                    // The list of several formats.
                    + (characteristic.descriptors.count > 1 ? 1 : 0)
            }
    }
}
