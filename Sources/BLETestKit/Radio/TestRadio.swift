@_spi(HostRunner) import BLE
import BLESimulator
@_spi(VirtualTime) import BLETransport
import Dispatch
import Synchronization

/// A radio for tests: simulated devices, and as many adapters as a test needs, all in range of each other.
///
///     let radio = try TestRadio()
///     let belt = radio.add(
///         TestDevice("Belt") {
///             TestService(.batteryService) { TestCharacteristic(.batteryLevel, .read, value: [87]) }
///         })
///     let adapter = try await radio.openAdapter()
///     // The code under test uses the adapter; the test moves the devices and the clock.
///     belt.disconnect()
///     await radio.clock.advance(by: .seconds(30))
///
/// The app under test may be a central or a peripheral. For the peripheral role, the test opens a second adapter, which
/// is the other side with the whole interface of `BLE`. `CoreBluetoothTestKit` runs apps that use Core Bluetooth.
///
/// The radio has one thread, on which all its adapters run. Its functions can be called from any thread, and have taken
/// effect when they return. Time is that of `clock`.
public final class TestRadio: Sendable {
    /// The time of the radio.
    public let clock: TestClock
    package let loop: EventLoop
    private let state: RadioState
    private let lastAddress = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - seed: decides everything that is random, such as when a device begins to advertise.
    ///   - devices: the devices at the beginning.
    /// - Throws: `TransportError.system` when the process is out of descriptors or memory.
    public init(
        seed: UInt64 = 1, @TestDeviceBuilder devices: () -> [TestDevice] = { [] }
    ) throws(TransportError) {
        loop = try EventLoop(name: "test radio")
        clock = TestClock(loop: loop)
        state = RadioState(SimulatedAir(seed: seed), loop: loop)
        try loop.start()
        for device in devices() { add(device) }
    }

    deinit { loop.stop() }

    // MARK: Devices

    /// Adds a device.
    /// - Returns: its controls.
    @discardableResult
    public func add(_ device: TestDevice) -> TestPeer {
        let address = device.address ?? nextAddress()
        let identifier = onAir { air in
            let identifier = air.addPeripheral(device.simulated(address))
            if !device.startsInRange { air.setInRange(false, identifier) }
            if !device.startsAdvertising { air.setAdvertising(false, of: identifier) }
            return identifier
        }
        return TestPeer(radio: self, identifier: identifier, device: device, address: address)
    }

    /// A random static address that nothing else on this radio has.
    private func nextAddress() -> DeviceAddress {
        let number = lastAddress.add(1, ordering: .relaxed).newValue
        return DeviceAddress(value: 0xC0_7E_57_00_00_00 + number, kind: .random)
    }

    // MARK: Adapters

    /// Opens an adapter on this radio: for the code under test, or for its other side.
    /// - Parameters:
    ///   - controller: what the controller can do; `nil` for one that can do everything, with an address that no other
    ///     has.
    ///   - faults: what is wrong with the controller from the start.
    ///   - configure: changes the configuration, for example to add a crypto provider and a store of bonds.
    /// - Throws: the errors of `Adapter.open(_:configuration:)`.
    public func openAdapter(
        controller: SimulatedControllerConfiguration? = nil, faults: SimulatedControllerFaults = .init(),
        _ configure: (inout AdapterConfiguration) -> Void = { _ in }
    ) async throws -> Adapter {
        var configuration = self.configuration(controller: controller, faults: faults)
        configure(&configuration)
        return try await Adapter.open(.simulator(scenario: nil), configuration: configuration)
    }

    /// Opens an adapter whose controller is of a real family, with that family's faults.
    ///
    ///     let adapter = try await radio.openAdapter(.realtek8761)
    /// - Throws: the errors of `Adapter.open(_:configuration:)`.
    public func openAdapter(
        _ preset: SimulatedControllerPreset, _ configure: (inout AdapterConfiguration) -> Void = { _ in }
    ) async throws -> Adapter {
        try await openAdapter(controller: preset.configuration(), faults: preset.faults, configure)
    }

