/// Counts of what a sniffer received.
public struct LinkLayerCounts: Equatable, Sendable {
    /// Packets of the link layer, also those that are damaged or malformed.
    public internal(set) var packets = 0
    /// PDUs of advertising channels and trains.
    public internal(set) var advertising = 0
    /// PDUs of connections, also those without content.
    public internal(set) var data = 0
    /// Of them: those without content.
    public internal(set) var empty = 0
    /// Of them: those that were sent before.
    public internal(set) var repeated = 0
    /// Of them: those for which there is no key.
    public internal(set) var encrypted = 0
    /// Of them: those that were deciphered, here or by the sniffer.
    public internal(set) var deciphered = 0
    /// PDUs of the Link Layer Control Protocol that can be read, without those that are sent again.
    public internal(set) var control = 0
    /// Isochronous PDUs.
    public internal(set) var isochronous = 0
    /// Packets with a wrong CRC; nothing else of them is counted.
    public internal(set) var damaged = 0

    var pdus = [Int](repeating: 0, count: LinkLayerPDU.allCases.count)
    var controlOpcodes = [Int](repeating: 0, count: 256)

    /// PDUs of advertising channels and trains by their names, each at least once.
    public var advertisingByName: [(name: StaticString, count: Int)] {
        LinkLayerPDU.allCases.compactMap { pdu in
            let count = pdus[Int(pdu.rawValue)]
            return count == 0 ? nil : (pdu.name, count)
        }
    }

    /// Control PDUs by opcode, in order.
    public var controlByOpcode: [CaptureSummary.Count] {
        controlOpcodes.indices.compactMap {
            controlOpcodes[$0] == 0 ? nil : CaptureSummary.Count(number: UInt16($0), count: controlOpcodes[$0])
        }
    }
}
