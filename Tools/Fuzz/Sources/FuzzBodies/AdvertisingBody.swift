import BLEPackets

enum AdvertisingBody {
    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let advertisement = input.counted()
        let response = input.rest()
        let data = AdvertisingData(advertisement: advertisement.span.bytes, scanResponse: response.span.bytes)
        let uuids = data.serviceUUIDs + [BluetoothUUID(0x180D as UInt16)]
        let hashed = data.hashedServiceUUIDs(scanFor: uuids)
        guard hashed.allSatisfy(uuids.contains) else { return "a hashed UUID that nobody asked for: \(hashed)" }
        guard Set(data.serviceUUIDs).count == data.serviceUUIDs.count else { return "a service UUID stands twice" }
        if !data.serviceUUIDs.isEmpty, !data.matches(scanFor: [data.serviceUUIDs[0]]) {
            return "a scan for an advertised service does not match"
        }
        _ = data.localNameWithoutPadding
        for part in [advertisement, response] {
            var reader = AdvertisingDataReader(part.span.bytes)
            var count = 0
            while true {
                do throws(DecodingError) {
                    guard let structure = try reader.next() else { break }
                    count += 1
                    _ = try structure.element()
                } catch {
                    guard reader.resumeAfterPadding() else { break }
                }
                if count > part.count { return "more structures than octets" }
            }
            guard part.span.bytes.contentHash() == Array(part).span.bytes.contentHash() else {
                return "the same content has two hashes"
            }
        }
        return nil
    }
}
