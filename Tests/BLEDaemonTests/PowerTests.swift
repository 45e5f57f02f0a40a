import BLE
import BLEDaemonClient
import Testing

@Suite("Bluetooth that an operator switches")
struct PowerTests {
    private let stage: DaemonStage

    init() throws { stage = try DaemonStage() }

    private func power(_ isOn: Bool) async throws {
        _ = try await DaemonOperator.perform(.power(isOn), at: stage.path)
    }

    private func adapter() async throws -> DaemonStatus.Adapter? {
        try await DaemonOperator.perform(.status, at: stage.path).status?.adapters.first
    }

    @Test("off ends what programs do, refuses new ones and says why; on serves them again, however often (SPEC SPR-30)")
    func switched() async throws {
        let early = try await stage.open()
        await early.close()
        for _ in 0..<2 {
            let adapter = try await stage.open()
            let scanning = Task { for try await _ in adapter.scan() {} }
            try await power(false)
            await #expect(throws: (any Error).self) { try await scanning.value }
            #expect(try await self.adapter()?.trouble?.contains("Bluetooth is off") == true)
            await #expect(throws: (any Error).self) { try await stage.open() }
            // Twice is once.
            try await power(false)
            try await power(true)
        }
        // Off and on while the engine still stops or starts.
        for _ in 0..<5 {
            try await power(false)
            try await power(true)
        }
        await (try await stage.open()).close()
        #expect(try await adapter()?.trouble == nil)
    }

    @Test("a controller that is no device of the machine cannot be reset; it is opened anew, and programs go on (A78)")
    func reset() async throws {
        let adapter = try await stage.open()
        let found = Task {
            for try await discovery in adapter.scan() { return discovery.address }
            return nil
        }
        await #expect(
            throws: DaemonOperator.Failure.refused(
                "the device could not be reset: the transport was closed and opened again; behind sim there is no "
                    + "device")
        ) {
            try await DaemonOperator.perform(.resetDevice, at: stage.path)
        }
        _ = try await found.value
        await adapter.close()
    }
}
