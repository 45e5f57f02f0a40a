import BLEPackets

/// A device that mcumgr's SMP manages: MCUboot with two slots, files, settings and a shell.
public struct SimulatedManagedDevice: Sendable {
    /// The device name.
    public var name: String
    /// The address on the air.
    public var address: DeviceAddress
    /// The octets of each of the two slots that an image has.
    public var slotByteCount = 256 * 1024
    /// The flash.
    public var flash = SimulatedFlashTiming()
    /// The operations of the flash at which the power goes, from 1: an operation erases a page, writes a part of one, or
    /// changes a flag.
    public var powerLosses: [Int] = []
    /// The octets of uploads at which the link is lost.
    public var linkLosses: [Int] = []
    /// The longest frame it takes, in octets.
    public var bufferByteCount = 512
    /// How many frames it keeps.
    public var bufferCount = 4
    /// The most octets of a file in one response; `nil`: what has room.
    public var filePieceByteCount: Int?
    /// Whether it knows only the first version of the protocol.
    public var isOld = false
    /// How long a start takes beside the work of the bootloader, in microseconds.
    public var startMicroseconds: Int64 = 300_000
    /// The strength at which it is received, in dBm.
    public var rssi: Int8 = -55
    /// The maximum ATT_MTU, 23 to 517.
    public var maximumMTU = 498
    /// How it behaves on a link.
    public var link = SimulatedLinkBehaviour()
    /// The image that it runs at first; an image whose body begins with `CRASH` restarts before it does anything.
    public var image = SimulatedImage.mcuboot(version: (1, 0, 0), body: Array(repeating: 0xA1, count: 5000))

    /// The images that its other processors run at first, with the numbers 1, 2, ….
    public var otherImages: [[UInt8]] = []

    public init(name: String, address: DeviceAddress) {
        self.name = name
        self.address = address
    }
}

extension SimulatedAir {
    /// Adds a device that mcumgr's SMP manages.
    @discardableResult
    public func addManagedDevice(_ device: SimulatedManagedDevice) -> SimulatedDeviceID {
        let service = BluetoothUUID("8D53DC1D-1DB7-4CD3-868B-8A527460AA84")!
        let revision = SimulatedCharacteristic(BluetoothUUID(0x2A26 as UInt16), [.read])
        var peripheral = SimulatedPeripheral(
            name: device.name, address: device.address,
            services: [
                SimulatedService(BluetoothUUID(0x180A as UInt16), characteristics: [revision]),
                SimulatedService(
                    service,
                    characteristics: [
                        SimulatedCharacteristic(SimulatedManagement.characteristic, [.writeWithoutResponse, .notify])
                    ]),
            ], rssi: device.rssi, maximumMTU: device.maximumMTU, link: device.link)
        peripheral.advertisement = SimulatedAdvertisement(name: device.name, serviceUUIDs: [service])
        let identifier = addPeripheral(peripheral)
        guard let station = self.device(identifier) else { return identifier }
        let firmware = SimulatedManagement(device, on: station)
        station.keep(firmware)
        firmware.powerOn()
        return identifier
    }

    /// What a managed or updatable device runs: its version, and how many operations its flash has carried out.
    public func firmware(of device: SimulatedDeviceID) -> (version: String?, flashOperations: Int)? {
        self.device(device)?.firmware.map { ($0.version, $0.flashOperations) }
    }
}
