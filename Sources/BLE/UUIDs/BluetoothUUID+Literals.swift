import BLEPackets

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// `let heartRate: BluetoothUUID = "180D"`: 4, 8 or 36 characters; the short forms may start with `0x`.
    /// - Precondition: the text is a UUID. For text from outside, use `init(_:)`, which can fail.
    public init(stringLiteral text: StaticString) {
        let digits = text.description
        guard let uuid = BluetoothUUID(digits) else {
            // The text is in the source code, so its author sees this at the first run.
            preconditionFailure("“\(digits)” is not a UUID: it takes 4, 8 or 36 hexadecimal characters")
        }
        self = uuid
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// `let heartRate: BluetoothUUID = 0x180D`: a 16-bit UUID that the Bluetooth SIG assigned.
    public init(integerLiteral number: UInt16) { self.init(number) }
}
