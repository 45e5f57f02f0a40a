/// The combined content of an advertisement and its scan response, copied from the packets (SPEC 2.3, 3.6).
///
/// Decoding never fails: errors are in `faults`, and everything else is decoded. A structure that is cut off at the end
/// of its packet is dropped, but for the whole UUIDs in it. Zeros inside the data are skipped, as some devices and
/// drivers put an advertisement that is padded to 31 octets and its scan response together.
public struct AdvertisingData: Equatable, Sendable {
    /// Manufacturer Specific Data (Core Specification Supplement, Part A, 1.4).
    public struct ManufacturerData: Hashable, Sendable {
        /// A company identifier of the Assigned Numbers.
        public var company: UInt16
        /// The data after the company identifier, in the company's own format.
        public var data: [UInt8]

        /// - Parameter data: at most 252 octets find room in a structure.
        public init(company: UInt16, data: [UInt8]) {
            self.company = company
            self.data = data
        }
    }

    /// Service Data (Core Specification Supplement, Part A, 1.11).
    public struct ServiceData: Hashable, Sendable {
        /// The service that the data belongs to; the device need not list it among its services.
        public var uuid: BluetoothUUID
        /// The data after the UUID, in the format of the service.
        public var data: [UInt8]

        /// - Parameter data: what finds room in a structure is at most 254 octets less the width of the UUID.
        public init(uuid: BluetoothUUID, data: [UInt8]) {
            self.uuid = uuid
            self.data = data
        }
    }

    /// A violation of the specification in the data.
    public struct Fault: Equatable, Sendable {
        /// Which of the two packets the fault is in.
        public enum Packet: Sendable { case advertisement, scanResponse }

        /// What is wrong.
        public enum Reason: Equatable, Sendable {
            /// A structure that could not be read, or not to its end.
            case structure(AdvertisingDataType?, DecodingError)
            /// Octets other than zero after a zero length.
            case nonZeroPadding
        }

        /// Where the fault is.
        public var packet: Packet
        /// The kind of violation.
        public var reason: Reason

        public init(packet: Packet, reason: Reason) {
            self.packet = packet
            self.reason = reason
        }
    }

    /// The first octet of `AdvertisingFlags`.
    public var flags: UInt8?
    /// The complete name if there is one, otherwise the shortened one, including padding. Octets that are not UTF-8 are
    /// replaced by U+FFFD. A name that begins with a zero octet counts as empty.
    public var localName: String?
    /// Whether `localName` is the whole name of the device.
    public var isNameComplete = false
    /// Power at which the device sends, in dBm.
    public var txPower: Int8?
    /// The appearance (Assigned Numbers): category in the upper ten bits, subcategory in the lower six.
    public var appearance: UInt16?
    /// Services that the device offers, each once, in the order of their appearance.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// Services that the device looks for, each once, in the order of their appearance.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// One entry for each structure, in the order of their appearance, but for those that the scan response repeats;
    /// the same company may occur several times.
    public var manufacturerData: [ManufacturerData] = []
    /// One entry for each structure, in the order of their appearance, but for those that the scan response repeats;
    /// the same service may occur several times.
    public var serviceData: [ServiceData] = []
    /// The joined masks of all overflow areas; `nil` when none was sent.
    public var overflowArea: OverflowArea?
    /// Violations of the specification, in the order of their appearance; empty for valid data.
    public var faults: [Fault] = []

    /// The content of empty data.
    public init() {}

    /// Decodes both packets. Repetitions in the scan response are not listed again.
    public init(advertisement: RawSpan, scanResponse: RawSpan? = nil) {
        self.init()
        merge(advertisement, as: .advertisement)
        if let scanResponse { merge(scanResponse, as: .scanResponse) }
    }

