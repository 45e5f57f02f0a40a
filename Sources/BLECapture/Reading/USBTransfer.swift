import BLEPackets

/// A transfer on a USB that is submitted or completed.
struct USBTransfer {
    enum Kind {
        case isochronous, interrupt, control, bulk
    }

    /// Which of the devices that are on the bus.
    var device: USBControllers.Address
    /// `nil`: a kind that there is not.
    var kind: Kind?
    var isSubmission: Bool
    var isCompletion: Bool
    var isToHost: Bool
    /// Whether a completed transfer has succeeded.
    var isSuccess: Bool
    /// Whether it is a control request to the device that carries an HCI command (Core 5.4, Vol 4, Part B, 2.2.2); some
    /// controllers of before 2.0 have another number.
    var isCommand: Bool
    /// Octets of data in the record.
    var count: Int
    /// Octets of data that the capture program left out.
    var missing: Int

    init(
        device: USBControllers.Address, kind: Kind?, isSubmission: Bool, isCompletion: Bool, isToHost: Bool,
        isSuccess: Bool, isCommand: Bool, count: Int, missing: Int
    ) {
        self.device = device
        self.kind = kind
        self.isSubmission = isSubmission
        self.isCompletion = isCompletion
        self.isToHost = isToHost
        self.isSuccess = isSuccess
        self.isCommand = isCommand
        self.count = count
        self.missing = missing
    }

    /// A record of the USB monitor of Linux (`usbmon`), whose numbers are in the order of the file.
    init(_ buffer: borrowing InputBuffer, at position: Int, count: Int, isBigEndian: Bool) {
        func octet(_ place: Int) -> UInt8 { buffer.load(at: position + place, bigEndian: isBigEndian) }
        device = USBControllers.Address(
            bus: buffer.load(at: position + 12, bigEndian: isBigEndian), number: octet(11))
        kind =
            switch octet(9) {
            case 0: .isochronous
            case 1: .interrupt
            case 2: .control
            case 3: .bulk
            default: nil
            }
        isSubmission = octet(8) == UInt8(ascii: "S")
        isCompletion = octet(8) == UInt8(ascii: "C")
        isToHost = octet(10) & 0x80 != 0
        isSuccess = buffer.load(at: position + 28, bigEndian: isBigEndian, as: Int32.self) == 0
        // The record has the setup packet only where this is zero.
        let isSetUp = octet(14) == 0 && octet(40) == 0x20
        isCommand =
            kind == .control && isSubmission && isSetUp && (octet(41) == 0x00 || octet(41) == 0xE0)
        let length: UInt32 = buffer.load(at: position + 32, bigEndian: isBigEndian)
        let included: UInt32 = buffer.load(at: position + 36, bigEndian: isBigEndian)
        self.count = min(count, Int(included))
        missing = max(0, Int(length) - self.count)
    }
}

/// The controllers among the devices on a USB: those that got an HCI command. What others send, such as keyboards, is
/// passed over.
struct USBControllers {
    struct Address: Equatable {
        var bus: UInt16
        var number: UInt8
    }

    /// What carries packets in several transfers, because it may take as little as 16 octets at a time.
    enum Endpoint: Int, CaseIterable {
        case events, receivedData, sentData

        var type: H4PacketType { self == .events ? .event : .acl }
        var direction: CaptureDirection { self == .sentData ? .hostToController : .controllerToHost }

        /// Octets of a packet with its header; `nil` while too little of it is there.
        func byteCount(of packet: [UInt8]) -> Int? {
            switch self {
            case .events: packet.count < 2 ? nil : 2 + Int(packet[1])
            case .receivedData, .sentData: packet.count < 4 ? nil : 4 + (Int(packet[2]) | Int(packet[3]) << 8)
            }
        }
    }

    struct Controller {
        var address: Address
        /// The beginning of a packet, for each endpoint.
        var pieces = [[UInt8]](repeating: [], count: Endpoint.allCases.count)
    }

    /// More devices than a bus has at a time; the first ones count.
    private static let limit = 16
    private(set) var all: [Controller] = []
    /// Whose request for a command was recorded without the command, which follows (USBPcap).
    var announced: Address?

