/// A connection in a capture.
struct Link {
    /// An ATT request that waits for its response.
    struct Request {
        var opcode: UInt8
        var frame: Int
        var time: Int64
        var handle: UInt16
        var type: AttributeType
    }

    /// Octets of an incomplete L2CAP frame.
    struct Assembly {
        var bytes: [UInt8] = []
        /// How many octets have been received, including those that the capture left out.
        var received = 0
        /// Whether the capture left octets out, so that the fragments cannot be reassembled.
        var isCut = false

        /// Whether a frame has begun and not ended.
        var isPending: Bool { received != 0 || isCut }

        /// Another frame begins.
        mutating func forget() {
            received = 0
            isCut = false
        }
    }

    var adapter: Int
    var handle: UInt16
    /// The order in which connections were seen, from 0.
    var number: Int
    var address: UInt64?
    /// Public or random; `nil` for BR/EDR.
    var isRandom: Bool?
    var isLE = true
    var lastUse = 0
    /// By direction.
    var assemblies = [Assembly(), Assembly()]
    /// Outstanding ATT requests on the fixed channel, by direction and kind: a device has at most one request as a
    /// client and one indication as a server (Core 5.4, Vol 3, Part F, 3.3.2).
    private var requests: [Request?] = [nil, nil, nil, nil]
    /// Outstanding ATT requests on other channels, by their keys and the kind.
    private var channelRequests: [UInt32: Request] = [:]
    /// The databases of the host's server and of the peer's.
    var databases = [AttributeDatabase(), AttributeDatabase()]
    var channels = ChannelTable()
    /// Octets of incomplete SDUs, by channel and direction.
    private var units: [UInt32: [UInt8]] = [:]
    private var unitByteCount = 0

    /// The maximum octets of SDUs that are kept for a link.
    static let maximumUnitByteCount = 64 << 10

    init(adapter: Int, handle: UInt16, number: Int) {
        self.adapter = adapter
        self.handle = handle
        self.number = number
    }

    private func key(_ channel: Int, _ way: Int) -> UInt32 {
        UInt32(channels.channels[channel].identifiers[way]) << 1 | UInt32(way)
    }

    /// The outstanding request or indication in one direction, on a dynamic channel or the fixed one.
    func request(on channel: Int?, way: Int, isIndication: Bool) -> Request? {
        guard let channel else { return requests[way << 1 | (isIndication ? 1 : 0)] }
        return channelRequests[key(channel, way) << 1 | (isIndication ? 1 : 0)]
    }

    mutating func setRequest(_ request: Request?, on channel: Int?, way: Int, isIndication: Bool) {
        guard let channel else {
            requests[way << 1 | (isIndication ? 1 : 0)] = request
            return
        }
        channelRequests[key(channel, way) << 1 | (isIndication ? 1 : 0)] = request
    }

    /// Stores octets of an SDU; drops the SDU if there is no room, or the capture does not have all octets.
    mutating func gather(_ bytes: RawSpan, on channel: Int, way: Int, isFirst: Bool, isWhole: Bool) {
        let key = key(channel, way)
        if isFirst { forgetUnit(key) }
        guard isWhole, isFirst || units[key] != nil,
            unitByteCount + bytes.byteCount <= Self.maximumUnitByteCount
        else { return forgetUnit(key) }
        unitByteCount += bytes.byteCount
        unsafe bytes.withUnsafeBytes { unsafe units[key, default: []].append(contentsOf: $0) }
    }

    /// Returns the stored octets of an SDU, and forgets them.
    mutating func removeUnit(on channel: Int, way: Int) -> [UInt8] {
        let key = key(channel, way)
        defer { forgetUnit(key) }
        return units[key] ?? []
    }

    private mutating func forgetUnit(_ key: UInt32) {
        if let old = units.removeValue(forKey: key) { unitByteCount -= old.count }
    }

    /// Channels have opened or closed: incomplete SDUs are dropped.
    mutating func channelsChanged() {
        var keys: Set<UInt32> = []
        for index in channels.channels.indices {
            for way in 0...1 where channels.channels[index].unitLengths[way] >= 0 { keys.insert(key(index, way)) }
        }
        for key in units.keys.filter({ !keys.contains($0) }) { forgetUnit(key) }
        if channelRequests.count > 2 * ChannelTable.maximumCount { channelRequests = [:] }
    }
}

/// The open connections, and the databases of devices that were connected before, in bounded memory.
struct LinkTable {
    static let maximumLinkCount = 64
    static let maximumMemoryCount = 32

    var links: [Link] = []
    private(set) var connectionCount = 0
    private var lastIndex = 0
    private var memories: [(address: UInt64, adapter: Int, databases: [AttributeDatabase])] = []
    private var clock = 0

    /// The link of a handle; created if its connection was not captured, as in captures that begin late.
    @inline(__always)
    mutating func index(adapter: Int, handle: UInt16) -> Int {
        if lastIndex < links.count, links[lastIndex].handle == handle, links[lastIndex].adapter == adapter {
            return lastIndex
        }
        return find(adapter: adapter, handle: handle) ?? open(adapter: adapter, handle: handle)
    }

    mutating func find(adapter: Int, handle: UInt16) -> Int? {
        guard let index = links.firstIndex(where: { $0.handle == handle && $0.adapter == adapter }) else { return nil }
        clock += 1
        links[index].lastUse = clock
        lastIndex = index
        return index
    }

    /// A connection begins.
    @discardableResult
    mutating func open(
        adapter: Int, handle: UInt16, address: UInt64? = nil, isRandom: Bool? = nil, isLE: Bool = true
    ) -> Int {
        close(adapter: adapter, handle: handle)
        if links.count >= Self.maximumLinkCount,
            let oldest = links.indices.min(by: { links[$0].lastUse < links[$1].lastUse })
        {
            close(adapter: links[oldest].adapter, handle: links[oldest].handle)
        }
        clock += 1
        var link = Link(adapter: adapter, handle: handle, number: connectionCount)
        connectionCount += 1
        link.address = address
        link.isRandom = isRandom
        link.isLE = isLE
        link.lastUse = clock
        if let address, let known = memories.first(where: { $0.address == address && $0.adapter == adapter }) {
            link.databases = known.databases
        }
        links.append(link)
        lastIndex = links.count - 1
        return lastIndex
    }

    /// A connection ends; the database of its device is remembered.
    mutating func close(adapter: Int, handle: UInt16) {
        guard let index = links.firstIndex(where: { $0.handle == handle && $0.adapter == adapter }) else { return }
        let link = links.remove(at: index)
        lastIndex = 0
        guard let address = link.address else { return }
        memories.removeAll { $0.address == address && $0.adapter == adapter }
        if memories.count >= Self.maximumMemoryCount { memories.removeFirst() }
        memories.append((address, adapter, link.databases))
    }
}
