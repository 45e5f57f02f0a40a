import BLE
import BLEScripts
import BLESensors
import BLEText

/// An advertisement in words: what other devices will read in it.
struct AdvertisementWords {
    let text: String

    /// - Parameters:
    ///   - isConnectable: whether centrals may connect.
    ///   - hidden: services that are not in it, for want of room.
    init(_ advertisement: [UInt8], _ scanResponse: [UInt8] = [], isConnectable: Bool, hidden: [BluetoothUUID] = []) {
        let own = AdvertisingData(advertisement: advertisement.span.bytes, scanResponse: [UInt8]().span.bytes)
        let all = AdvertisingData(advertisement: advertisement.span.bytes, scanResponse: scanResponse.span.bytes)
        var parts: [String] = []
        if let name = all.localName {
            parts.append(
                "name \(name.printable)" + (all.isNameComplete ? "" : " (shortened)")
                    + (own.localName == nil ? " (in the scan response)" : ""))
        }
        let services = all.serviceUUIDs.map(\.textWithName)
        if !services.isEmpty { parts.append("service " + services.joined(separator: ", ")) }
        if let power = all.txPower { parts.append("transmit power \(power) dBm") }
        let reports = SensorReport.reports(in: all)
        parts += reports.map(\.text)
        if reports.isEmpty {
            parts += all.manufacturerData.map { "data of company \($0.text)" }
            parts += all.serviceData.map { "data of service \($0.text)" }
        }
        if parts.isEmpty { parts.append("nothing but flags") }
        parts.append(isConnectable ? "connectable" : "not connectable")
        var text = "which says: " + parts.joined(separator: "; ")
        if !hidden.isEmpty {
            let hasArea = !all.hashedServiceUUIDs(scanFor: hidden).isEmpty
            text += hasArea ? "\nin the overflow area: " : "\nnot advertised, for want of room or in the background: "
            text += "service " + hidden.map(\.textWithName).joined(separator: ", ")
        }
        self.text = text
    }
}
