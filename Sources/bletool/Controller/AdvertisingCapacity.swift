import BLE

/// How many advertisements a controller can send at the same time, with how much data.
struct AdvertisingCapacity: Sendable {
    let sets: Int
    /// In octets.
    let dataLength: Int
    private let isExtended: Bool

    /// Asks the controller; `nil` if it does not say.
    init?(_ information: ControllerInformation, of adapter: Adapter) async {
        isExtended = information.usesExtendedCommands
        guard isExtended else {
            sets = 1
            dataLength = AdvertisingDataWriter.legacyCapacity
            return
        }
        guard let count = try? await adapter.sendHCICommand(LEReadNumberOfSupportedAdvertisingSets.opcode),
            let length = try? await adapter.sendHCICommand(LEReadMaximumAdvertisingDataLength.opcode),
            count.count == 2, count[0] == 0, length.count == 3, length[0] == 0
        else { return nil }
        sets = Int(count[1])
        dataLength = Int(length[1]) | Int(length[2]) << 8
    }

    var text: String {
        isExtended ? "\(sets) sets of \(dataLength) bytes" : "1 set of \(dataLength) bytes (legacy advertising only)"
    }
}
