import BLEPackets
import Testing

@testable import BLEHost

/// What two engines were told by another way than Bluetooth.
@Suite struct HostOutOfBandTests {
    private struct Missing: Error {}

    private func made(_ side: TwoHosts.Side, of two: TwoHosts) throws -> LocalOutOfBandData {
        guard case .success(.outOfBandData(let data))? = two.result(of: .security(.createOutOfBandData), by: side)
        else {
            throw Missing()
        }
        return data
    }

    /// Each side that made values has told them to the other.
    private func tell(_ two: TwoHosts, by sides: [TwoHosts.Side]) throws {
        let central = sides.contains(.central) ? try made(.central, of: two) : nil
        let peripheral = sides.contains(.peripheral) ? try made(.peripheral, of: two) : nil
        func heard(_ data: LocalOutOfBandData?) -> OutOfBandData.SecureConnectionsData? {
            data.map { .init(random: $0.random, confirm: $0.confirm) }
        }
        two.submit(
            .security(
                .setOutOfBandData(
                    TwoHosts.peripheralAddress, OutOfBandData(peer: heard(peripheral), local: central))), by: .central)
        two.submit(
            .security(
                .setOutOfBandData(
                    TwoHosts.centralAddress, OutOfBandData(peer: heard(central), local: peripheral))), by: .peripheral)
    }

    @Test(
        "Out-of-band values from either side, or from both, let the two pair with protection",
        arguments: [[.central, .peripheral], [.central], [.peripheral]] as [[TwoHosts.Side]])
    func outOfBand(by sides: [TwoHosts.Side]) throws {
        let two = TwoHosts()
        two.connect()
        try tell(two, by: sides)
        #expect(two.pair()?.pairing?.isAuthenticated == true)
    }

    @Test("Out-of-band values apply to one successful pairing: the next with the same device has none")
    func usedOnce() throws {
        let two = TwoHosts()
        two.connect()
        try tell(two, by: TwoHosts.Side.allCases)
        #expect(two.pair()?.pairing?.isAuthenticated == true)
        two.run(for: .seconds(1))
        two.submit(.security(.removeBond(TwoHosts.peripheralAddress)), by: .central)
        two.submit(.security(.removeBond(TwoHosts.centralAddress)), by: .peripheral)
        two.run(for: .seconds(3))
        two.connect()
        #expect(two.pair()?.pairing?.isAuthenticated == false)
    }
}
