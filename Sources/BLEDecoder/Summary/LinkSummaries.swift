import BLECapture

/// Follows the connections of a capture for their summaries, in bounded memory.
struct LinkSummaries {
    /// The most connections that are kept; later ones are only counted.
    static let maximumCount = 4096
    /// The most connections that are open at once, and devices with failed attempts.
    static let maximumOpenCount = 256
    private static let maximumBearerCount = 64
    /// The channel identifier of ATT.
    private static let fixedBearer: UInt16 = 4

    /// An ATT bearer in one direction: its request, or its indication.
    private struct Exchange {
        /// The channel identifier, the direction and whether it is an indication.
        var key: UInt32 = 0
        /// Zero while nothing waits for an answer.
        var opcode: UInt8 = 0
        var first: UInt64 = 0
        var count = 0
        var time: Int64 = 0
        /// The last request that was refused.
        var refusedFirst: UInt64 = 0
        var refusedCount = 0

        /// - Returns: whether the same request was refused just before.
        @inline(__always)
        mutating func ask(_ opcode: UInt8, _ first: UInt64, _ count: Int, _ now: Int64) -> Bool {
            let isRepeated = refusedCount == count && refusedFirst == first
            self.opcode = opcode
            self.first = first
            self.count = count
            time = now
            refusedCount = 0
            return isRepeated
        }

        /// - Returns: the time of the request; `nil` if none waits for this answer.
        @inline(__always)
        mutating func answer(_ opcode: UInt8, isRefusal: Bool) -> Int64? {
            guard self.opcode != 0, self.opcode == opcode else { return nil }
            self.opcode = 0
            if isRefusal { (refusedFirst, refusedCount) = (first, count) }
            return time
        }
    }

    private struct Open {
        var adapter: Int
        var handle: UInt16
        /// In `links`; −1 if there was no room.
        var place: Int
        /// Of the fixed channel, by direction and kind.
        var fixed: [4 of Exchange] = [Exchange(), Exchange(), Exchange(), Exchange()]
        /// Of other bearers.
        var exchanges: [Exchange] = []
        /// The MTU in the request, by direction.
        var offeredMTU: [2 of UInt16] = [0, 0]
    }

    private struct Attempt {
        var adapter: Int
        /// `nil` for the devices of the accept list.
        var address: UInt64?
        /// Whether it can only become a connection on the 1M PHY.
        var isOn1M: Bool
    }

    private(set) var links: [LinkSummary] = []
    /// Connections that are not in `links`.
    private(set) var omittedCount = 0
    /// The connection of the last record; −1 for none.
    var last = -1
    private var open: [Open] = []
    private var lastOpen = 0
    private var attempt: [Attempt] = []
    private var failures: [(adapter: Int, address: UInt64?, count: Int)] = []

    /// Attempts to connect that failed and were followed by no connection to the device.
    var failedAttemptCount: Int { failures.reduce(0) { $0 + $1.count } }

    // MARK: Commands and events

    /// Whether `command` does anything with it.
    @inline(__always)
    static func concerns(command opcode: UInt16) -> Bool {
        opcode == 0x200D || opcode == 0x2043 || opcode == 0x2085
    }

    /// Whether `event` does anything with it.
    @inline(__always)
    static func concerns(event code: UInt8) -> Bool {
        switch code {
        case 0x03, 0x05, 0x08, 0x0E, 0x0F, 0x59: true
        default: false
        }
    }

    /// A whole command: `parameters` follow its header.
    mutating func command(_ opcode: UInt16, _ parameters: RawSpan, adapter: Int) {
        switch opcode {
        case 0x200D: begin(adapter, parameters.octet(4) == 0 ? parameters.integer(6, width: 6) : nil, isOn1M: true)
        case 0x2043, 0x2085:
            let start = opcode == 0x2043 ? 0 : 2
            let isListed = parameters.octet(start) != 0
            begin(
                adapter, isListed ? nil : parameters.integer(start + 3, width: 6),
                isOn1M: parameters.octet(start + 9) == 1)
        default: break
        }
    }

    private mutating func begin(_ adapter: Int, _ address: UInt64?, isOn1M: Bool) {
        attempt.removeAll { $0.adapter == adapter }
        attempt.append(Attempt(adapter: adapter, address: address, isOn1M: isOn1M))
    }

    private mutating func countFailure(_ adapter: Int, _ address: UInt64?) {
        if let place = failures.firstIndex(where: { $0.adapter == adapter && $0.address == address }) {
            failures[place].count += 1
        } else if failures.count < Self.maximumOpenCount {
            failures.append((adapter, address, 1))
        }
    }

