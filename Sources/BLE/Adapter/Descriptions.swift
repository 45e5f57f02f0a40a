import BLEPackets

extension HCIStatus {
    /// The meaning of the code (Core 5.4, Vol 1, Part F, 1.3), and the code.
    public var text: String {
        let name: String? =
            switch rawValue {
            case 0x00: "success"
            case 0x01: "unknown HCI command"
            case 0x02: "unknown connection identifier"
            case 0x03: "hardware failure"
            case 0x04: "page timeout"
            case 0x05: "authentication failure"
            case 0x06: "PIN or key missing"
            case 0x07: "memory capacity exceeded"
            case 0x08: "connection timeout"
            case 0x09: "connection limit exceeded"
            case 0x0B: "connection already exists"
            case 0x0C: "command disallowed"
            case 0x0D: "rejected for limited resources"
            case 0x0E: "rejected for security reasons"
            case 0x0F: "rejected for an unacceptable address"
            case 0x11: "unsupported feature or parameter value"
            case 0x12: "invalid HCI command parameters"
            case 0x13: "remote user terminated the connection"
            case 0x14: "remote device is low on resources"
            case 0x15: "remote device is powering off"
            case 0x16: "connection terminated by the local host"
            case 0x17: "repeated attempts"
            case 0x18: "pairing not allowed"
            case 0x1A: "unsupported remote feature"
            case 0x1E: "invalid LL parameters"
            case 0x1F: "unspecified error"
            case 0x20: "unsupported LL parameter value"
            case 0x22: "LL response timeout"
            case 0x23: "LL procedure collision"
            case 0x25: "encryption mode not acceptable"
            case 0x28: "instant passed"
            case 0x29: "pairing with unit key not supported"
            case 0x2A: "different transaction collision"
            case 0x2E: "channel classification not supported"
            case 0x2F: "insufficient security"
            case 0x30: "parameter out of mandatory range"
            case 0x3A: "controller busy"
            case 0x3B: "unacceptable connection parameters"
            case 0x3C: "advertising timeout"
            case 0x3D: "connection terminated due to MIC failure"
            case 0x3E: "connection failed to be established"
            case 0x42: "unknown advertising identifier"
            case 0x43: "limit reached"
            case 0x44: "operation cancelled by host"
            case 0x45: "packet too long"
            default: nil
            }
        let code = hexadecimal(rawValue, digits: 2)
        return name.map { "\($0) (\(code))" } ?? "error \(code)"
    }
}

extension ATTError {
    /// The meaning of the code (Core 5.4, Vol 3, Part F, 3.4.1.1; SPEC 2.1).
    public var text: String {
        switch rawValue {
        case 0x01: "invalid handle"
        case 0x02: "reading is not permitted"
        case 0x03: "writing is not permitted"
        case 0x04: "invalid PDU"
        case 0x05: "insufficient authentication"
        case 0x06: "request not supported"
        case 0x07: "invalid offset"
        case 0x08: "insufficient authorization"
        case 0x09: "prepare queue full"
        case 0x0A: "attribute not found"
        case 0x0B: "attribute not long"
        case 0x0C: "encryption key too short"
        case 0x0D: "invalid attribute value length"
        case 0x0E: "unlikely error"
        case 0x0F: "insufficient encryption"
        case 0x10: "unsupported group type"
        case 0x11: "insufficient resources"
        case 0x12: "database out of sync"
        case 0x13: "value not allowed"
        case 0x80...0x9F: "an error of the application"
        case 0xFC: "write request rejected"
        case 0xFD: "client characteristic configuration improperly configured"
        case 0xFE: "procedure already in progress"
        case 0xFF: "out of range"
        default: "reserved"
        }
    }
}

extension ATTInvalidResponse: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let error): "a malformed PDU (\(error))"
        case .wrongOpcode(let opcode): "PDU \(hexadecimal(opcode.rawValue, digits: 2)), which answers another request"
        case .wrongRequestInError(let opcode):
            "an error for request \(hexadecimal(opcode.rawValue, digits: 2)), which was not asked"
        case .handleOutOfRange(let handle):
            "handle \(hexadecimal(handle.rawValue, digits: 4)), which was not requested"
        case .handleOutOfOrder(let handle):
            "handle \(hexadecimal(handle.rawValue, digits: 4)), which is out of order"
        case .elementLength(let length): "elements of \(length) bytes"
        case .tooManyValues: "more values than requested"
        }
    }
}
