import BLEPackets
import Testing

@testable import BLEHost

@Suite("A peer that transfers trains")
struct TransferLimitTests {
    @Test("one operation takes a limited number of them, and others when some are lost")
    func limit() {
        var table = TrainTable()
        let operation = OperationID(rawValue: 7)
        table.add(
            .transfers(LinkID(handle: ConnectionHandle(rawValue: 1), generation: 1), PeriodicSyncSettings()),
            operation: operation, client: .local)
        let information = PeriodicSyncInformation(
            advertiser: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random), identifier: 1, phy: .le1M,
            interval: PeriodicAdvertisingInterval(rawValue: 80),
            serviceData: 0)
        let taken = (0..<100).filter { number in
            let handle = SynchronizationHandle(rawValue: UInt16(number))
            return table.add(TrainTable.Train(handle: handle, information: information), to: operation) != nil
        }
        #expect(taken == Array(0..<TrainTable.transferLimit))
        #expect(table.lost(SynchronizationHandle(rawValue: 3)).count == 1)
        let next = SynchronizationHandle(rawValue: 200)
        #expect(table.add(TrainTable.Train(handle: next, information: information), to: operation) == .local)
    }
}