    /// A whole event other than LE Meta: `parameters` follow its header.
    mutating func event(_ code: UInt8, _ parameters: RawSpan, adapter: Int, of record: UInt16, at now: Int64) {
        switch code {
        case 0x03 where parameters.octet(0) == 0 && parameters.octet(9) == 1 && parameters.byteCount >= 11:
            connect(
                adapter, record, parameters.uint16(1), address: parameters.integer(3, width: 6), type: 0, now
            ) { $0.isClassic = true }
        case 0x05 where parameters.octet(0) == 0 && parameters.byteCount >= 4:
            let reason = parameters.octet(3)
            guard let index = find(adapter, parameters.uint16(1) & 0x0FFF) else { return }
            let place = open[index].place
            if place >= 0 {
                last = place
                links[place].lasted = now
                // The device did not answer the first packets: an attempt that failed (Core 5.4, Vol 1, Part F, 2.57).
                if reason == 0x3E { countFailure(adapter, links[place].address) }
            }
            close(index, .disconnected(reason: reason))
        case 0x08 where parameters.octet(0) == 0, 0x59 where parameters.octet(0) == 0:
            let isOn = parameters.octet(3) != 0
            update(adapter, parameters.uint16(1), now) { $0.isEncrypted = isOn }
        case 0x0E where parameters.uint16(1) == 0x0C03 && parameters.octet(3) == 0:
            while let index = open.firstIndex(where: { $0.adapter == adapter }) {
                if open[index].place >= 0 { links[open[index].place].lasted = now }
                close(index, .reset)
            }
        case 0x0E where parameters.uint16(1) == 0x2030 && parameters.octet(3) == 0 && parameters.byteCount >= 8:
            setPHY(adapter, parameters.uint16(4), parameters.octet(6), parameters.octet(7), now)
        case 0x0F where parameters.octet(0) != 0:
            let opcode = parameters.uint16(2)
            guard opcode == 0x200D || opcode == 0x2043 || opcode == 0x2085 else { return }
            fail(adapter)
        default: break
        }
    }

    private mutating func fail(_ adapter: Int) {
        guard let place = attempt.firstIndex(where: { $0.adapter == adapter }) else { return }
        countFailure(adapter, attempt.remove(at: place).address)
    }

    /// A whole LE Meta event other than reports: `fields` follow the subevent code.
    mutating func metaEvent(_ subevent: UInt8, _ fields: RawSpan, adapter: Int, of record: UInt16, at now: Int64) {
        switch subevent {
        case 0x01, 0x0A, 0x29:
            let status = fields.octet(0)
            let place = subevent == 0x01 ? 11 : 23
            guard fields.byteCount >= place + 7 else { return }
            guard status == 0 else {
                // Unknown Connection Identifier: the host cancelled the attempt.
                if status == 0x02 { attempt.removeAll { $0.adapter == adapter } } else { fail(adapter) }
                return
            }
            let isCentral = fields.octet(3) == 0
            let interval = fields.uint16(place)
            let latency = fields.uint16(place + 2)
            let timeout = fields.uint16(place + 4)
            connect(
                adapter, record, fields.uint16(1), address: fields.integer(5, width: 6), type: fields.octet(4), now
            ) { link in
                link.isCentral = isCentral
                link.interval = interval
                link.latency = latency
                link.timeout = timeout
            }
        case 0x03 where fields.octet(0) == 0 && fields.byteCount >= 9:
            let interval = fields.uint16(3)
            let latency = fields.uint16(5)
            let timeout = fields.uint16(7)
            update(adapter, fields.uint16(1), now) { link in
                link.interval = interval
                link.latency = latency
                link.timeout = timeout
                link.parameterUpdates += 1
            }
        case 0x07 where fields.byteCount >= 10:
            let transmit = fields.uint16(2)
            let receive = fields.uint16(6)
            update(adapter, fields.uint16(0), now) { link in
                link.transmitOctets = transmit
                link.receiveOctets = receive
            }
        case 0x0C where fields.octet(0) == 0 && fields.byteCount >= 5:
            setPHY(adapter, fields.uint16(1), fields.octet(3), fields.octet(4), now)
        default: break
        }
    }

    private mutating func setPHY(_ adapter: Int, _ handle: UInt16, _ transmit: UInt8, _ receive: UInt8, _ now: Int64) {
        update(adapter, handle, now) { link in
            link.transmitPHY = transmit
            link.receivePHY = receive
        }
    }

    private mutating func update(
        _ adapter: Int, _ handle: UInt16, _ now: Int64, _ body: (inout LinkSummary) -> Void
    ) {
        guard let index = find(adapter, handle & 0x0FFF), open[index].place >= 0 else { return }
        last = open[index].place
        links[last].lasted = now
        body(&links[last])
    }

    // MARK: Sniffers

