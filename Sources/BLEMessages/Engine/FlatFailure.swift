import BLEHost
import BLEPackets

/// The fields of `Failure`. Each reason is stated once, for both directions.
struct FlatFailure {
    var reason: UInt32 = 0
    var code: UInt32 = 0
    var opcode: UInt32 = 0
    var handle: UInt32 = 0
    var number: UInt64 = 0
    var otherNumber: UInt64 = 0
    var disconnection: DisconnectionReason?
    var isOfGATT = false
    /// Empty, or a UUID.
    var uuid: [UInt8] = []
    /// Whether the fields are read; otherwise they are set.
    var isReading = false
    private var isFound = false

    enum Slot { case code, opcode, handle, number, otherNumber }

    private subscript(slot: Slot) -> UInt64 {
        get {
            switch slot {
            case .code: UInt64(code)
            case .opcode: UInt64(opcode)
            case .handle: UInt64(handle)
            case .number: number
            case .otherNumber: otherNumber
            }
        }
        set {
            switch slot {
            case .code: code = UInt32(truncatingIfNeeded: newValue)
            case .opcode: opcode = UInt32(truncatingIfNeeded: newValue)
            case .handle: handle = UInt32(truncatingIfNeeded: newValue)
            case .number: number = newValue
            case .otherNumber: otherNumber = newValue
            }
        }
    }

    /// Whether the failure that is read has this reason.
    mutating func reads(_ number: UInt32) -> Bool {
        guard isReading, reason == number else { return false }
        isFound = true
        return true
    }

    private func value<V: Scalar>(_ slot: Slot) throws(MessageError) -> V {
        guard let value = V(bits: self[slot]) else { throw .invalidField }
        return value
    }

    mutating func reason<T: Equatable>(_ number: UInt32, _ it: inout T, _ value: T) throws(MessageError) {
        if reads(number) { it = value } else if !isReading, it == value { reason = number }
    }

    mutating func reason<T, A: Scalar>(
        _ number: UInt32, _ it: inout T, _ make: (A) -> T, _ slot: Slot, _ content: (T) -> A?
    ) throws(MessageError) {
        if reads(number) {
            it = make(try value(slot))
        } else if !isReading, let a = content(it) {
            reason = number
            self[slot] = a.bits
        }
    }

    mutating func reason<T, A: Scalar, B: Scalar>(
        _ number: UInt32, _ it: inout T, _ make: (A, B) -> T, _ slot: Slot, _ other: Slot, _ content: (T) -> (A, B)?
    ) throws(MessageError) {
        if reads(number) {
            it = make(try value(slot), try value(other))
        } else if !isReading, let (a, b) = content(it) {
            reason = number
            self[slot] = a.bits
            self[other] = b.bits
        }
    }

    /// A reason with a type.
    mutating func type<T>(
        _ number: UInt32, _ it: inout T, _ make: (BluetoothUUID) -> T, _ content: (T) -> BluetoothUUID?
    ) throws(MessageError) {
        if reads(number) {
            guard let type = BluetoothUUID(messageOctets: uuid[...]) else { throw .invalidField }
            it = make(type)
        } else if !isReading, let type = content(it) {
            reason = number
            uuid = type.messageOctets
        }
    }

    /// The reasons of a failure that is a part of another one.
    /// - Parameter part: any value.
    mutating func part<T, P>(
        _ it: inout T, _ part: P, _ make: (P) -> T, _ reasons: (inout P, inout Self) throws(MessageError) -> Void,
        where isMeant: Bool = true, _ content: (T) -> P?
    ) throws(MessageError) {
        guard var part = isReading ? (isFound || !isMeant ? nil : part) : content(it) else { return }
        try reasons(&part, &self)
        if isFound { it = make(part) }
    }
}
