// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import BLEPackets
import BLEText
import Foundation

/// A remote peripheral, as one central manager sees it (SPEC MOD-7).
///
/// Keep the object for as long as you want the connection: when its last reference goes, the connection or the
/// connection attempt ends (SPEC CEN-6, 2.3).
open class CBPeripheral: CBPeer {
    struct State {
        weak var delegate: (any CBPeripheralDelegate)?
        var name: String?
        var state = CBPeripheralState.disconnected {
            didSet { if state != oldValue { for (_, observer) in observers { observer.yield(state) } } }
        }
        var observers: [Int: AsyncStream<CBPeripheralState>.Continuation] = [:]
        var lastObserver = 0
        var rssi: NSNumber?
        var services: [CBService]?
        var attributes: [RemoteAttributeID: CBAttribute] = [:]
        /// Attributes that Service Changed removed: requests for them that are pending still end.
        var invalidated: [RemoteAttributeID: CBAttribute] = [:]
        var limits = WriteLimits()
        var takesWritesWithoutResponse = false
        /// Whether the attributes are those of an earlier process, and the system makes their link again.
        var isRestored = false
        /// Whether the system may have, or try to establish, a link for this object.
        var mayHaveLink = false
        /// Calls of `connect` since the previous link was established or cancelled, for which the delegate has not been
        /// called.
        var earlyConnects = 0
    }

    let content: Locked<State>
    let channel: ManagerChannel
    private let table: WeakTable<PeerIdentifier, CBPeripheral>

    init(_ description: PeripheralDescription, channel: ManagerChannel, table: WeakTable<PeerIdentifier, CBPeripheral>)
    {
        let state = CBPeripheralState(rawValue: description.state.rawValue) ?? .disconnected
        content = Locked(State(name: description.name, state: state, mayHaveLink: state != .disconnected))
        self.channel = channel
        self.table = table
        super.init(description.identifier)
    }

    deinit {
        for (_, observer) in content.with({ $0.observers }) { observer.finish() }
        let isLast = table.removeDead(peer)
        let (state, mayHaveLink) = content.with { ($0.state, $0.mayHaveLink) }
        // A released manager has ended its connections itself; a newer object's connection belongs to that object.
        guard mayHaveLink, isLast, !channel.isClosed else { return }
        if state == .connecting || state == .connected { channel.log(.unusedPeripheral(peer)) }
        // The state is the one that the delegate has received; the system may be ahead of it.
        channel.send(.letGo(peer))
    }

    /// The delegate, which receives the events of this peripheral (SPEC CEN-10).
    open weak var delegate: (any CBPeripheralDelegate)? {
        get { content.with { $0.delegate } }
        set {
            content.with { $0.delegate = newValue }
            newValue?.reportUncallableMethods(to: channel)
        }
    }

    /// The device's GAP device name once it has been read; before that, the advertised name.
    open var name: String? { content.with { $0.name } }

    /// The RSSI that was read last, in dBm.
    @available(*, deprecated, message: "use readRSSI()")
    open var rssi: NSNumber? { content.with { $0.rssi } }

    /// The state of this manager's connection. It changes at once with `connect` and `cancelPeripheralConnection`, and
    /// otherwise just before the delegate is called.
    open var state: CBPeripheralState { content.with { $0.state } }

    /// The state now and at each change, until the object goes. It replaces key-value observing on Linux.
    public var states: AsyncStream<CBPeripheralState> {
        let (stream, continuation) = AsyncStream<CBPeripheralState>.makeStream()
        let number = content.with { content in
            content.lastObserver += 1
            content.observers[content.lastObserver] = continuation
            continuation.yield(content.state)
            return content.lastObserver
        }
        let content = content
        continuation.onTermination = { [weak content] _ in content?.with { $0.observers[number] = nil } }
        return stream
    }

    /// The services that were discovered, in the device's order; `nil` before. The system's services (Generic Access,
    /// Generic Attribute, Human Interface Device, Apple Notification Center) are left out unless the manifest shows
    /// them.
    open var services: [CBService]? { content.with { $0.services } }

    /// Whether a write without response would be accepted now (SPEC 2.3).
    open var canSendWriteWithoutResponse: Bool { content.with { $0.takesWritesWithoutResponse } }

    /// Always false: here no accessory uses the Apple Notification Center Service.
    open var ancsAuthorized: Bool { false }

