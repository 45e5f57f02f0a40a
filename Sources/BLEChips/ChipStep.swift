import BLEPackets

/// What a script wants next.
enum ChipStep: Equatable {
    /// Send a command and wait for its answer.
    case command(HCIOpcode, [UInt8])
    /// Send a command that is not answered.
    case announcement(HCIOpcode, [UInt8])
    case pause(microseconds: UInt64)
    /// Change the speed of the port.
    case setBaud(UInt32)
    /// Establish a three-wire link anew, if there is one: the chip has started again.
    case restartLink
    /// Read the first of these files that is there.
    case readFile([String])
    case done
}

/// What a script learns about its last step.
enum ChipResult: Equatable {
    /// The beginning, or a step without a result.
    case nothing
    /// The return parameters, status first.
    case answer([UInt8])
    /// `nil`: none is there.
    case file(ChipFile?)
}

/// The start of a family's chips, step by step.
protocol ChipScript: Sendable {
    var information: ChipInformation { get }
    /// Takes the result of the last step and names the next one.
    mutating func next(_ result: ChipResult) throws(ChipFailure) -> ChipStep
}

extension HCIOpcode {
    static let reset = HCIOpcode(rawValue: 0x0C03)
    static let readLocalName = HCIOpcode(rawValue: 0x0C14)
    static let readLocalVersion = HCIOpcode(rawValue: 0x1001)
    static let readAddress = HCIOpcode(rawValue: 0x1009)
}

extension ChipResult {
    /// The parameters behind a status of success.
    /// - Parameter count: at least so many are required.
    func parameters(of opcode: HCIOpcode, count: Int = 0) throws(ChipFailure) -> [UInt8] {
        guard case .answer(let octets) = self, let status = octets.first else { throw .invalidAnswer(opcode) }
        guard status == 0 else { throw .refused(opcode, HCIStatus(rawValue: status)) }
        guard octets.count > count else { throw .invalidAnswer(opcode) }
        return Array(octets.dropFirst())
    }

    /// The status of an answer that may be a refusal.
    var isSuccess: Bool { if case .answer(let octets) = self { octets.first == 0 } else { false } }
}

extension ChipInformation {
    /// Takes the return parameters of Read Local Version Information.
    mutating func read(_ result: ChipResult) throws(ChipFailure) {
        let octets = try result.parameters(of: .readLocalVersion, count: 8)
        hciVersion = octets[0]
        hciRevision = UInt16(octets[1]) | UInt16(octets[2]) << 8
        manufacturer = UInt16(octets[4]) | UInt16(octets[5]) << 8
        lmpSubversion = UInt16(octets[6]) | UInt16(octets[7]) << 8
    }

    /// - Throws: if the chip is of another manufacturer.
    mutating func require(_ family: ChipFamily) throws(ChipFailure) {
        guard ChipFamily(manufacturer: manufacturer) == family else {
            throw .otherFamily(family, manufacturer: manufacturer)
        }
        self.family = family
    }
}

extension DeviceAddress {
    /// The six octets, the lowest first.
    var octets: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

    init(octets: ArraySlice<UInt8>, kind: Kind) {
        var value: UInt64 = 0
        for (index, octet) in octets.prefix(6).enumerated() { value |= UInt64(octet) << (8 * index) }
        self.init(value: value, kind: kind)
    }
}

func littleEndian(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
