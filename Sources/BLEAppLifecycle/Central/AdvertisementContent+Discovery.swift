import BLEHost
import BLEPackets

extension AdvertisementContent {
    init(_ data: AdvertisingData, _ discovery: Discovery) {
        localName = data.localNameWithoutPadding
        manufacturerData = data.manufacturerData.first.map {
            [UInt8(truncatingIfNeeded: $0.company), UInt8(truncatingIfNeeded: $0.company >> 8)] + $0.data
        }
        serviceData = data.serviceData.map { ServiceData(uuid: $0.uuid, data: $0.data) }
        serviceUUIDs = data.serviceUUIDs
        solicitedServiceUUIDs = data.solicitedServiceUUIDs
        txPower = data.txPower ?? discovery.txPower
        isConnectable = discovery.isConnectable
        microseconds = discovery.time.microseconds
    }
}
