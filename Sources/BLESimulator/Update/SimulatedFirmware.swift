import BLEPackets

/// The program of a simulated device that does more with written values than keep them.
protocol SimulatedFirmware: AnyObject {
    /// A client has written a value.
    func written(_ value: [UInt8], to characteristic: BluetoothUUID, on device: SimulatedDevice)
    /// The link has ended.
    func linkEnded(on device: SimulatedDevice)
    /// The version of the application that runs; `nil` while none does.
    var version: String? { get }
    /// What its flash has carried out.
    var flashOperations: Int { get }
}
