/// What a bootloader of Nordic's secure DFU answers at its control point (nRF5 SDK, Bootloader and DFU modules, Transport
/// layer).
package enum SecureDFUOperation: UInt8, Sendable {
    case create = 0x01
    case setReceipts = 0x02
    case checksum = 0x03
    case execute = 0x04
    case select = 0x06
    case response = 0x60
}

/// A response: to what, and its result.
package struct SecureDFUResponse: Equatable, Sendable {
    package enum Result: Equatable, Sendable {
        case done
        case selected(limit: Int, offset: Int, checksum: UInt32)
        case checksum(offset: Int, checksum: UInt32)
        case refused(DFURefusal)
    }

    package var operation: UInt8
    package var result: Result

    /// - Returns: `nil` for what is no response.
    package init?(_ octets: [UInt8]) {
        guard octets.count >= 3, octets[0] == SecureDFUOperation.response.rawValue else { return nil }
        operation = octets[1]
        let reader = LittleEndian(octets)
        func checksum(at place: Int) -> UInt32? { reader.number32(at: place).map { UInt32($0) } }
        guard octets[2] == 1 else {
            let extended = octets[2] == 0x0B && octets.count > 3 ? octets[3] : nil
            result = .refused(Self.refusal(octets[2], extended))
            return
        }
        switch operation {
        case SecureDFUOperation.select.rawValue:
            guard let limit = reader.number32(at: 3), let offset = reader.number32(at: 7),
                let checksum = checksum(at: 11)
            else { return nil }
            result = .selected(limit: limit, offset: offset, checksum: checksum)
        case SecureDFUOperation.checksum.rawValue:
            guard let offset = reader.number32(at: 3), let checksum = checksum(at: 7) else { return nil }
            result = .checksum(offset: offset, checksum: checksum)
        default: result = .done
        }
    }

    private static func refusal(_ code: UInt8, _ extended: UInt8?) -> DFURefusal {
        let texts: [UInt8: String] = [
            0: "invalid code", 2: "it does not know the operation", 3: "invalid parameter", 4: "not enough memory",
            5: "the init packet or the image is not valid for it: signature, hash or type", 7: "unsupported type",
            8: "it is not allowed now", 10: "the operation failed", 11: "error without a reason",
        ]
        guard let extended else {
            let remedy = code == 5 ? "sign the package with the key that the device's bootloader knows" : nil
            return DFURefusal(code: code, text: texts[code] ?? "result \(code)", remedy: remedy)
        }
        let (text, remedy): (String, String?) =
            switch extended {
            case 2: ("wrong format of a command", nil)
            case 3: ("unknown command", nil)
            case 4: ("the init command is not valid", nil)
            case 5: ("it has a newer version of the firmware", "build the package with a higher version")
            case 6: ("the package is for other hardware", "take the package for this device")
            case 7: ("the package needs another SoftDevice", "take a package for its SoftDevice, or with one")
            case 8: ("the package is not signed", "sign it with the key that the device's bootloader knows")
            case 9: ("it does not accept this kind of hash", nil)
            case 10: ("it could not compute the hash", nil)
            case 11: ("it does not accept this kind of signature", nil)
            case 12: ("the image does not have the hash that the init packet says", "build the package again")
            case 13: ("the image is too large for its flash", nil)
            default: ("extended error \(extended)", nil)
            }
        return DFURefusal(code: code, extended: extended, text: text, remedy: remedy)
    }
}
