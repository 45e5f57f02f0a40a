import BLE

/// One part of a package, sent to a bootloader of Nordic's legacy DFU over one link (nRF5 SDK 11, DFU service). A pure state
/// machine. There is no way to go on after a lost link: it begins again.
package struct LegacyDFU: UpdateMachine {
    /// What is sent.
    package struct Plan: Sendable {
        package var initPacket: [UInt8]
        package var image: [UInt8]
        package var softDeviceByteCount: Int
        package var bootloaderByteCount: Int
        package var applicationByteCount: Int
        /// The longest packet in octets.
        package var packetLimit: Int
        /// After how many packets the bootloader reports what it has; 0 for never.
        package var receiptInterval: Int

        package init(
            initPacket: [UInt8], image: [UInt8], softDeviceByteCount: Int = 0, bootloaderByteCount: Int = 0,
            applicationByteCount: Int = 0, packetLimit: Int = 20, receiptInterval: Int
        ) {
            self.initPacket = initPacket
            self.image = image
            self.softDeviceByteCount = softDeviceByteCount
            self.bootloaderByteCount = bootloaderByteCount
            self.applicationByteCount = applicationByteCount
            self.packetLimit = packetLimit
            self.receiptInterval = receiptInterval
        }

        fileprivate var kind: UInt8 {
            (softDeviceByteCount > 0 ? 1 : 0) | (bootloaderByteCount > 0 ? 2 : 0) | (applicationByteCount > 0 ? 4 : 0)
        }
    }

    /// Operations, and what they are waited for.
    private enum Phase: UInt8 {
        case idle = 0
        case starting = 1
        case initializing = 2
        case receiving = 3
        case validating = 4
        case ended = 0xFF
    }

    private static let response: UInt8 = 16
    private static let receipt: UInt8 = 17
    private static let patience = Microseconds.seconds(30)
    /// The bootloader erases its flash first.
    private static let longPatience = Microseconds.seconds(60)

    private let plan: Plan
    private var phase = Phase.idle
    private var actions = ActionQueue()
    private var deadline: Instant?
    /// How long the current step may take once it has been written.
    private var stepPatience = Self.patience
    /// The next octet to send.
    private var next = 0
    private var receiptsAwaited = 0
    package private(set) var restartsWithoutAnswer = false

    package init(_ plan: Plan) { self.plan = plan }

    package var nextDeadline: Instant? { deadline }
    package var failure: UpdateError? { actions.failure }
    package mutating func nextAction() -> UpdateAction? { actions.next() }

    private mutating func fail(_ error: UpdateError) {
        guard phase != .ended else { return }
        phase = .ended
        deadline = nil
        actions.fail(error)
    }

    package mutating func advance(to now: Instant) {
        guard let due = deadline, due <= now else { return }
        fail(.timedOut("the step ‘\(stepText)’"))
    }

    private var stepText: String {
        switch phase {
        case .starting: "start the update"
        case .initializing: "accept the init packet"
        case .validating: "validate the image"
        default: "receive the image"
        }
    }

    private static func octets(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    package mutating func receive(_ input: UpdateInput, at now: Instant) {
        switch input {
        case .ready:
            guard phase == .idle else { return }
            phase = .starting
            actions.add(.writeControl([1, plan.kind]))
            actions.add(
                .writePacket(
                    Self.octets(plan.softDeviceByteCount) + Self.octets(plan.bootloaderByteCount)
                        + Self.octets(plan.applicationByteCount)))
            wait(Self.longPatience, from: now)
        case .written: if deadline != nil { deadline = now.advanced(by: stepPatience) }
        case .notified(let octets): receive(octets, at: now)
        }
    }

    private mutating func wait(_ patience: Microseconds, from now: Instant) {
        stepPatience = patience
        deadline = now.advanced(by: patience)
    }

    private mutating func receive(_ octets: [UInt8], at now: Instant) {
        guard phase != .idle, phase != .ended else { return }
        if octets.first == Self.receipt {
            guard let count = LittleEndian(octets).number32(at: 1), count <= next else {
                return fail(.invalidResponse("a receipt for more than was sent"))
            }
            guard phase == .receiving else { return }
            receiptsAwaited = max(0, receiptsAwaited - 1)
            actions.add(.progress(done: count, total: plan.image.count))
            return send(at: now)
        }
        guard octets.count >= 3, octets[0] == Self.response, octets[1] == phase.rawValue else {
            return fail(.invalidResponse("an answer to another operation"))
        }
        guard octets[2] == 1 else { return fail(.refused(step: stepText, Self.refusal(octets[2], phase))) }
        switch phase {
        case .starting:
            phase = .initializing
            actions.add(.writeControl([2, 0]))
            for start in stride(from: 0, to: plan.initPacket.count, by: 20) {
                actions.add(.writePacket(Array(plan.initPacket[start...].prefix(20))))
            }
            actions.add(.writeControl([2, 1]))
            wait(Self.patience, from: now)
        case .initializing:
            phase = .receiving
            actions.add(.progress(done: 0, total: plan.image.count))
            let interval = plan.receiptInterval
            actions.add(.writeControl([8, UInt8(interval & 0xFF), UInt8(interval >> 8 & 0xFF)]))
            actions.add(.writeControl([3]))
            send(at: now)
        case .receiving:
            guard next == plan.image.count else { return fail(.invalidResponse("it has the image too early")) }
            actions.add(.progress(done: next, total: plan.image.count))
            phase = .validating
            actions.add(.writeControl([4]))
            wait(Self.longPatience, from: now)
        case .validating:
            phase = .ended
            deadline = nil
            restartsWithoutAnswer = true
            actions.add(.writeControl([5]))
            actions.add(.finished)
        case .idle, .ended: break
        }
    }

    private mutating func send(at now: Instant) {
        wait(Self.patience, from: now)
        guard receiptsAwaited == 0 else { return }
        var count = 0
        while next < plan.image.count, plan.receiptInterval == 0 || count < plan.receiptInterval {
            let end = min(plan.image.count, next + plan.packetLimit)
            actions.add(.writePacket(Array(plan.image[next..<end])))
            next = end
            count += 1
        }
        if plan.receiptInterval > 0, count == plan.receiptInterval { receiptsAwaited = 1 }
    }

    private static func refusal(_ code: UInt8, _ phase: Phase) -> DFURefusal {
        let (text, remedy): (String, String?) =
            switch (code, phase) {
            case (2, _): ("it is in another state", "restart the device, and try again")
            case (3, _): ("it does not support this", "take a package with the application only")
            case (4, _): ("the image is too large for its flash", nil)
            case (5, _): ("the checksum is wrong", "bring the devices closer together, and try again")
            case (6, .initializing): ("the package is not for this device", "take the package for this device")
            case (6, _): ("the operation failed", nil)
            default: ("status \(code)", nil)
            }
        return DFURefusal(code: code, text: text, remedy: remedy)
    }
}