    override open func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "state": state.rawValue
        case "RSSI", "rssi": content.with { $0.rssi }
        case "services": services
        case "delegate": delegate
        case "mtuLength": content.with { $0.limits.withoutResponse + 3 }
        default: super.value(forKey: key)
        }
    }

    override open var description: String {
        let (name, state) = content.with { ($0.name, $0.state) }
        return "<\(reference), identifier = \(identifier), name = \(name?.printable ?? "(null)"), state = \(state)>"
    }

    // MARK: Requests

    /// Reads the RSSI of the connection; `peripheral(_:didReadRSSI:error:)` follows.
    open func readRSSI() { ask(.readRSSI) }

    /// Discovers services; `peripheral(_:didDiscoverServices:)` follows.
    /// - Parameter serviceUUIDs: `nil` or empty: all (SPEC CEN-11).
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        ask(.discoverServices([BluetoothUUID](serviceUUIDs)))
    }

    /// Discovers included services; `peripheral(_:didDiscoverIncludedServicesFor:error:)` follows.
    /// - Parameter includedServiceUUIDs: `nil` or empty: all.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        ask(about: service) {
            .discoverIncludedServices([BluetoothUUID](includedServiceUUIDs), service: $0)
        } refused: {
            $0.delegate?.peripheral($0, didDiscoverIncludedServicesFor: service, error: $1)
        }
    }

    /// Discovers characteristics; `peripheral(_:didDiscoverCharacteristicsFor:error:)` follows.
    /// - Parameter characteristicUUIDs: `nil` or empty: all (SPEC CEN-12).
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        ask(about: service) {
            .discoverCharacteristics([BluetoothUUID](characteristicUUIDs), service: $0)
        } refused: {
            $0.delegate?.peripheral($0, didDiscoverCharacteristicsFor: service, error: $1)
        }
    }

    /// Discovers all descriptors of a characteristic; `peripheral(_:didDiscoverDescriptorsFor:error:)` follows.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        ask(about: characteristic) {
            .discoverDescriptors(characteristic: $0)
        } refused: {
            $0.delegate?.peripheral($0, didDiscoverDescriptorsFor: characteristic, error: $1)
        }
    }

    /// Reads the whole value; `peripheral(_:didUpdateValueFor:error:)` follows (SPEC CEN-13, CEN-14).
    open func readValue(for characteristic: CBCharacteristic) {
        ask(about: characteristic) {
            .readValue(characteristic: $0)
        } refused: {
            $0.delegate?.peripheral($0, didUpdateValueFor: characteristic, error: $1)
        }
    }

    /// Reads the whole value of a descriptor; `peripheral(_:didUpdateValueFor:error:)` for descriptors follows.
    open func readValue(for descriptor: CBDescriptor) {
        ask(about: descriptor) {
            .readDescriptor($0)
        } refused: {
            $0.delegate?.peripheral($0, didUpdateValueFor: descriptor, error: $1)
        }
    }

    /// The number of octets that one write can carry: 512 with a response, ATT_MTU − 3 without (SPEC 2.3).
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        content.with { type == .withResponse ? $0.limits.withResponse : $0.limits.withoutResponse }
    }

    /// Writes a value. With a response the delegate is always called at the end; without one it never is (SPEC CEN-19,
    /// CEN-20).
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        switch type {
        case .withResponse:
            ask(about: characteristic) {
                .writeValue([UInt8](data), characteristic: $0)
            } refused: {
                $0.delegate?.peripheral($0, didWriteValueFor: characteristic, error: $1)
            }
        case .withoutResponse:
            guard let id = remoteID(of: characteristic) else { return channel.log(.unknownAttribute) }
            let request = ClientRequest.central(
                .peripheral(peer, .writeWithoutResponse([UInt8](data), characteristic: id)))
            // Code that writes in a loop until `canSendWriteWithoutResponse` is false must see it become false.
            if state == .connected { channel.sendAndWait(request) } else { channel.send(request) }
        }
    }

    /// Writes the value of a descriptor; `peripheral(_:didWriteValueFor:error:)` for descriptors follows.
    /// - Precondition: not the Client Characteristic Configuration (`2902`), which `setNotifyValue` writes (SPEC 2.3).
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        if descriptor.uuid.uuidString == CBUUIDClientCharacteristicConfigurationString {
            fatalError(LogMessage.configurationDescriptorWritten.text)
        }
        ask(about: descriptor) {
            .writeDescriptor([UInt8](data), $0)
        } refused: {
            $0.delegate?.peripheral($0, didWriteValueFor: descriptor, error: $1)
        }
    }

    /// Subscribes or unsubscribes: to notifications if the characteristic has them, otherwise to indications (SPEC
    /// CEN-15, 2.3).
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        ask(about: characteristic) {
            .setNotify(enabled, characteristic: $0)
        } refused: {
            $0.delegate?.peripheral($0, didUpdateNotificationStateFor: characteristic, error: $1)
        }
    }

    /// Opens an L2CAP channel to a PSM of the peripheral; `peripheral(_:didOpen:error:)` follows.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) { ask(.openChannel(psm: PSM)) }

    private func ask(_ request: PeripheralRequest) { channel.send(request, to: peer) }

    /// - Parameter refused: ends the request: calls the delegate with the error that the attribute is no longer valid.
    private func ask<Attribute: CBAttribute>(
        about attribute: Attribute, _ make: (RemoteAttributeID) -> PeripheralRequest,
        refused: @escaping (CBPeripheral, any Error) -> Void
    ) {
        if let id = remoteID(of: attribute) { return ask(make(id)) }
        channel.log(.unknownAttribute)
        guard attribute.remoteID != nil, attribute.isOwned(by: self), state == .connected else { return }
        let refusal = Refusal(peripheral: self, call: refused)
        channel.queue.async { refusal.call(refusal.peripheral, CBError(.invalidHandle)) }
    }

    /// `nil` if the attribute does not belong to this peripheral, or no longer does.
    private func remoteID(of attribute: CBAttribute) -> RemoteAttributeID? {
        guard let id = attribute.remoteID, content.with({ $0.attributes[id] === attribute }) else { return nil }
        return id
    }

    /// A call of the delegate on its way to the delegate's queue.
    private struct Refusal: @unchecked Sendable {
        // @unchecked Sendable is safe because the closure is called once, on the queue, and only calls the delegate.
        let peripheral: CBPeripheral
        let call: (CBPeripheral, any Error) -> Void
    }
}

