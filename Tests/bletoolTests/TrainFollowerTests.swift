import BLE
import Synchronization
import Testing

@testable import bletool

@Suite("What sync makes of a train")
struct TrainFollowerTests {
    private static let clock = DeviceAddress(value: 0xC0DE_0000_0071, kind: .random)
    private static let lost = PeriodicSyncEvent.lost(advertiser: clock, identifier: 7)

    private func found(subevents: PeriodicSubevents? = nil) -> PeriodicSyncEvent {
        .synchronized(
            PeriodicSyncInformation(
                advertiser: Self.clock, identifier: 7, phy: .le1M, interval: .milliseconds(100), serviceData: nil,
                subevents: subevents))
    }

    private func report(_ data: UInt8, subevent: UInt8? = nil) -> PeriodicSyncEvent {
        .report(
            PeriodicSyncReport(
                advertiser: Self.clock, identifier: 7, data: [data], isTruncated: false, rssi: -50, txPower: nil,
                event: subevent == nil ? nil : 9, subevent: subevent, time: .zero))
    }

    @Test("data are compared with those of the same subevent, and after a loss they are new")
    func changes() async throws {
        let kept = try KeptConsole()
        var follower = TrainFollower(kept.console, printsOnlyChanges: true)
        for (data, subevent) in [(1, 0), (2, 1), (1, 0), (2, 1), (3, 1), (1, 0)] as [(UInt8, UInt8)] {
            try await follower.handle(report(data, subevent: subevent))
        }
        #expect(follower.printedCount == 3)
        try await follower.handle(Self.lost)
        for (data, subevent) in [(1, 0), (3, 1)] as [(UInt8, UInt8)] {
            try await follower.handle(report(data, subevent: subevent))
        }
        #expect(follower.printedCount == 5)
        #expect(try kept.output.split(separator: "\n").count == 6)
    }

    @Test("a receiver that was told once may leave; one that cannot be told at all is an error")
    func receiverThatLeft() async throws {
        let kept = try KeptConsole()
        let isThere = Mutex(true)
        let receiver = TrainFollower.Receiver(name: "C0:DE:00:00:00:72") {
            guard isThere.withLock({ $0 }) else { throw BLEError.notConnected }
        }
        var follower = TrainFollower(kept.console, printsOnlyChanges: false, receiver: receiver)
        try await follower.handle(found())
        isThere.withLock { $0 = false }
        for event in [Self.lost, found(), report(1), Self.lost, found(), report(2)] { try await follower.handle(event) }
        #expect(follower.printedCount == 2)
        #expect(try kept.errors == "bletool: C0:DE:00:00:00:72 was not told again: there is no link to the device\n")
        var other = TrainFollower(kept.console, printsOnlyChanges: false, receiver: receiver)
        await #expect(throws: BLEError.notConnected) { try await other.handle(found()) }
        #expect(try kept.output.contains("told C0:DE:00:00:00:72 how to follow it"))
    }

    @Test("a train that takes no responses is told once, and so is each reason why one was not sent")
    func responses() async throws {
        let kept = try KeptConsole()
        let failures = Mutex<[BLEError]>([.queueFull, .controllerLost, .queueFull, .controllerLost])
        let sent = Mutex<[PeriodicResponse]>([])
        let slot = try SlotArgument("3=0A")
        let responder = TrainFollower.Responder(slot: slot) { response in
            sent.withLock { $0.append(response) }
            if let failure = failures.withLock({ $0.popLast() }) { throw failure }
        }
        var follower = TrainFollower(kept.console, printsOnlyChanges: false, responder: responder)
        // Without subevents, and with subevents that have no slots for responses.
        let withoutSlots = found(subevents: PeriodicSubevents(count: 2))
        for event in [found(), report(1), Self.lost, withoutSlots, report(1, subevent: 1), Self.lost] {
            try await follower.handle(event)
        }
        #expect(sent.withLock { $0.isEmpty })
        let subevents = PeriodicSubevents(count: 2, responseSlotDelay: 2, responseSlotSpacing: 4)
        try await follower.handle(found(subevents: subevents))
        for data: UInt8 in 0..<6 { try await follower.handle(report(data, subevent: 1)) }
        let responses = sent.withLock { $0 }
        #expect(responses.count == 6)
        #expect(responses.allSatisfy { $0.event == 9 && $0.subevent == 1 && $0.slot == 3 && $0.data == [0x0A] })
        let notes = try kept.errors.split(separator: "\n")
        #expect(notes.count == 3, "\(notes)")
        #expect(notes.filter { $0.contains("takes no responses") }.count == 1)
        #expect(notes.filter { $0.contains("a response was not sent: ") }.count == 2)
    }
}
