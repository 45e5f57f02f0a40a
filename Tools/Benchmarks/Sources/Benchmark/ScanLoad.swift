import BLEHost
import BLEPackets

/// An endless stream of advertising reports, 100,000 in a second of the engine's time, into a scanning engine.
final class ScanLoad {
    /// Who advertises.
    enum Crowd: CaseIterable, Sendable {
        /// 10,000 devices that always say the same, every other one with a scan response.
        case steady
        /// The same, but every hundredth report says something new.
        case changing
        /// A new address in every report.
        case strangers
    }

    static let devices = 10_000
    private static let addressOffset = 7
    /// Inside the advertising data.
    private static let changingOffset = 24

    private let controller = ScriptedController()
    private let crowd: Crowd
    private var packets: [[UInt8]] = []
    private var next = 0
    private var turn: UInt64 = 0
    private(set) var discoveries: UInt64 = 0

    init(
        _ crowd: Crowd, devices: Int = ScanLoad.devices, isExtended: Bool = false, allowsDuplicates: Bool = false
    ) {
        self.crowd = crowd
        for device in 0..<devices {
            let hasResponse = !isExtended && device % 2 == 0
            packets.append(Self.report(of: device, type: hasResponse ? 0x00 : 0x03, isExtended: isExtended))
            if hasResponse { packets.append(Self.report(of: device, type: 0x04, isExtended: false)) }
        }
        controller.submit(.radio(.scan(ScanRequest(allowsDuplicates: allowsDuplicates))))
    }

    func run(_ count: Int) -> UInt64 {
        var found: UInt64 = 0
        controller.lendEngine { engine in
            for _ in 0..<count {
                turn &+= 1
                switch crowd {
                case .steady: break
                case .changing:
                    if turn % 100 == 0 { packets[next][Self.changingOffset] = UInt8(truncatingIfNeeded: turn / 100) }
                case .strangers:
                    var number = turn
                    for octet in 0..<6 {
                        packets[next][Self.addressOffset + octet] = UInt8(truncatingIfNeeded: number)
                        number >>= 8
                    }
                }
                engine.measure(receiving: packets[next], after: 10) { event in
                    if case .discovered = event { found &+= 1 }
                }
                next = next + 1 == packets.count ? 0 : next + 1
            }
        }
        discoveries &+= found
        return found &+ turn
    }

    private static func report(of device: Int, type: UInt8, isExtended: Bool) -> [UInt8] {
        var address = Array(Samples.advertisingReports[0][addressOffset..<addressOffset + 6])
        address[0] = UInt8(device & 0xFF)
        address[1] = UInt8(device >> 8 & 0xFF)
        address[2] = UInt8(device >> 16)
        let data = Samples.advertisements[device % Samples.advertisements.count]
        guard isExtended else {
            return [0x04, 0x3E, UInt8(12 + data.count), 0x02, 0x01, type, 0x01] + address + [UInt8(data.count)] + data
                + [0xD9]
        }
        // A legacy PDU in an extended report: event type 0x0010, primary PHY 1M, no set, powers unknown.
        return [0x04, 0x3E, UInt8(26 + data.count), 0x0D, 0x01, 0x10, 0x00, 0x01] + address
            + [0x01, 0x00, 0xFF, 0x7F, 0xD9, 0x00, 0x00, 0x00, 0, 0, 0, 0, 0, 0, UInt8(data.count)] + data
    }
}
