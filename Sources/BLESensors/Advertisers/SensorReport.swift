import BLEPackets

/// The content of an advertisement in a known format.
public struct SensorReport: Hashable, Sendable {
    /// The encryption of a report.
    public enum Encryption: String, Hashable, Sendable {
        /// Everybody can read it.
        case none
        /// It was read with the key of the device.
        case decrypted
        /// It cannot be read without the key of the device.
        case needsKey
        /// The given key is wrong.
        case wrongKey
    }

    /// The format, such as `BTHome v2` and `iBeacon`.
    public var format: String
    /// The model of the device, if the format contains it.
    public var model: String?
    /// Whether the fields had to be decrypted, and could be.
    public var encryption = Encryption.none
    /// What makes a decrypted packet unique; `nil` for formats without a counter that lasts.
    public var seal: SensorSeal?
    /// The values, each with a unique name: lower case, words joined by `_`.
    public var fields: [SensorField]

    public init(_ format: String, model: String? = nil, encryption: Encryption = .none, fields: [SensorField]) {
        self.format = format
        self.model = model
        self.encryption = encryption
        self.fields = fields
    }
}

extension SensorReport: CustomStringConvertible {
    /// One line of text.
    public var description: String {
        // Some formats have the name of their only model.
        var parts = [model.flatMap { format.hasPrefix($0) ? nil : "\(format) \($0)" } ?? format]
        switch encryption {
        case .none, .decrypted: break
        case .needsKey: parts.append("encrypted")
        case .wrongKey: parts.append("encrypted with another key")
        }
        let texts = fields.map { field in
            let name = String(field.name.map { $0 == "_" ? " " : $0 })
            return "\(name) \(field.valueText)"
        }
        if !texts.isEmpty { parts.append(texts.joined(separator: ", ")) }
        return parts.joined(separator: ": ")
    }
}

extension SensorReport {
    /// Decodes everything in an advertisement with a known format, in the order of its structures.
    ///
    /// - Parameters:
    ///   - data: an advertisement, with its scan response if there is one.
    ///   - address: the sender; required for encrypted formats.
    ///   - keys: keys of devices, with the function that decrypts.
    public static func reports(
        in data: AdvertisingData, from address: DeviceAddress? = nil, keys: SensorKeys? = nil
    ) -> [SensorReport] {
        let advertisement = SensorAdvertisement(data: data, address: address, keys: keys)
        var reports: [SensorReport] = []
        for entry in data.serviceData {
            guard let uuid = entry.uuid.shortValue else { continue }
            let report: SensorReport? =
                switch uuid {
                case 0xFCD2: BTHome.report(entry.data, in: advertisement)
                case 0xFE95: MiBeacon.report(entry.data, in: advertisement)
                case 0x181A: CustomThermometer.report(entry.data, in: advertisement)
                case 0x181B, 0x181D: MiScale.report(entry.data, service: uuid)
                case 0xFEAA: Eddystone.report(entry.data)
                case 0xFFF6: MatterCommissioning.report(entry.data)
                case 0xFCB2: LocationTracker.report(entry.data)
                case 0xFD3D, 0x0D00: SwitchBot.report(entry.data, in: advertisement)
                default: nil
                }
            if let report { reports.append(report) }
        }
        for entry in data.manufacturerData {
            let report: SensorReport? =
                switch entry.company {
                case 0x0499: RuuviTag.report(entry.data)
                case 0x004C: IBeacon.report(entry.data) ?? AppleContinuity.report(entry.data)
                case 0x0006: MicrosoftBeacon.report(entry.data)
                default:
                    AltBeacon.report(entry.data) ?? Inkbird.report(entry, in: advertisement)
                        ?? Govee.report(entry, in: advertisement)
                }
            if let report { reports.append(report) }
        }
        return reports
    }
}

/// An advertisement as the readers of formats see it.
struct SensorAdvertisement {
    let data: AdvertisingData
    let address: DeviceAddress?
    let keys: SensorKeys?

    var name: String { data.localName ?? "" }

    /// The address, most significant octet first.
    var addressOctets: [UInt8]? { address.map { $0.octets.reversed() } }
}