    /// CONNECT_IND: a connection begins.
    mutating func connect(_ link: FollowedLink, at now: Int64) {
        guard let request = link.request else { return }
        connect(
            AdapterIndexes.air, 0, link.handle, address: request.peripheral.address,
            type: request.peripheral.isRandom ? 1 : 0, now
        ) { summary in
            summary.accessAddress = link.accessAddress
            summary.central = request.central.address
            summary.interval = request.interval
            summary.latency = request.latency
            summary.timeout = request.timeout
        }
    }

    /// A control PDU that is not sent again.
    mutating func control(_ pdu: RawSpan, _ link: FollowedLink, at now: Int64) {
        let adapter = AdapterIndexes.air
        switch (pdu.octet(0), pdu.byteCount) {
        case (0x00, 12):
            let values = (pdu.uint16(4), pdu.uint16(6), pdu.uint16(8))
            update(adapter, link.handle, now) { summary in
                (summary.interval, summary.latency, summary.timeout) = values
                summary.parameterUpdates += 1
            }
        case (0x02, 2):
            guard let index = find(adapter, link.handle) else { return }
            if open[index].place >= 0 { links[open[index].place].lasted = now }
            close(index, .disconnected(reason: pdu.octet(1)))
        case (0x05, 1): update(adapter, link.handle, now) { $0.isEncrypted = true }
        case (0x15, 9):
            let values = (pdu.uint16(5), pdu.uint16(1))
            update(adapter, link.handle, now) { ($0.transmitOctets, $0.receiveOctets) = values }
        case (0x18, 5):
            let phys: [UInt8] = [0, 1, 2, 0, 3]
            let (sends, receives) = (Int(pdu.octet(1)), Int(pdu.octet(2)))
            guard sends < phys.count, receives < phys.count else { return }
            update(adapter, link.handle, now) { summary in
                if sends > 0 { summary.transmitPHY = phys[sends] }
                if receives > 0 { summary.receivePHY = phys[receives] }
            }
        default: break
        }
    }

    /// Data of a connection, whose beginning the sniffer may not have captured.
    mutating func data(_ link: FollowedLink, frame: Int, way: Int, at now: Int64) {
        data(adapter: AdapterIndexes.air, of: 0, handle: link.handle, frame: frame, way: way, at: now)
        if last >= 0 { links[last].accessAddress = link.accessAddress }
    }

    // MARK: Links

    private mutating func connect(
        _ adapter: Int, _ record: UInt16, _ handle: UInt16, address: UInt64, type: UInt8, _ now: Int64,
        _ body: (inout LinkSummary) -> Void
    ) {
        let handle = handle & 0x0FFF
        if let index = find(adapter, handle) { close(index, .replaced) }
        let place = open[add(adapter, record, handle, now)].place
        var failed = 0
        failures.removeAll { failure in
            guard failure.adapter == adapter, failure.address == address || failure.address == nil else { return false }
            failed += failure.count
            return true
        }
        let isOn1M = attempt.contains { $0.adapter == adapter && $0.isOn1M }
        attempt.removeAll { $0.adapter == adapter }
        guard place >= 0 else { return }
        if isOn1M { (links[place].transmitPHY, links[place].receivePHY) = (1, 1) }
        links[place].address = address
        links[place].addressType = type
        links[place].failedAttempts = failed
        body(&links[place])
    }

    private mutating func add(_ adapter: Int, _ record: UInt16, _ handle: UInt16, _ now: Int64) -> Int {
        if open.count >= Self.maximumOpenCount { open.removeFirst() }
        var place = -1
        if links.count < Self.maximumCount {
            place = links.count
            links.append(LinkSummary(adapter: record, handle: handle, began: now))
        } else {
            omittedCount += 1
        }
        last = place
        open.append(Open(adapter: adapter, handle: handle, place: place))
        lastOpen = open.count - 1
        return lastOpen
    }

    private mutating func close(_ index: Int, _ ending: LinkSummary.Ending) {
        let place = open.remove(at: index).place
        lastOpen = 0
        if place >= 0 { links[place].ending = ending }
    }

    @inline(__always)
    private mutating func find(_ adapter: Int, _ handle: UInt16) -> Int? {
        if lastOpen < open.count, open[lastOpen].handle == handle, open[lastOpen].adapter == adapter { return lastOpen }
        guard let index = open.firstIndex(where: { $0.handle == handle && $0.adapter == adapter }) else { return nil }
        lastOpen = index
        return index
    }

    /// Whether a connection has this handle.
    func isOpen(adapter: Int, handle: UInt16) -> Bool { open.contains { $0.handle == handle && $0.adapter == adapter } }

    // MARK: Data

