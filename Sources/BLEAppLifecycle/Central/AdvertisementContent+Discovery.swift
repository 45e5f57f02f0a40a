import BLEHost
import BLEPackets

extension AdvertisementContent {
    init(_ data: AdvertisingData, _ discovery: Discovery) {
        var fields = Fields()
        fields.localName = data.localNameWithoutPadding
        fields.manufacturerData = data.manufacturerData.first.map {
            [UInt8(truncatingIfNeeded: $0.company), UInt8(truncatingIfNeeded: $0.company >> 8)] + $0.data
        }
        fields.serviceData = data.serviceData.map { ServiceData(uuid: $0.uuid, data: $0.data) }
        fields.serviceUUIDs = data.serviceUUIDs
        fields.solicitedServiceUUIDs = data.solicitedServiceUUIDs
        fields.txPower = data.txPower ?? discovery.txPower
        fields.isConnectable = discovery.isConnectable
        fields.microseconds = discovery.time.microseconds
        self.init(fields)
    }
}
