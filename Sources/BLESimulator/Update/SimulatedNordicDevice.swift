import BLEPackets

/// A device with a bootloader of Nordic's, which its application starts.
public struct SimulatedNordicDevice: Sendable {
    /// How its bootloader is updated.
    public enum Bootloader: Sendable {
        /// Secure DFU; the bootloader has the next address.
        case secure
        /// Secure DFU; the bootloader has the same address, as with bonds.
        case bonded
        /// Legacy DFU; the bootloader has the same address.
        case legacy
    }

    /// The device name of the application.
    public var name: String
    /// The address of the application.
    public var address: DeviceAddress
    /// The protocol of its bootloader.
    public var bootloader = Bootloader.secure
    /// The octets of each of the two banks.
    public var bankByteCount = 256 * 1024
    /// The flash.
    public var flash = SimulatedFlashTiming()
    /// The operations of the flash at which the power goes; see ``SimulatedManagedDevice``.
    public var powerLosses: [Int] = []
    /// The octets of the image at which the link is lost.
    public var linkLosses: [Int] = []
    /// The version of the application that it has at first.
    public var version = 1
    /// What init packets must say of the hardware.
    public var hardwareVersion = 52
    /// Whether init packets must be signed. Signatures are not checked: the simulator has no keys.
    public var needsSignature = false
    /// Whether packets are refused as those of another key are.
    public var refusesSignature = false
    /// The most octets of a data object.
    public var objectByteCount = 4096
    /// How long a start takes beside the work of the bootloader, in microseconds.
    public var startMicroseconds: Int64 = 300_000
    /// The strength at which it is received, in dBm.
    public var rssi: Int8 = -55
    /// The maximum ATT_MTU, 23 to 517.
    public var maximumMTU = 247
    /// How it behaves on a link.
    public var link = SimulatedLinkBehaviour()

    public init(name: String, address: DeviceAddress) {
        self.name = name
        self.address = address
    }
}

extension SimulatedAir {
    /// Adds a device with a bootloader of Nordic's.
    /// - Returns: the application; its `firmware(of:)` is that of the device, also while the bootloader runs.
    @discardableResult
    public func addNordicDevice(_ device: SimulatedNordicDevice) -> SimulatedDeviceID {
        let isLegacy = device.bootloader == .legacy
        let service = isLegacy ? SimulatedNordic.legacyService : BluetoothUUID(0xFE59 as UInt16)
        let revision = SimulatedService(
            BluetoothUUID(0x180A as UInt16),
            characteristics: [SimulatedCharacteristic(BluetoothUUID(0x2A26 as UInt16), [.read])])
        func version(_ octets: [UInt8]) -> SimulatedCharacteristic {
            SimulatedCharacteristic(SimulatedNordic.legacyVersion, [.read], value: octets)
        }
        func add(
            _ name: String, _ address: DeviceAddress, _ services: [SimulatedService], _ limit: Int
        ) -> SimulatedDeviceID {
            var peripheral = SimulatedPeripheral(
                name: name, address: address, services: services, rssi: device.rssi, maximumMTU: limit,
                link: device.link)
            peripheral.advertisement = SimulatedAdvertisement(name: name, serviceUUIDs: [service])
            return addPeripheral(peripheral)
        }
        let control: SimulatedProperties = [.write, .notify]
        let entry =
            isLegacy
            ? [
                SimulatedCharacteristic(SimulatedNordic.legacyControl, control),
                SimulatedCharacteristic(SimulatedNordic.legacyPacket, [.writeWithoutResponse]), version([1, 0]),
            ]
            : [
                SimulatedCharacteristic(
                    device.bootloader == .bonded ? SimulatedNordic.bondedButtonless : SimulatedNordic.buttonless,
                    [.write, .indicate])
            ]
        let application = add(
            device.name, device.address, [revision, SimulatedService(service, characteristics: entry)],
            device.maximumMTU)
        let transfer =
            isLegacy
            ? [
                SimulatedCharacteristic(SimulatedNordic.legacyControl, control),
                SimulatedCharacteristic(SimulatedNordic.legacyPacket, [.writeWithoutResponse]), version([8, 0]),
            ]
            : [
                SimulatedCharacteristic(SimulatedNordic.secureControl, control),
                SimulatedCharacteristic(SimulatedNordic.securePacket, [.writeWithoutResponse]),
            ]
        let address =
            device.bootloader == .secure
            ? DeviceAddress(
                value: device.address.value & ~0xFF | (device.address.value &+ 1) & 0xFF, kind: device.address.kind)
            : device.address
        let bootloader = add(
            "DfuTarg", address, [SimulatedService(service, characteristics: transfer)],
            isLegacy ? 23 : device.maximumMTU)
        guard let first = self.device(application), let second = self.device(bootloader) else { return application }
        let firmware = SimulatedNordic(device, application: first, bootloader: second)
        first.keep(firmware)
        second.keep(firmware)
        firmware.powerOn()
        return application
    }
}
