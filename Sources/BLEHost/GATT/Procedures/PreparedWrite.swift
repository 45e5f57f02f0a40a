import BLEPackets

/// Writes values through the server's queue (Core 5.4, Vol 3, Part G, 4.9.4 and 4.9.5).
///
///     preparing ──last part──▶ executing ──▶ done
///         │ refused, broken, other echo, cancelled
///         ▼
///     cancelling ──any answer──▶ failed
///
/// If something fails while parts are in the queue, the queue is cleared before the operation ends: the next prepared
/// write must not execute what is left of this one.
struct PreparedWrite {
    private enum Stage {
        case preparing
        case executing
        case cancelling(GATTFailure)
    }

    private let writes: [AttributeWrite]
    /// Whether the server's echo must match what was sent (Core 5.4, Vol 3, Part G, 4.9.5).
    private let comparesEcho: Bool
    /// Where the values begin in the attributes.
    private let base: Int
    private var stage = Stage.preparing
    /// The index of the part in progress.
    private var index = 0
    private var offset = 0
    private var length = 0

    init(_ writes: [AttributeWrite], comparesEcho: Bool, at base: UInt16 = 0) {
        self.writes = writes
        self.comparesEcho = comparesEcho
        self.base = Int(base)
    }

    mutating func begin(mtu: UInt16) -> GATTStep {
        guard !writes.isEmpty else { return .failed(.invalidParameters) }
        guard writes.allSatisfy({ $0.value.count <= maximumAttributeLength && base + $0.value.count <= 0xFFFF }) else {
            return .failed(.valueTooLong(limit: maximumAttributeLength))
        }
        return prepare(mtu: mtu)
    }

    private mutating func prepare(mtu: UInt16) -> GATTStep {
        let write = writes[index]
        length = min(write.value.count - offset, Int(mtu) - 5)
        let part = write.value.span.bytes.extracting(offset..<(offset + length))
        let request = ATTPrepareWriteRequest(
            handle: write.handle, offset: UInt16(truncatingIfNeeded: base + offset), value: part)
        return .send(request.encoded())
    }

    mutating func receive(_ pdu: RawSpan, mtu: UInt16) throws(DecodingError) -> GATTStep {
        switch stage {
        case .preparing:
            let response = try ATTPrepareWriteResponse(pdu)
            let write = writes[index]
            if comparesEcho, !isEcho(response, of: write) { return failed(.reliableWriteMismatch(write.handle)) }
            offset += length
            if offset >= write.value.count {
                index += 1
                offset = 0
            }
            guard index == writes.count else { return prepare(mtu: mtu) }
            stage = .executing
            return .send(ATTExecuteWriteRequest(flags: .write).encoded())
        case .executing:
            _ = try ATTExecuteWriteResponse(pdu)
            return .done(.written)
        case .cancelling(let failure): return .failed(failure)
        }
    }

    private func isEcho(_ response: ATTPrepareWriteResponse, of write: AttributeWrite) -> Bool {
        guard response.handle == write.handle, Int(response.offset) == base + offset,
            response.value.byteCount == length
        else {
            return false
        }
        for position in 0..<length where response.value.byte(at: position) != write.value[offset + position] {
            return false
        }
        return true
    }

    /// The last request failed.
    mutating func failed(_ failure: GATTFailure) -> GATTStep {
        switch stage {
        case .preparing: return cancel(failure)
        case .executing: return .failed(failure)
        case .cancelling(let first): return .failed(first)
        }
    }

    private mutating func cancel(_ failure: GATTFailure) -> GATTStep {
        stage = .cancelling(failure)
        return .send(ATTExecuteWriteRequest(flags: .cancel).encoded())
    }

    /// Clears the queue instead of continuing.
    mutating func cleanUp() -> [UInt8] {
        stage = .cancelling(.cancelled)
        return ATTExecuteWriteRequest(flags: .cancel).encoded()
    }
}
