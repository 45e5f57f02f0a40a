import BLE
import BLEScripts

extension PeerDatabase {
    /// Subscribes to a characteristic.
    /// - Returns: its values, and a remark if the device has nothing that a subscription could write: some devices send
    ///   their values unasked.
    func subscribe(to characteristic: Characteristic) async throws -> (values: Notifications, remark: String?) {
        guard let mode = characteristic.properties.subscriptionMode else {
            throw BLEError.notSubscribable(characteristic.uuid)
        }
        let cause: String
        do {
            guard let configuration = configuration(of: characteristic) else {
                return (try await peripheral.notifications(of: characteristic), nil)
            }
            let values = try await peripheral.notifications(
                of: characteristic.valueHandle, configuration: configuration, mode: mode)
            return (values, nil)
        } catch BLEError.notFound(let uuid) where uuid == BluetoothUUID(UInt16(0x2902)) {
            cause = "has no Client Characteristic Configuration"
        } catch BLEError.att(let error, _) where error.isOfWrongConfiguration {
            cause = "has a Client Characteristic Configuration that cannot be written (\(error))"
        }
        let values = try await peripheral.notifications(
            of: characteristic.valueHandle, configuration: .none, mode: mode)
        let remark =
            "\(characteristic.uuid.attributeText) \(cause): there is nothing to write; what the device sends unasked is "
            + "shown"
        return (values, remark)
    }
}

extension Peripheral {
    /// Writes in the given way.
    func write(_ value: [UInt8], to handle: AttributeHandle, _ procedure: GATTStep.WriteProcedure) async throws {
        switch procedure {
        case .confirmed: try await write(value, to: handle)
        case .withoutResponse: try await writeWithoutResponse(value, to: handle)
        case .signed: try await writeSigned(value, to: handle)
        }
    }
}

extension ATTError {
    /// Whether an attribute is none that can be written, whatever is written and however secure the link is.
    fileprivate var isOfWrongConfiguration: Bool {
        switch self {
        case .invalidHandle, .writeNotPermitted, .requestNotSupported, .attributeNotFound: true
        default: false
        }
    }
}
