import BLE
import BLEManagement

/// The upload of an image or a file by device management: requests in flight at the same time, and the device says from
/// where to go on. A pure state machine.
///
/// Each chunk says its offset, and each response the offset that the device expects next. One that differs means that
/// requests were lost, or that the device has begun elsewhere: what is in flight is awaited, and then sent from there.
package struct ManagementUpload: UpdateMachine {
    /// What is uploaded, and how.
    package struct Plan: Sendable {
        package var group: UInt16
        package var command: UInt8
        package var data: [UInt8]
        /// What the request with offset 0 has besides.
        package var firstMembers: [CBORValue.Member]
        /// What every request has besides.
        package var members: [CBORValue.Member] = []
        package var version: UInt8 = 1
        /// The longest frame in octets.
        package var frameLimit: Int
        /// The longest write in octets.
        package var writeLimit: Int
        /// How many requests may be in flight.
        package var window: Int
        /// The sequence number of the first request.
        package var sequence: UInt8 = 0

        package init(
            group: UInt16, command: UInt8, data: [UInt8], firstMembers: [CBORValue.Member],
            members: [CBORValue.Member] = [], version: UInt8 = 1, frameLimit: Int, writeLimit: Int, window: Int,
            sequence: UInt8 = 0
        ) {
            self.group = group
            self.command = command
            self.data = data
            self.firstMembers = firstMembers
            self.members = members
            self.version = version
            self.frameLimit = frameLimit
            self.writeLimit = writeLimit
            self.window = window
            self.sequence = sequence
        }
    }

    private struct Request: Sendable {
        var sequence: UInt8
        var end: Int
        var deadline: Instant
        var patience: Microseconds
    }

    private enum Phase: Sendable, Equatable {
        case idle
        /// The first request: its response says where to begin.
        case first
        case streaming
        /// Requests in flight are awaited; then it goes on from this offset.
        case draining(Int)
        case ended
    }

    /// A device may have to erase its flash before it answers the first request.
    private static let firstPatience = Microseconds.seconds(60)
    private static let patience = Microseconds.seconds(10)
    /// How often the device may say the same offset again before this ends.
    private static let retryLimit = 5
    /// How often the upload may go on from another offset in all.
    private static let restartLimit = 20
    /// What the device must keep of the image for each time on average, in octets.
    private static let leastGain = 16

    private let plan: Plan
    private var phase = Phase.idle
    private var assembler = ManagementAssembler()
    private var inFlight: [Request] = []
    private var sequence: UInt8
    private var window: Int
    /// The next offset to send.
    private var next = 0
    /// What the device has.
    private var acknowledged = 0
    private var retries = 0
    /// Since the device had more than ever before.
    private var restarts = 0
    private var allRestarts = 0
    private var highest = 0
    private var actions = ActionQueue()
    /// The offset from which the device wanted the upload, if it had a part of it already.
    package private(set) var resumedFrom = 0

    package init(_ plan: Plan) {
        self.plan = plan
        sequence = plan.sequence
        window = max(1, plan.window)
    }

    package var nextDeadline: Instant? { inFlight.map(\.deadline).min() }
    package var failure: UpdateError? { actions.failure }
    package mutating func nextAction() -> UpdateAction? { actions.next() }

    package mutating func receive(_ input: UpdateInput, at now: Instant) {
        switch input {
        case .ready:
            guard phase == .idle else { return }
            phase = .first
            send(at: now)
        case .notified(let octets): receive(octets, at: now)
        case .written:
            // The requests before it have left only now.
            for place in inFlight.indices { inFlight[place].deadline = now.advanced(by: inFlight[place].patience) }
        }
    }

    private mutating func fail(_ error: UpdateError) {
        guard phase != .ended else { return }
        phase = .ended
        inFlight = []
        actions.fail(error)
    }

    private mutating func receive(_ octets: [UInt8], at now: Instant) {
        guard phase != .ended, phase != .idle else { return }
        let frame: ManagementFrame
        do {
            guard let whole = try assembler.add(octets) else { return }
            frame = try ManagementFrame(whole)
        } catch {
            return fail(.invalidResponse("\(error)"))
        }
        // A response to a request that was given up, or to one of others.
        guard frame.operation == .writeResponse, frame.group == plan.group, frame.command == plan.command,
            let place = inFlight.firstIndex(where: { $0.sequence == frame.sequence })
        else { return }
        let request = inFlight[place]
        // A device answers in the order of the requests: those before this one are lost.
        inFlight.removeSubrange(...place)
        if let error = ManagementError(in: frame.content) { return refused(error, at: now) }
        guard let offset = frame.content["off"]?.integer, 0...plan.data.count ~= offset else {
            return fail(.invalidResponse("a response without a valid offset"))
        }
        if frame.content["match"]?.isTrue == false { return fail(.damagedTransfer) }
        if phase == .first {
            resumedFrom = offset == request.end ? 0 : offset
            actions.add(.progress(done: resumedFrom, total: plan.data.count))
            phase = .streaming
            next = offset
            accept(offset)
        } else if phase == .streaming, offset == request.end {
            accept(offset)
        } else if case .draining = phase, offset == request.end, offset > acknowledged {
            accept(offset)
            phase = .draining(offset)
        } else {
            // The device expects another offset.
            phase = .draining(offset)
        }
        goOn(at: now)
    }

    private mutating func accept(_ offset: Int) {
        if offset > acknowledged { retries = 0 }
        acknowledged = max(acknowledged, offset)
        actions.add(.progress(done: offset, total: plan.data.count))
    }

    /// Memory of a device may be short for a moment; anything else ends the upload.
    private mutating func refused(_ error: ManagementError, at now: Instant) {
        guard error.group == nil, [2, 10].contains(error.code), window > 1, retries < Self.retryLimit else {
            return fail(.management(error))
        }
        window = 1
        phase = .draining(acknowledged)
        goOn(at: now)
    }

    private mutating func goOn(at now: Instant) {
        switch phase {
        case .draining(let offset):
            guard inFlight.isEmpty else { return }
            if offset <= acknowledged {
                retries += 1
                guard retries <= Self.retryLimit else { return fail(.timedOut("the upload")) }
            }
            if acknowledged > highest { (highest, restarts) = (acknowledged, 0) }
            restarts += 1
            allRestarts += 1
            let isGainful = (allRestarts - Self.restartLimit) * Self.leastGain <= highest
            guard restarts <= Self.restartLimit, isGainful else {
                return fail(.invalidResponse("it keeps hardly anything of what it is sent"))
            }
            next = offset
            acknowledged = offset
            phase = offset == 0 ? .first : .streaming
            send(at: now)
        case .streaming where acknowledged == plan.data.count:
            phase = .ended
            inFlight = []
            actions.add(.finished)
        case .streaming: send(at: now)
        default: break
        }
    }

    package mutating func advance(to now: Instant) {
        guard let deadline = nextDeadline, deadline <= now else { return }
        // The rest of a frame of which a piece was lost would spoil what comes next.
        assembler.reset()
        inFlight = []
        retries += 1
        guard retries <= Self.retryLimit else { return fail(.timedOut("the upload")) }
        window = 1
        next = acknowledged
        phase = acknowledged == 0 ? .first : .streaming
        send(at: now)
    }

    private mutating func send(at now: Instant) {
        while phase == .first ? inFlight.isEmpty : inFlight.count < window && next < plan.data.count {
            var members = plan.members + [CBORValue.Member(.text("off"), .integer(next))]
            if next == 0 { members += plan.firstMembers }
            guard let count = room(beside: members) else { return fail(.mtuTooSmall(plan.writeLimit + 3)) }
            let end = min(plan.data.count, next + count)
            members.append(CBORValue.Member(.text("data"), .octets(Array(plan.data[next..<end]))))
            let frame = ManagementFrame(
                .write, group: plan.group, command: plan.command, sequence: sequence, version: plan.version,
                content: .map(members)
            ).encoded
            for start in stride(from: 0, to: frame.count, by: plan.writeLimit) {
                actions.add(.writePacket(Array(frame[start..<min(frame.count, start + plan.writeLimit)])))
            }
            let patience = phase == .first ? Self.firstPatience : Self.patience
            inFlight.append(
                Request(sequence: sequence, end: end, deadline: now.advanced(by: patience), patience: patience))
            sequence &+= 1
            next = end
        }
    }

    /// How many octets fit into a frame with these members: whole words, as some flash needs; `nil` for none.
    private func room(beside members: [CBORValue.Member]) -> Int? {
        let empty = CBORValue.map(members + [CBORValue.Member(.text("data"), .octets([]))]).encoded.count
        let room = min(plan.frameLimit, 0xFFFF) - ManagementFrame.headerByteCount - empty
        // The length of the octets takes up to two octets more.
        let count = (room < 24 ? room : room < 258 ? room - 1 : room - 2) & ~3
        return count > 0 ? count : nil
    }
}
