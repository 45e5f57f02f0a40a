import BLEPackets

/// A Matter device that waits for its commissioner, in service data of 0xFFF6 (Matter 1.4, 5.4.2.5.6).
enum MatterCommissioning {
    /// `discriminator` is what the device's code for its set-up names, at least in part. Vendor and product are zero
    /// where the device does not tell them.
    static let layout = OctetLayout(
        """
        ~w16|discriminator~.0-11|version~.12-15|vendor~u16~~~~0=?|product~u16~~~~0=?|~w8|additional_data~.0|\
        extended_announcement~.1
        """)

    static func report(_ data: [UInt8]) -> SensorReport? {
        // Other codes are reserved.
        guard data.first == 0x00, var fields = layout.fields(of: data.dropFirst()) else { return nil }
        // The only version that there is, and what most devices do not have.
        fields.removeAll { $0.name == "version" && $0.value == .number(0) }
        return SensorReport("Matter", fields: fields)
    }
}