    /// A frame of the last packet's connection on a fixed channel. Of a connection that began before the capture, the
    /// channels of BR/EDR say what it is.
    mutating func addChannel(_ channel: UInt16) {
        guard last >= 0, links[last].address == nil else { return }
        if channel == 0x0001 || channel == 0x0002 || channel == 0x0007 { links[last].isClassic = true }
    }

    /// A packet with ACL data; its connection begins here if the capture began later.
    /// - Parameter frame: the length of the frame that it completes, 0 if it completes none.
    @inline(__always)
    mutating func data(adapter: Int, of record: UInt16, handle: UInt16, frame: Int, way: Int, at now: Int64) {
        let index = find(adapter, handle) ?? add(adapter, record, handle, now)
        last = open[index].place
        guard last >= 0 else { return }
        links[last].note(frame, way, now)
    }

    /// An ATT PDU of the last packet's connection.
    /// - Parameters:
    ///   - bearer: the channel identifier of one side, the same in both directions.
    ///   - first: its first eight octets, the first one lowest; zeros where the capture lacks them.
    mutating func attribute(_ first: UInt64, _ count: Int, bearer: UInt16, way: Int, at now: Int64) {
        guard last >= 0, lastOpen < open.count, open[lastOpen].place == last else { return }
        let opcode = UInt8(truncatingIfNeeded: first)
        switch opcode {
        case 0x1B, 0x1D, 0x23: links[last].countValue(count)
        case 0x12, 0x52, 0xD2: links[last].valueOctets += max(0, count - 3)
        case 0x16: links[last].valueOctets += max(0, count - 5)
        case 0x0B, 0x0D: links[last].valueOctets += max(0, count - 1)
        default: break
        }
        switch opcode {
        case 0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20, 0x1D:
            request(opcode, first, count, bearer, way, now)
        case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x21, 0x1E:
            answer(opcode, first, count, bearer, 1 - way, now)
        default: break
        }
    }

    private static func key(_ bearer: UInt16, _ way: Int, isIndication: Bool) -> UInt32 {
        UInt32(bearer) << 2 | UInt32(way) << 1 | (isIndication ? 1 : 0)
    }

    private mutating func request(
        _ opcode: UInt8, _ first: UInt64, _ count: Int, _ bearer: UInt16, _ way: Int, _ now: Int64
    ) {
        links[last].requests += 1
        if opcode == 0x02 { open[lastOpen].offeredMTU[way] = UInt16(truncatingIfNeeded: first >> 8) }
        let isIndication = opcode == 0x1D
        if bearer == Self.fixedBearer {
            let place = way << 1 | (isIndication ? 1 : 0)
            if open[lastOpen].fixed[place].ask(opcode, first, count, now) { links[last].repeatedRequests += 1 }
            return
        }
        let key = Self.key(bearer, way, isIndication: isIndication)
        var place = open[lastOpen].exchanges.firstIndex { $0.key == key }
        if place == nil {
            guard open[lastOpen].exchanges.count < Self.maximumBearerCount else { return }
            place = open[lastOpen].exchanges.count
            open[lastOpen].exchanges.append(Exchange(key: key))
        }
        guard let place else { return }
        if open[lastOpen].exchanges[place].ask(opcode, first, count, now) { links[last].repeatedRequests += 1 }
    }

    private mutating func answer(
        _ opcode: UInt8, _ first: UInt64, _ count: Int, _ bearer: UInt16, _ way: Int, _ now: Int64
    ) {
        let error = UInt8(truncatingIfNeeded: first >> 32)
        let isError = opcode == 0x01 && count >= 5
        if isError, error != 0x0A { links[last].countError(error) }
        let isIndication = opcode == 0x1E
        let answered = opcode == 0x01 ? UInt8(truncatingIfNeeded: first >> 8) : opcode - 1
        let isRefusal = isError && error != 0x0A
        let asked: Int64?
        if bearer == Self.fixedBearer {
            let place = way << 1 | (isIndication ? 1 : 0)
            asked = open[lastOpen].fixed[place].answer(answered, isRefusal: isRefusal)
        } else {
            let key = Self.key(bearer, way, isIndication: isIndication)
            guard let place = open[lastOpen].exchanges.firstIndex(where: { $0.key == key }) else { return }
            asked = open[lastOpen].exchanges[place].answer(answered, isRefusal: isRefusal)
        }
        guard let asked else { return }
        let time = max(0, now &- asked)
        links[last].answers += 1
        links[last].totalLatency &+= time
        links[last].worstLatency = max(links[last].worstLatency, time)
        if opcode == 0x03 {
            let offered = min(open[lastOpen].offeredMTU[way], UInt16(truncatingIfNeeded: first >> 8))
            links[last].mtu = max(23, Int(offered))
        }
    }
}
