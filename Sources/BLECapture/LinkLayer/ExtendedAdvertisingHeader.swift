/// The header in the payload of PDUs of extended advertising (Core 5.4, Vol 6, Part B, 2.3.4): which of its fields there
/// are, and where.
public struct ExtendedAdvertisingHeader: Sendable {
    /// Neither connectable nor scannable, connectable, scannable: 0 to 2.
    public var mode: UInt8
    /// Where the fields are in the payload; `nil` for those that are absent.
    public var advertiser: Int?
    public var target: Int?
    public var tone: Int?
    /// Set and identifier of the data (ADI).
    public var dataIdentifier: Int?
    /// Where the next PDU is (AuxPtr).
    public var pointer: Int?
    /// Where a periodic train is (SyncInfo).
    public var synchronization: Int?
    public var power: Int?
    /// Additional data of the controller (ACAD).
    public var additional: Range<Int>
    /// Advertising data, or a piece of it if there is a pointer.
    public var data: Range<Int>
    /// Access address and CRCInit of the train in `synchronization`.
    var train: (accessAddress: UInt32, crcInit: UInt32)?

    /// - Returns: `nil` if the payload is too short for what its header says.
    public init?(_ payload: RawSpan) {
        guard payload.byteCount >= 1 else { return nil }
        let length = Int(payload.octet(0) & 0x3F)
        mode = payload.octet(0) >> 6
        guard payload.byteCount >= 1 + length else { return nil }
        data = 1 + length..<payload.byteCount
        additional = 1 + length..<1 + length
        guard length > 0 else { return }
        let flags = payload.octet(1)
        var position = 2
        func take(_ bit: UInt8, _ count: Int) -> Int? {
            guard flags & bit != 0 else { return nil }
            defer { position += count }
            return position
        }
        advertiser = take(0x01, 6)
        target = take(0x02, 6)
        tone = take(0x04, 1)
        dataIdentifier = take(0x08, 2)
        pointer = take(0x10, 3)
        synchronization = take(0x20, 18)
        power = take(0x40, 1)
        guard position <= 1 + length else { return nil }
        additional = position..<1 + length
        // Offset (16 bits), interval (16), channels (40), access address (32), CRCInit (24), event counter (16).
        if let synchronization {
            train = (
                UInt32(truncatingIfNeeded: payload.number(synchronization + 9, width: 4)),
                UInt32(truncatingIfNeeded: payload.number(synchronization + 13, width: 3))
            )
        }
    }
}