    /// A configuration whose virtual transport is a controller on this radio, for code that opens its adapter itself:
    /// `Adapter.open("sim", configuration: radio.configuration())`.
    /// - Parameters:
    ///   - controller: what the controller can do; `nil` for one that can do everything.
    ///   - faults: what is wrong with the controller from the start.
    public func configuration(
        controller: SimulatedControllerConfiguration? = nil, faults: SimulatedControllerFaults = .init()
    ) -> AdapterConfiguration {
        // Commands are answered at once, also while the clock is stopped.
        let controller =
            controller
            ?? SimulatedControllerConfiguration(
                publicAddress: DeviceAddress(value: nextAddress().value, kind: .public), latencyMicroseconds: 0)
        var configuration = AdapterConfiguration(makeVirtualTransport: { [self] address throws(TransportError) in
            TestTransport(radio: self, controller: controller, faults: faults, address: address)
        })
        configuration.loop = loop
        return configuration
    }

    // MARK: Faults of the controllers

    /// Changes the faults of all controllers: commands that are refused or not answered, connections that fail,
    /// reports that stop.
    ///
    ///     radio.changeFaults { $0.failingConnections = 2 }
    public func changeFaults(_ change: @escaping @Sendable (inout SimulatedControllerFaults) -> Void) {
        onState { $0.changeFaults(change) }
    }

    /// Changes the faults of all controllers until a step of recovery; weaker steps do not end them.
    ///
    ///     radio.changeFaults(until: .reset) { $0.silencesReports = true }
    public func changeFaults(
        until remedy: SimulatedControllerRemedy,
        _ change: @escaping @Sendable (inout SimulatedControllerFaults) -> Void
    ) {
        onState { $0.changeFaults(until: remedy, change) }
    }

    /// The controllers forget everything without an event, as at power-on, while their transports stay open.
    public func forgetEverything() { onState { $0.forgetEverything() } }

    /// The controllers report a hardware error: they are reset, and their links are lost.
    public func failHardware() { onState { $0.failHardware() } }

    /// Takes the controllers away, as when they are unplugged or switched off: their transports close, and cannot be
    /// opened before `plugIn()`.
    public func unplug() { onState { $0.unplug() } }

    /// The controllers can be opened again.
    public func plugIn() { onState { $0.isUnplugged = false } }

    /// Sets how many of a thousand packets are lost on the air; a link that loses all of them ends.
    public func setLoss(perMille: Int) { onAir { $0.configuration.lossPerMille = perMille } }

    // MARK: Everything else

    /// Changes what is on the air; see `SimulatedAir` for what is possible. The closure runs on the radio's thread.
    @discardableResult
    public func onAir<Value: Sendable>(_ body: @escaping @Sendable (SimulatedAir) -> Value) -> Value {
        onState { state in
            let value = body(state.air)
            state.deliver()
            return value
        }
    }

    /// The state, for code that runs on the radio's thread.
    var stateOnLoop: RadioState { state }

    /// Runs a closure on the radio's thread and waits for it.
    func onState<Value: Sendable>(_ body: @escaping @Sendable (RadioState) -> Value) -> Value {
        let state = state
        guard !loop.isOnLoop else { return body(state) }
        let result = Mutex<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        loop.run {
            let value = body(state)
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else {
            // The closure has signalled, so it has stored its value.
            preconditionFailure("a closure on the radio's thread left no value")
        }
        return value
    }
}

extension TestRadio: CustomStringConvertible {
    public var description: String { "test radio at \(clock.now)" }
}

/// Collects the devices of a radio.
@resultBuilder
public enum TestDeviceBuilder {
    public static func buildExpression(_ device: TestDevice) -> [TestDevice] { [device] }
    public static func buildBlock(_ devices: [TestDevice]...) -> [TestDevice] { devices.flatMap(\.self) }
    public static func buildOptional(_ devices: [TestDevice]?) -> [TestDevice] { devices ?? [] }
    public static func buildEither(first devices: [TestDevice]) -> [TestDevice] { devices }
    public static func buildEither(second devices: [TestDevice]) -> [TestDevice] { devices }
    public static func buildArray(_ devices: [[TestDevice]]) -> [TestDevice] { devices.flatMap(\.self) }
}
