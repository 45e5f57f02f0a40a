import BLEHost
import BLEPackets

/// An advertisement as octets.
extension AdvertisementContent {
    private static let room = 31

    /// The advertising set.
    /// - Parameters:
    ///   - name: the adapter's name.
    ///   - isDiscoverable: whether the adapter is.
    /// - Throws: `Failed` if there is no room.
    func set(name: String, isDiscoverable: Bool) throws(BusError) -> AdvertisingSetRequest {
        var data: [UInt8] = []
        if isConnectable {
            // BR/EDR is not supported here.
            let flags: UInt8 = 0x04 | (self.isDiscoverable ?? isDiscoverable ? 0x02 : 0)
            Self.append(0x01, [flags], to: &data)
        }
        if includesPower { Self.append(0x0A, [0], to: &data) }
        for (width, type) in [(2, 0x03), (4, 0x05), (16, 0x07)] as [(Int, UInt8)] {
            Self.append(type, serviceUUIDs.flatMap { $0.advertised(width) }, to: &data)
        }
        for (width, type) in [(2, 0x14), (4, 0x1F), (16, 0x15)] as [(Int, UInt8)] {
            Self.append(type, solicitedUUIDs.flatMap { $0.advertised(width) }, to: &data)
        }
        for (company, octets) in manufacturerData {
            Self.append(0xFF, [UInt8(truncatingIfNeeded: company), UInt8(company >> 8)] + octets, to: &data)
        }
        for (uuid, octets) in serviceData {
            for (width, type) in [(2, 0x16), (4, 0x20), (16, 0x21)] as [(Int, UInt8)] {
                let prefix = uuid.advertised(width)
                if !prefix.isEmpty { Self.append(type, prefix + octets, to: &data) }
            }
        }
        for (type, octets) in otherData { Self.append(type, octets, to: &data) }
        guard data.count <= Self.room else { throw Self.unusable }
        var response: [UInt8] = []
        if includesAppearance || appearance != nil {
            let value = appearance ?? 0
            Self.append(0x19, [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)], to: &response)
        }
        if let name = localName ?? (includesName ? name : nil) {
            let octets = Array(name.utf8)
            let free = Self.room - response.count - 2
            if octets.count <= free {
                Self.append(0x09, octets, to: &response)
            } else {
                Self.append(0x08, Array(name.shortened(to: free).utf8), to: &response)
            }
        }
        var request = AdvertisingSetRequest(
            data: data, scanResponse: response, usesLegacyPDUs: true, isConnectable: isConnectable,
            isScannable: isConnectable || !response.isEmpty)
        request.interval = .milliseconds(Double(interval))
        guard request.fault == nil else { throw Self.unusable }
        return request
    }

    /// Nothing is added for no octets.
    private static func append(_ type: UInt8, _ octets: [UInt8], to data: inout [UInt8]) {
        guard !octets.isEmpty else { return }
        data.append(UInt8(clamping: octets.count + 1))
        data.append(type)
        data += octets
    }
}

extension BluetoothUUID {
    /// The octets as advertising has them, least significant first, if it is as many as the UUID needs at least.
    fileprivate func advertised(_ width: Int) -> [UInt8] {
        let own = shortValue != nil ? 2 : isOnBase ? 4 : 16
        guard own == width else { return [] }
        let all = Array(bytes.reversed())
        return own == 16 ? all : Array(all[12..<12 + own])
    }
}

extension String {
    /// As many characters from the beginning as have this many octets at most.
    func shortened(to octets: Int) -> String {
        var count = 0
        let end = indices.first { place in
            count += self[place].utf8.count
            return count > octets
        }
        return String(self[..<(end ?? endIndex)])
    }
}
