import BLEAppLifecycle
import Foundation

extension AdvertisementContent {
    /// The dictionary that an app receives with a discovery (SPEC 2.2).
    var dictionary: [String: Any] {
        var dictionary: [String: Any] = [
            CBAdvertisementDataIsConnectable: NSNumber(value: isConnectable),
            UndocumentedAdvertisementKey.timestamp: NSNumber(value: absoluteTime(microseconds: microseconds)),
        ]
        if let localName { dictionary[CBAdvertisementDataLocalNameKey] = localName }
        if let manufacturerData { dictionary[CBAdvertisementDataManufacturerDataKey] = Data(manufacturerData) }
        if let txPower { dictionary[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: Int(txPower)) }
        if !serviceUUIDs.isEmpty { dictionary[CBAdvertisementDataServiceUUIDsKey] = [CBUUID](serviceUUIDs) }
        if !overflowServiceUUIDs.isEmpty {
            dictionary[CBAdvertisementDataOverflowServiceUUIDsKey] = [CBUUID](overflowServiceUUIDs)
        }
        if !solicitedServiceUUIDs.isEmpty {
            dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] = [CBUUID](solicitedServiceUUIDs)
        }
        if !serviceData.isEmpty {
            var data: [CBUUID: Data] = [:]
            for entry in serviceData { data[CBUUID(entry.uuid)] = Data(entry.data) }
            dictionary[CBAdvertisementDataServiceDataKey] = data
        }
        return dictionary
    }
}
