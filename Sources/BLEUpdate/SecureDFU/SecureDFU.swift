import BLE

/// One part of a package, sent to a bootloader of Nordic's secure DFU over one link. A pure state machine.
///
/// The init packet is an object of its own, and the image a row of objects of at most the size that the bootloader says.
/// Each object is created, filled by packets, checked by its CRC-32, and executed. What an earlier link has sent is kept
/// if its CRC is right.
package struct SecureDFU: UpdateMachine {
    private enum Phase: Equatable {
        case idle, selectingCommand, creatingCommand, quietening, checkingCommand, executingCommand
        case settingReceipts, selectingData, creatingData, sendingData, checkingData, executingData
        case ended
    }

    private static let patience = Microseconds.seconds(15)
    /// The last object is executed once the whole image has been checked.
    private static let longPatience = Microseconds.seconds(60)
    /// After this the bootloader is asked for what it has: it may count packets otherwise.
    private static let receiptPatience = Microseconds.seconds(3)
    private static let retryLimit = 4
    /// What bootloaders can take while their flash is busy.
    private static let carefulReceiptInterval = 8
    /// The most data objects of an image: bootloaders have pages of flash as objects.
    private static let objectCountLimit = 8192

    private let initPacket: [UInt8]
    private let image: [UInt8]
    private let packetLimit: Int
    private var receiptInterval: Int
    /// Whether receipts begin when the bootloader has lost packets.
    private let choosesReceipts: Bool
    private var phase = Phase.idle
    private var actions = ActionQueue()
    private var deadline: Instant?
    /// How long the current step may take once it has been written.
    private var stepPatience = Self.patience
    private var retries = 0
    /// The most octets of a data object.
    private var objectLimit = 4096
    /// Where the current data object begins and ends.
    private var object = 0..<0
    /// The next octet to send.
    private var next = 0
    /// Packets until the bootloader reports; it counts anew in each object.
    private var untilReceipt = 0
    private var receiptsAwaited = 0
    /// The part of the image before the current data object, and its checksum.
    private var before = (count: 0, checksum: UInt32(0))
    /// The longest part of the image that the bootloader is known to have right, and its checksum.
    private var confirmed = (count: 0, checksum: UInt32(0))
    /// Whether the object that is executed is the last one.
    private var isActivating = false

    /// - Parameters:
    ///   - packetLimit: the longest packet in octets.
    ///   - receiptInterval: after how many packets the bootloader reports what it has, and is waited for; 0 for never. `nil`
    ///     leaves the pace to the flow control of the link, until the bootloader has lost packets.
    package init(initPacket: [UInt8], image: [UInt8], packetLimit: Int, receiptInterval: Int?) {
        self.initPacket = initPacket
        self.image = image
        // Flash is written in words, and some bootloaders do not put halves together.
        self.packetLimit = packetLimit < 4 ? max(1, packetLimit) : packetLimit & ~3
        self.receiptInterval = min(0xFFFF, max(0, receiptInterval ?? 0))
        choosesReceipts = receiptInterval == nil
    }

    package var nextDeadline: Instant? { deadline }
    package var failure: UpdateError? { actions.failure }
    package mutating func nextAction() -> UpdateAction? { actions.next() }

    private mutating func ask(
        _ phase: Phase, _ octets: [UInt8], _ now: Instant, _ patience: Microseconds = Self.patience
    ) {
        self.phase = phase
        actions.add(.writeControl(octets))
        stepPatience = patience
        deadline = now.advanced(by: patience)
    }

    private mutating func fail(_ error: UpdateError) {
        guard phase != .ended else { return }
        phase = .ended
        deadline = nil
        actions.fail(error)
    }

    private static func octets(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    package mutating func advance(to now: Instant) {
        guard let due = deadline, due <= now else { return }
        if phase == .sendingData {
            // A receipt is missing: ask for it.
            receiptsAwaited = 0
            return ask(.checkingData, [SecureDFUOperation.checksum.rawValue], now)
        }
        fail(.timedOut("the step ‘\(stepText)’"))
    }

    private var stepText: String {
        switch phase {
        case .selectingCommand, .creatingCommand, .quietening, .checkingCommand: "send the init packet"
        case .executingCommand: "accept the init packet"
        case .executingData: isActivating ? "activate the image" : "store a part of the image"
        default: "send the image"
        }
    }

    package mutating func receive(_ input: UpdateInput, at now: Instant) {
        switch input {
        case .ready:
            guard phase == .idle else { return }
            ask(.selectingCommand, [SecureDFUOperation.select.rawValue, 1], now)
        case .written:
            // The packets before it have left only now.
            if deadline != nil {
                deadline = now.advanced(by: phase == .sendingData ? Self.receiptPatience : stepPatience)
            }
        case .notified(let octets):
            guard phase != .ended, phase != .idle else { return }
            guard let response = SecureDFUResponse(octets) else {
                return fail(.invalidResponse("a response that is none"))
            }
            receive(response, at: now)
        }
    }

    private var awaited: SecureDFUOperation? {
        switch phase {
        case .selectingCommand, .selectingData: .select
        case .creatingCommand, .creatingData: .create
        case .quietening, .settingReceipts: .setReceipts
        case .checkingCommand, .checkingData, .sendingData: .checksum
        case .executingCommand, .executingData: .execute
        case .idle, .ended: nil
        }
    }

    private mutating func receive(_ response: SecureDFUResponse, at now: Instant) {
        guard response.operation == awaited?.rawValue else {
            // A receipt that comes late says nothing new.
            if case .checksum = response.result { return }
            return fail(.invalidResponse("an answer to another operation"))
        }
        if case .refused(let refusal) = response.result { return fail(.refused(step: stepText, refusal)) }
        switch (phase, response.result) {
        case (.selectingCommand, .selected(let limit, let offset, let checksum)):
            guard initPacket.count <= limit else { return fail(.unsuitable("the init packet is too long for it")) }
            guard offset > 0, offset <= initPacket.count, checksum == Checksum.crc32(initPacket.prefix(offset)) else {
                return createCommand(at: now)
            }
            next = offset
            // The init packet may have been executed or not: executing it again is harmless.
            offset == initPacket.count ? executeCommand(at: now) : quieten(at: now)
        case (.creatingCommand, _):
            next = 0
            quieten(at: now)
        case (.quietening, _):
            sendPackets(of: initPacket, to: initPacket.count, count: .max)
            ask(.checkingCommand, [SecureDFUOperation.checksum.rawValue], now)
        case (.checkingCommand, .checksum(let offset, let checksum)):
            if offset == initPacket.count, checksum == Checksum.crc32(initPacket) {
                retries = 0
                executeCommand(at: now)
            } else if retry() {
                createCommand(at: now)
            }
        case (.executingCommand, _): setReceipts(at: now)
        case (.settingReceipts, _):
            untilReceipt = receiptInterval
            ask(.selectingData, [SecureDFUOperation.select.rawValue, 2], now)
        case (.selectingData, .selected(let limit, let offset, let checksum)):
            guard limit > 0 else { return fail(.invalidResponse("objects without room")) }
            guard image.count / limit <= Self.objectCountLimit else {
                return fail(.invalidResponse("objects of \(limit) octets: \(image.count / limit) for this image"))
            }
            objectLimit = limit
            resume(offset, checksum, at: now)
        case (.creatingData, _):
            next = object.lowerBound
            untilReceipt = receiptInterval
            send(at: now)
        case (.sendingData, .checksum(let offset, let checksum)):
            receiptsAwaited = max(0, receiptsAwaited - 1)
            guard isRight(offset, checksum) else { return recreate(at: now) }
            actions.add(.progress(done: offset, total: image.count))
            send(at: now)
        case (.checkingData, .checksum(let offset, let checksum)):
            check(offset, checksum, at: now)
        case (.executingData, _):
            retries = 0
            if object.upperBound == image.count { return finish() }
            create(from: object.upperBound, at: now)
        default: fail(.invalidResponse("an answer of another kind"))
        }
    }

    /// Only what was not checked before is: a bootloader may ask for this as often as it likes.
    private mutating func isRight(_ offset: Int, _ checksum: UInt32) -> Bool {
        guard confirmed.count...max(confirmed.count, next) ~= offset else { return false }
        let own = Checksum.crc32(image[confirmed.count..<offset], after: confirmed.checksum)
        guard checksum == own else { return false }
        confirmed = (offset, checksum)
        return true
    }

    /// - Returns: whether it may be tried once more.
    private mutating func retry() -> Bool {
        retries += 1
        if retries > Self.retryLimit { fail(.damagedTransfer) }
        return retries <= Self.retryLimit
    }

    private mutating func createCommand(at now: Instant) {
        ask(.creatingCommand, [SecureDFUOperation.create.rawValue, 1] + Self.octets(initPacket.count, 4), now)
    }

    /// No receipts while the init packet is sent: it is short.
    private mutating func quieten(at now: Instant) {
        ask(.quietening, [SecureDFUOperation.setReceipts.rawValue, 0, 0], now)
    }

    private mutating func executeCommand(at now: Instant) {
        ask(.executingCommand, [SecureDFUOperation.execute.rawValue], now)
    }

    private mutating func setReceipts(at now: Instant) {
        ask(.settingReceipts, [SecureDFUOperation.setReceipts.rawValue] + Self.octets(receiptInterval, 2), now)
    }

    private mutating func resume(_ offset: Int, _ checksum: UInt32, at now: Instant) {
        guard offset > 0, offset <= image.count else { return create(from: 0, at: now) }
        let start = (offset - 1) / objectLimit * objectLimit
        object = start..<min(image.count, start + objectLimit)
        before = (start, Checksum.crc32(image.prefix(start)))
        confirmed = before
        next = offset
        guard isRight(offset, checksum) else { return create(from: start, at: now) }
        actions.add(.progress(done: offset, total: image.count))
        // A whole object may have been executed or not.
        offset == object.upperBound ? execute(at: now) : send(at: now)
    }

    private mutating func create(from start: Int, at now: Instant) {
        // The part before it is checked already: it is what has been executed, or nothing.
        if start == 0 { before = (0, 0) }
        if start == confirmed.count { before = confirmed }
        confirmed = before
        object = start..<min(image.count, start + objectLimit)
        if start == 0 { actions.add(.progress(done: 0, total: image.count)) }
        ask(
            .creatingData, [SecureDFUOperation.create.rawValue, 2] + Self.octets(object.count, 4), now,
            Self.longPatience)
    }

    private mutating func recreate(at now: Instant) {
        receiptsAwaited = 0
        guard retry() else { return }
        guard choosesReceipts, receiptInterval == 0 else { return create(from: object.lowerBound, at: now) }
        // Then the bootloader is asked what it has, as on a new link.
        receiptInterval = Self.carefulReceiptInterval
        setReceipts(at: now)
    }

    /// Sends packets until a receipt is due, or the object ends.
    private mutating func send(at now: Instant) {
        // The bootloader still owes a receipt.
        guard receiptsAwaited == 0 else { return }
        phase = .sendingData
        sendPackets(of: image, to: object.upperBound, count: receiptInterval == 0 ? .max : untilReceipt)
        if next == object.upperBound, receiptsAwaited == 0 {
            ask(.checkingData, [SecureDFUOperation.checksum.rawValue], now)
        } else {
            deadline = now.advanced(by: Self.receiptPatience)
        }
    }

    private mutating func sendPackets(of octets: [UInt8], to end: Int, count: Int) {
        var left = count
        while next < end, left > 0 {
            let last = min(end, next + packetLimit)
            actions.add(.writePacket(Array(octets[next..<last])))
            next = last
            left -= 1
            guard receiptInterval > 0, phase == .sendingData else { continue }
            untilReceipt -= 1
            if untilReceipt == 0 {
                untilReceipt = receiptInterval
                receiptsAwaited += 1
            }
        }
    }

    private mutating func check(_ offset: Int, _ checksum: UInt32, at now: Instant) {
        guard isRight(offset, checksum) else { return recreate(at: now) }
        actions.add(.progress(done: offset, total: image.count))
        if offset == object.upperBound {
            execute(at: now)
        } else if offset == next {
            // A missing receipt was asked for: the bootloader counts from here.
            send(at: now)
        } else {
            recreate(at: now)
        }
    }

    private mutating func execute(at now: Instant) {
        isActivating = object.upperBound == image.count
        ask(
            .executingData, [SecureDFUOperation.execute.rawValue], now,
            isActivating ? Self.longPatience : Self.patience)
    }

    private mutating func finish() {
        phase = .ended
        deadline = nil
        actions.add(.finished)
    }
}
