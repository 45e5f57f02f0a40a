import BLEPackets

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// `let heartRate: BluetoothUUID = "180D"`: 4, 8 or 36 characters, the short forms also behind `0x`.
    /// - Precondition: the text is a UUID. A text that comes from outside belongs into `init(_:)`, which can fail.
    public init(stringLiteral text: StaticString) {
        let digits = text.description
        guard let uuid = BluetoothUUID(digits) else {
            // The text stands in the source: its author sees this at the first run.
            preconditionFailure("“\(digits)” is not a UUID: it takes 4, 8 or 36 hexadecimal characters")
        }
        self = uuid
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// `let heartRate: BluetoothUUID = 0x180D`: a number of 16 bits that the Bluetooth SIG assigned.
    public init(integerLiteral number: UInt16) { self.init(number) }
}