    /// `localName` without the zeros at its end with which some devices fill a fixed field.
    public var localNameWithoutPadding: String? {
        guard let localName else { return nil }
        var octets = Array(localName.utf8)
        while octets.last == 0 { octets.removeLast() }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The UUIDs of a scan that the overflow area may contain, each once (SPEC 3.6).
    public func hashedServiceUUIDs(scanFor uuids: [BluetoothUUID]) -> [BluetoothUUID] {
        overflowArea?.matches(scanFor: uuids) ?? []
    }

    /// Whether a scan for these services finds the device: one of them is offered, solicited or hashed in the overflow
    /// area (SPEC 3.6).
    public func matches(scanFor uuids: [BluetoothUUID]) -> Bool {
        for uuid in uuids {
            if serviceUUIDs.contains(uuid) || solicitedServiceUUIDs.contains(uuid) { return true }
            if let overflowArea, overflowArea.contains(uuid) { return true }
        }
        return false
    }

    // MARK: Reading

    private mutating func merge(_ bytes: RawSpan, as packet: Fault.Packet) {
        var reader = AdvertisingDataReader(bytes)
        var isPaddingReported = false
        repeat {
            while true {
                do throws(DecodingError) {
                    guard let structure = try reader.next() else { break }
                    merge(structure, as: packet)
                } catch {
                    let remainder = reader.remainder
                    let type = remainder.byte(at: 1).map(AdvertisingDataType.init(rawValue:))
                    faults.append(Fault(packet: packet, reason: .structure(type, error)))
                    if let type { mergeCutOff(type, data: remainder.extracting(droppingFirst: 2)) }
                    return
                }
            }
            if reader.hasNonZeroPadding, !isPaddingReported {
                isPaddingReported = true
                faults.append(Fault(packet: packet, reason: .nonZeroPadding))
            }
        } while reader.resumeAfterPadding()
    }

    private mutating func merge(_ structure: borrowing AdvertisingDataStructure, as packet: Fault.Packet) {
        do throws(DecodingError) {
            switch try structure.element() {
            case .flags(let value): flags = flags ?? value.rawValue
            case .serviceUUIDs(let list, isComplete: _): try Self.append(list, to: &serviceUUIDs)
            case .solicitedServiceUUIDs(let list): try Self.append(list, to: &solicitedServiceUUIDs)
            case .localName(let octets, let isComplete): mergeName(octets, isComplete: isComplete)
            case .txPowerLevel(let value): txPower = txPower ?? value
            case .appearance(let value): appearance = appearance ?? value
            case .manufacturerData(let company, let octets):
                let entry = ManufacturerData(company: company, data: octets.copied())
                if packet == .advertisement || !manufacturerData.contains(entry) { manufacturerData.append(entry) }
                if let area = OverflowArea(manufacturerSpecificData: structure.data) {
                    overflowArea = overflowArea ?? OverflowArea()
                    overflowArea?.formUnion(area)
                }
            case .serviceData(let uuid, let octets):
                let entry = ServiceData(uuid: uuid, data: octets.copied())
                if packet == .advertisement || !serviceData.contains(entry) { serviceData.append(entry) }
            default: break
            }
        } catch {
            faults.append(Fault(packet: packet, reason: .structure(structure.type, error)))
        }
    }

    /// Adds the complete UUIDs of a structure that is cut off; the beginning of any other content would mislead.
    private mutating func mergeCutOff(_ type: AdvertisingDataType, data: RawSpan) {
        let structure = AdvertisingDataStructure(type: type, data: data)
        do throws(DecodingError) {
            switch try structure.element() {
            case .serviceUUIDs(let list, isComplete: _): try Self.append(list, to: &serviceUUIDs)
            case .solicitedServiceUUIDs(let list): try Self.append(list, to: &solicitedServiceUUIDs)
            default: break
            }
        } catch {
            // The fault of the whole structure is in the list already.
        }
    }

    private mutating func mergeName(_ octets: RawSpan, isComplete: Bool) {
        guard isComplete || !isNameComplete else { return }
        let name = octets.byte(at: 0) == 0 ? "" : String(decoding: octets.copied(), as: UTF8.self)
        if name.utf8.isEmpty, let localName, !localName.utf8.isEmpty { return }
        localName = name
        isNameComplete = isComplete
    }

    private static func append(
        _ list: consuming AdvertisedUUIDList, to uuids: inout [BluetoothUUID]
    ) throws(DecodingError) {
        while let uuid = try list.next() {
            if !uuids.contains(uuid) { uuids.append(uuid) }  // a packet has too few of them for a set to pay
        }
    }
}
