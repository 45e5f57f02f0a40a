// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import Foundation
import Testing

@testable import CoreBluetooth

/// Channels whose system does not say that they are closed: a daemon that is killed, a manager that is released.
@Suite("L2CAP channels that nobody closes")
struct ChannelEndTests {
    private static let peer = PeerIdentifier(high: 1, low: 2)
    private static let number = L2CAPChannelID(rawValue: 1)
    private let system = ScriptedSystem()

    /// A delegate that keeps what it is told, on a queue of its own.
    private final class Listener: NSObject, @unchecked Sendable, CBCentralManagerDelegate, CBPeripheralDelegate {
        // @unchecked Sendable is safe because a test looks only after `settle`.
        let queue = DispatchQueue(label: "listener")
        var manager: CBCentralManager!
        var peripherals: [CBPeripheral] = []
        private(set) var channels: [CBL2CAPChannel] = []

        /// Waits until everything that was told before has been handed over.
        func settle() { manager.channel.queue.sync {} }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {}

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            peripheral.delegate = self
            peripherals.append(peripheral)
        }

        func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
            if let channel { channels.append(channel) }
        }
    }

    private func connect() {
        system.deliver(.connected(PeripheralDescription(identifier: Self.peer), maximumWriteLength: WriteLimits()))
    }

    private func connected() -> Listener {
        let listener = Listener()
        listener.manager = CurrentSystem.$override.withValue(system) {
            CBCentralManager(delegate: listener, queue: listener.queue)
        }
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        listener.settle()
        listener.manager.scanForPeripherals(withServices: nil)
        system.deliver(.discovered(PeripheralDescription(identifier: Self.peer, name: "Belt"), .init(), rssi: -40))
        connect()
        listener.settle()
        return listener
    }

    private func open(_ listener: Listener) throws -> CBL2CAPChannel {
        system.deliver(.peripheral(Self.peer, .channelOpened(Self.number, psm: 0x80, nil)))
        system.deliver(.channel(Self.number, .canSend(count: 100)))
        listener.settle()
        let channel = try #require(listener.channels.last)
        channel.inputStream.open()
        channel.outputStream.open()
        return channel
    }

    @Test("a channel of a daemon that was started again is no earlier one, though it has its number")
    func sameNumber() throws {
        let listener = connected()
        let before = try open(listener)
        system.deliver(.channel(Self.number, .received([1, 2, 3])))
        // The daemon is gone, and nobody closes what was open.
        system.deliver(.stateChanged(.resetting, .allowedAlways))
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        connect()
        let after = try open(listener)
        _ = system.takeRequests()
        let octet: [UInt8] = [9]
        #expect(unsafe before.outputStream.write(octet, maxLength: 1) == -1)
        #expect(text(before.outputStream.streamError) == "CBErrorDomain 7")
        #expect(!after.inputStream.hasBytesAvailable)
        #expect(unsafe after.outputStream.write(octet, maxLength: 1) == 1)
        #expect(system.takeRequests() == [.channel(Self.number, .send([9]))])
        system.deliver(.channel(Self.number, .received([4])))
        listener.settle()
        // What had come before can still be read.
        var octets = [UInt8](repeating: 0, count: 8)
        #expect(unsafe before.inputStream.read(&octets, maxLength: 8) == 3)
        #expect(octets.prefix(3) == [1, 2, 3])
        #expect(unsafe after.inputStream.read(&octets, maxLength: 8) == 1)
        #expect(octets.first == 4)
    }

    @Test("the streams of a manager that was released have ended")
    func releasedManager() throws {
        let listener = connected()
        let channel = try open(listener)
        #expect(channel.outputStream.streamStatus == .open)
        listener.peripherals = []
        listener.manager = nil
        #expect(channel.outputStream.streamStatus == .error)
        #expect(channel.inputStream.streamStatus == .error)
    }
}
