import BLECapture

/// A connection, as far as the capture tells of it.
struct Link {
    /// A request of ATT that waits for its response.
    struct Request {
        var opcode: UInt8
        var frame: Int
        var time: Int64
        var handle: UInt16
        var type: AttributeType
    }

    /// Octets of an L2CAP frame that has not come whole.
    struct Assembly {
        var bytes: [UInt8] = []
        /// How many octets came, counting those that the capture left out.
        var received = 0
    }

    /// A dynamic channel and the protocol on it.
    struct Channel {
        var identifier: UInt16
        /// Whether the identifier is the host's, which the peer writes on its frames.
        var isLocal: Bool
        var psm: UInt16
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
    /// By the direction of their octets.
    var assemblies = [Assembly(), Assembly()]
    /// By the direction of the request.
    var requests: [Request?] = [nil, nil]
    /// Of the host's server and the peer's.
    var databases = [AttributeDatabase(), AttributeDatabase()]
    var channels: [Channel] = []
    /// Channels that were asked for: the identifier of the command, and its PSM and channel.
    var asked: [(identifier: UInt8, psm: UInt16, channel: UInt16, isFromHost: Bool)] = []

    static let maximumChannelCount = 64

    init(adapter: Int, handle: UInt16, number: Int) {
        self.adapter = adapter
        self.handle = handle
        self.number = number
    }
}

/// The connections that are open, and what is known of devices that were connected before. All of it is bounded.
struct LinkTable {
    static let maximumLinkCount = 64
    static let maximumMemoryCount = 32

    var links: [Link] = []
    private(set) var connectionCount = 0
    private var lastIndex = 0
    private var memories: [(address: UInt64, adapter: Int, databases: [AttributeDatabase])] = []
    private var clock = 0

    /// The link of a handle; one is made where none was announced, as in captures that begin late.
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

    /// A connection ends; what its device offered is remembered.
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