// MARK: - The connection

extension CBPeripheral {
    func update(_ description: PeripheralDescription) {
        content.with { if let name = description.name { $0.name = name } }
    }

    func beginConnecting() {
        content.with { state in
            state.mayHaveLink = true
            if state.state == .connected || state.state == .disconnecting { state.earlyConnects += 1 }
            if state.state != .connected { state.state = .connecting }
        }
    }

    func beginDisconnecting() {
        content.with { state in
            state.earlyConnects = 0
            if state.state != .disconnected { state.state = .disconnecting }
        }
    }

    /// Attributes that were discovered over an earlier link are not valid on a new one, unless the system has made it
    /// in place of one that ended with the process: then it confirms them.
    func connected(_ description: PeripheralDescription, _ limits: WriteLimits) {
        // Code that follows `states` saw no end of the earlier link.
        let isRestored = content.with { $0.isRestored }
        if state != .connected, !isRestored { linkLost(isReconnecting: state == .connecting, isKnown: false) }
        content.with {
            $0.isRestored = false
            // The delegate is called again because the app called `connect` again.
            if $0.state == .connected { $0.earlyConnects = max(0, $0.earlyConnects - 1) }
            $0.mayHaveLink = true
            $0.state = .connected
            $0.limits = limits
            $0.takesWritesWithoutResponse = true
            if let name = description.name { $0.name = name }
        }
    }

    /// Handles the end of a link or a failed attempt. An attempt that the app has started since then continues.
    func ended(isFailure: Bool = false, isReconnecting: Bool = false) {
        let isWanted = content.with { state in
            defer { state.earlyConnects = 0 }
            // During an attempt, only an earlier link can end.
            return state.earlyConnects > 0 || !isFailure && state.state == .connecting
        }
        linkLost(isReconnecting: isReconnecting || isWanted)
    }

    /// Handles a controller that went off: the link is gone, a connection attempt continues (SPEC 5.5 rule 6).
    func controllerLost(isKnown: Bool) {
        content.with { $0.earlyConnects = 0 }
        if state == .connecting { return linkLost(isReconnecting: true, isKnown: isKnown) }
        linkLost(isKnown: isKnown)
    }

    /// - Parameter isKnown: whether the discovered attributes are still valid.
    func linkLost(isReconnecting: Bool = false, isKnown: Bool = true) {
        let attributes = content.with { state in
            state.state = isReconnecting ? .connecting : .disconnected
            state.takesWritesWithoutResponse = false
            state.isRestored = false
            let attributes = state.attributes
            state.invalidated = [:]
            if !isKnown {
                state.services = nil
                state.attributes = [:]
            }
            return attributes
        }
        for case let characteristic as CBCharacteristic in attributes.values {
            characteristic.content.with { $0.isNotifying = false }
        }
    }

    /// The services that were discovered before the app ended (SPEC SPR-15).
    func restore(_ restored: RestoredRemotePeripheral) {
        let state = CBPeripheralState(rawValue: restored.description.state.rawValue) ?? .disconnected
        content.with {
            $0.state = state
            $0.mayHaveLink = true
            $0.limits = restored.writeLimits
            $0.takesWritesWithoutResponse = state == .connected
            $0.isRestored = state == .connecting && restored.services != nil
        }
        if let services = restored.services { adopt(services) }
    }
}
