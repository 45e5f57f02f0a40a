import BLEMessages
import BLEPackets
import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

@Suite("The life of an app, played in both owners of an engine")
struct LifeTests {
    @Test(
        "with an engine of its own, an app sees these calls in this order (SPEC SPR-10, SPR-13, SPR-15, SPR-30, 5.5 rule 6)",
        arguments: LifeTable.rows)
    func own(row: LifeRow) async throws {
        let play = try LifePlay(row) { OwnEngine($0, modes: $1) }
        try await play.run(\.ownCalls)
    }

    @Test(
        "with the engine of bled, an app sees these calls in this order (SPEC SPR-10, SPR-13, SPR-15, SPR-30, 5.5 rule 6)",
        arguments: LifeTable.rows)
    func shared(row: LifeRow) async throws {
        var owner: SharedEngine?
        let play = try LifePlay(row) { stage, modes in
            let made = try SharedEngine(stage, modes: modes)
            owner = made
            return made
        }
        let result: Result<Void, any Error>
        do { result = .success(try await play.run(\.daemonCalls)) } catch { result = .failure(error) }
        await owner?.end()
        try result.get()
    }
}

/// One row in one owner.
final class LifePlay: @unchecked Sendable {
    // @unchecked Sendable is safe because one test calls this, one thing after the other.
    private static let measurement = BluetoothUUID(UInt16(0x2A37))

    private let row: LifeRow
    private let stage: Stage
    private let owner: any LifeOwner
    private var app: LifeProbe?
    private var sensor: SimulatedDeviceID!
    private var seen = 0

    init(_ row: LifeRow, owner make: (Stage, [String]) throws -> any LifeOwner) throws {
        self.row = row
        stage = try Stage { _ in }
        owner = try make(stage, row.isPreserved ? ["bluetooth-central", "bluetooth-peripheral"] : [])
    }

    func run(_ calls: (LifeRow.Step) -> [String]) async throws {
        try await start()
        for (number, step) in row.steps.enumerated() {
            try await carryOut(step.act)
            try await expect(calls(step), "step \(number + 1), \(step.act)")
        }
    }

    /// Exactly these calls follow.
    private func expect(_ calls: [String], _ what: String) async throws {
        let told = { [self] in Array((app?.lines ?? []).dropFirst(seen)) }
        do {
            try await waitUntil("", seconds: 60) { told().count >= calls.count }
        } catch is Missing {}
        // What nobody expects has had time to come.
        for _ in 0..<4 {
            await stage.pass(milliseconds: calls.isEmpty ? 100 : 25)
            await app?.run {}
        }
        #expect(told() == calls, "\(what)")
        seen = app?.lines.count ?? 0
    }

    private func launch() async throws {
        app = LifeProbe(try await owner.launch(), serves: row.start == .serving, isPreserved: row.isPreserved)
        seen = 0
    }

    private func with(_ body: @escaping @Sendable (LifeProbe) -> Void) async {
        guard let app else { return }
        await app.run { body(app) }
    }

    private func carryOut(_ act: LifeRow.Act) async throws {
        switch act {
        case .kill:
            try await owner.kill()
            app = nil
        case .launch: try await launch()
        case .restart:
            try await owner.restart()
            try await expectResumed()
        case .off: try await owner.setPower(false)
        case .on: try await owner.setPower(true)
        case .suspend:
            try await owner.move(.background)
            try await owner.move(.suspended)
        case .resume: try await owner.move(.foreground)
        case .away: await stage.onAir { [sensor] in $0.setInRange(false, sensor!) }
        case .back: await stage.onAir { [sensor] in $0.setInRange(true, sensor!) }
        case .beat(let rate):
            await stage.onAir { [sensor] in $0.setValue([0, rate], of: Self.measurement, on: sensor!) }
        case .otherServices:
            await stage.onAir { [sensor] in
                $0.replaceServices(
                    [SimulatedService(BluetoothUUID(UInt16(0x180F))), SimulatedService(BluetoothUUID(UInt16(0x180A)))],
                    on: sensor!)
            }
        case .connect: await with { $0.central.connect($0.peripheral!) }
        case .changeAndRead:
            await with { app in
                guard let rate = app.characteristic("2A37"), let place = app.characteristic("2A38"),
                    let sensor = app.peripheral
                else { return }
                sensor.readValue(for: place)
                sensor.setNotifyValue(true, for: rate)
                sensor.setNotifyValue(false, for: rate)
                sensor.readValue(for: place)
                sensor.setNotifyValue(true, for: rate)
                sensor.readValue(for: place)
            }
        case .read:
            await with { app in
                guard let place = app.characteristic("2A38") else { return }
                app.peripheral?.readValue(for: place)
            }
        case .serve: await with { $0.serve() }
        }
    }

    /// What `bled` makes again for an app without a process is there before that begins.
    private func expectResumed() async throws {
        guard app == nil, owner is SharedEngine, row.start == .subscribed else { return }
        try await waitUntil("the link is made again") {
            await stage.onAir { [sensor] in $0.statistics(of: sensor!).isConnected }
        }
        await stage.pass(milliseconds: 1000)
    }

    // MARK: The beginning

    private func start() async throws {
        sensor = await stage.onAir { $0.addPeripheral(Self.heart) }
        try await launch()
        guard let app else { return }
        try await app.wait(for: "state poweredOn")
        switch row.start {
        case .serving:
            await with { $0.serve() }
            try await app.wait(for: "advertising")
        case .scanning:
            await carryOutScan(isInRange: false)
        case .waiting:
            await carryOutScan(isInRange: true)
            try await app.wait(for: "discovered")
            await stage.onAir { [sensor] in $0.setInRange(false, sensor!) }
            await with {
                $0.central.stopScan()
                $0.central.connect($0.peripheral!)
            }
        case .explored, .subscribed, .subscribedForGood: try await connect(app)
        }
        // All that has been asked for is carried out and written down.
        await stage.pass(milliseconds: 100)
        await app.run {}
        seen = app.lines.count
    }

    private func carryOutScan(isInRange: Bool) async {
        await stage.onAir { [sensor] in $0.setInRange(isInRange, sensor!) }
        await with { $0.central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }

    private func connect(_ app: LifeProbe) async throws {
        await carryOutScan(isInRange: true)
        try await app.wait(for: "discovered")
        let isForGood = row.start == .subscribedForGood
        await with {
            $0.central.stopScan()
            $0.central.connect(
                $0.peripheral!, options: isForGood ? [CBConnectPeripheralOptionEnableAutoReconnect: true] : nil)
        }
        try await app.wait(for: "connected")
        await with { $0.peripheral!.discoverServices([CBUUID(string: "180D")]) }
        try await app.wait(for: "services")
        await with { $0.peripheral!.discoverCharacteristics(nil, for: $0.service("180D")!) }
        try await app.wait(for: "characteristics")
        guard row.start != .explored else { return }
        await with { $0.peripheral!.setNotifyValue(true, for: $0.characteristic("2A37")!) }
        try await app.wait(for: "notifying 2A37 true")
    }

    /// Its values come when a row says so.
    private static var heart: SimulatedPeripheral {
        SimulatedPeripheral(
            name: "Jelling Heart", address: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random),
            services: [
                SimulatedService(
                    BluetoothUUID(UInt16(0x180D)),
                    characteristics: [
                        SimulatedCharacteristic(measurement, [.notify], value: [0, 60]),
                        SimulatedCharacteristic(BluetoothUUID(UInt16(0x2A38)), [.read], value: [1]),
                    ])
            ])
    }
}
