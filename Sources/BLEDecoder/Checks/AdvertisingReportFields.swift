/// The reports in an advertising event (Core 5.4, Vol 4, Part E, 7.7.65.2, .11 and .13).
///
/// Reports follow each other, as controllers send them, although the specification describes arrays.
struct AdvertisingReportFields: ~Escapable {
    /// 48 bits.
    var address: UInt64
    /// The octets from the event type on; data, if any, is at the end or before the RSSI.
    let fields: RawSpan
    let data: RawSpan

    @_lifetime(copy fields, copy data)
    init(address: UInt64, fields: RawSpan, data: RawSpan) {
        self.address = address
        self.fields = fields
        self.data = data
    }

    /// Calls `body` with each complete report.
    /// - Parameter payload: what follows the subevent code.
    /// - Returns: `false` if the event ends within a report, has octets after the last, or `body` returned `false`.
    @inline(__always)
    static func forEach(subevent: UInt8, in payload: RawSpan, _ body: (borrowing Self) -> Bool) -> Bool {
        guard payload.byteCount >= 1 else { return false }
        var count = Int(payload.octet(0))
        var position = 1
        var isWhole = true
        while count > 0 {
            let left = payload.byteCount - position
            let header: Int
            let addressOffset: Int
            let dataCount: Int
            let size: Int
            switch subevent {
            case 0x02:
                header = 9
                addressOffset = 2
                dataCount = Int(payload.octet(position + 8))
                size = header + dataCount + 1
            case 0x0D:
                header = 24
                addressOffset = 3
                dataCount = Int(payload.octet(position + 23))
                size = header + dataCount
            default:
                header = 16
                addressOffset = 2
                dataCount = 0
                size = header
            }
            if left >= addressOffset + 6, left < size {
                // Cut off after the address: the device still counts as seen.
                _ = body(
                    Self(
                        address: payload.integer(position + addressOffset, width: 6), fields: payload.rest(position),
                        data: payload.part(0, 0)))
                return false
            }
            guard left >= size else { return false }
            let report = Self(
                address: payload.integer(position + addressOffset, width: 6), fields: payload.part(position, size),
                data: payload.part(position + header, dataCount))
            if !body(report) { isWhole = false }
            position += size
            count -= 1
        }
        return isWhole && position == payload.byteCount
    }
}