    func index(of address: Address) -> Int? { all.firstIndex { $0.address == address } }

    mutating func add(_ address: Address) -> Int? {
        if let known = index(of: address) { return known }
        guard all.count < Self.limit else { return nil }
        all.append(Controller(address: address))
        return all.count - 1
    }

    subscript(index: Int) -> Controller {
        _read { yield all[index] }
        _modify { yield &all[index] }
    }
}

extension CaptureReader {
    /// The packet in a transfer, or one that it completes (Core 5.4, Vol 4, Part B, 2.2).
    mutating func readTransfer(
        _ transfer: USBTransfer, at position: Int, timestampMicroseconds: Int64
    ) -> FoundRecord? {
        guard transfer.count > 0 else { return nil }
        if transfer.isCommand, isWholeCommand(transfer, at: position), let index = controllers.add(transfer.device) {
            return packet(
                .command, .hostToController, transfer, at: position, adapter: index, time: timestampMicroseconds)
        }
        guard let index = controllers.index(of: transfer.device) else {
            foreignRecordCount += 1
            hasForeignTransfers = true
            return nil
        }
        let hasArrived = transfer.isCompletion && transfer.isToHost
        let endpoint: USBControllers.Endpoint
        switch transfer.kind {
        case .interrupt where hasArrived: endpoint = .events
        case .bulk where hasArrived: endpoint = .receivedData
        case .bulk where transfer.isSubmission && !transfer.isToHost: endpoint = .sentData
        case .isochronous, .interrupt, .control, .bulk, nil: return nil
        }
        return join(endpoint, transfer, at: position, adapter: index, time: timestampMicroseconds)
    }

    /// Other devices may have requests of this number, too: a command has its own length.
    private func isWholeCommand(_ transfer: USBTransfer, at position: Int) -> Bool {
        guard transfer.count >= 3 else { return false }
        let parameters: UInt8 = buffer.load(at: position + 2, bigEndian: false)
        return transfer.count + transfer.missing == 3 + Int(parameters)
    }

    private mutating func packet(
        _ type: H4PacketType, _ direction: CaptureDirection, _ transfer: USBTransfer, at position: Int, adapter: Int,
        time: Int64
    ) -> FoundRecord {
        // The type takes the place of the header's last octet.
        buffer.overwrite(type.rawValue, at: position - 1)
        return FoundRecord(
            content: .packet(direction), timestampMicroseconds: time, adapter: UInt16(adapter),
            originalByteCount: 1 + transfer.count + transfer.missing,
            place: buffer.place(at: position - 1, count: transfer.count + 1))
    }

    /// Puts a packet together from the transfers of an endpoint. Each packet begins with a transfer.
    private mutating func join(
        _ endpoint: USBControllers.Endpoint, _ transfer: USBTransfer, at position: Int, adapter: Int, time: Int64
    ) -> FoundRecord? {
        var octets = controllers[adapter].pieces[endpoint.rawValue]
        let isWhole = { (octets: [UInt8], count: Int) in endpoint.byteCount(of: octets).map { count >= $0 } ?? false }
        // The rest was left out by the capture program: nothing of it follows.
        let isCut = transfer.missing > 0
        // A packet whose transfer failed is none, but what follows it still belongs to it, and is no new one.
        let hasFailed = endpoint != .sentData && !transfer.isSuccess
        if octets.isEmpty {
            let head = buffer.copy(at: position, count: min(transfer.count, 4))
            if isCut || isWhole(head, transfer.count) {
                guard !hasFailed else { return nil }
                return packet(
                    endpoint.type, endpoint.direction, transfer, at: position, adapter: adapter, time: time)
            }
        }
        octets += buffer.copy(at: position, count: transfer.count)
        guard isCut || isWhole(octets, octets.count) else {
            controllers[adapter].pieces[endpoint.rawValue] = octets
            return nil
        }
        controllers[adapter].pieces[endpoint.rawValue] = []
        guard !hasFailed else { return nil }
        return FoundRecord(
            content: .packet(endpoint.direction), timestampMicroseconds: time, adapter: UInt16(adapter),
            originalByteCount: 1 + octets.count + transfer.missing,
            place: buffer.append([endpoint.type.rawValue] + octets))
    }
}
