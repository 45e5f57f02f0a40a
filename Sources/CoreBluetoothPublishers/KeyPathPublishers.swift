#if PUBLISHERS
import CoreBluetooth
import OpenCombine

// On Apple's system every object that can be observed has `publisher(for:)`; here it exists for the properties that
// Core Bluetooth documents as observable.

extension CBManager {
    /// Sends the state now, and again whenever it changes: `manager.publisher(for: \.state)`.
    public func publisher(for keyPath: KeyPath<CBManager, CBManagerState>) -> AnyPublisher<CBManagerState, Never> {
        StatePublisher { self.states }.eraseToAnyPublisher()
    }
}

extension CBCentralManager {
    /// Sends whether the manager scans now, and again whenever that changes: `manager.publisher(for: \.isScanning)`.
    public func publisher(for keyPath: KeyPath<CBCentralManager, Bool>) -> AnyPublisher<Bool, Never> {
        StatePublisher { self.scanningStates }.eraseToAnyPublisher()
    }
}

extension CBPeripheral {
    /// Sends the state now, and again whenever it changes: `peripheral.publisher(for: \.state)`.
    public func publisher(
        for keyPath: KeyPath<CBPeripheral, CBPeripheralState>
    ) -> AnyPublisher<CBPeripheralState, Never> {
        StatePublisher { self.states }.eraseToAnyPublisher()
    }
}
#endif
