// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import BLEPackets
import BLEText
import Foundation

/// A remote peripheral, as one central manager sees it (SPEC MOD-7).
///
/// An app keeps the object for as long as it wants the connection: when the last reference goes, the connection or the
/// wish for one goes with it (SPEC CEN-6, 2.3).
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
        /// What Service Changed took away: requests that were under way end for it all the same.
        var invalidated: [RemoteAttributeID: CBAttribute] = [:]
        var limits = WriteLimits()
        var takesWritesWithoutResponse = false
        /// Whether the system may hold or seek a link for this object.
        var mayHaveLink = false
        /// Calls of `connect` since the link of before was made or cancelled, of which nothing has been told.
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
        // A manager that went before has ended its connections itself; the connection of a younger object is that one's.
        guard mayHaveLink, isLast, !channel.isClosed else { return }
        if state == .connecting || state == .connected { channel.log(.unusedPeripheral(peer)) }
        // The state is what the delegate has been told; the system may be further.
        channel.send(.letGo(peer))
    }

    /// Who is told what happens to this peripheral (SPEC CEN-10).
    open weak var delegate: (any CBPeripheralDelegate)? {
        get { content.with { $0.delegate } }
        set { content.with { $0.delegate = newValue } }
    }

    /// What the device calls itself when it is asked; before that, what it advertised.
    open var name: String? { content.with { $0.name } }

    /// The signal's strength that was read last, in dBm.
    @available(*, deprecated, message: "use readRSSI()")
    open var rssi: NSNumber? { content.with { $0.rssi } }

    /// How the peripheral stands to this manager. Changes at once with `connect` and `cancelPeripheralConnection`, and
    /// with what the delegate is told just before it is told.
    open var state: CBPeripheralState { content.with { $0.state } }

    /// The state now and at each change, until the object goes: the place of key-value observing on Linux.
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

    /// Those that were discovered, in the order of the device, without those of the system (Generic Access, Generic
    /// Attribute, Human Interface Device, Apple Notification Center) unless the manifest shows them; `nil` before.
    open var services: [CBService]? { content.with { $0.services } }

    /// Whether a write without response would be taken now (SPEC 2.3).
    open var canSendWriteWithoutResponse: Bool { content.with { $0.takesWritesWithoutResponse } }

    /// Always false: no accessory uses the Apple Notification Center Service here.
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

    /// Asks for the strength of the device's signal.
    open func readRSSI() { ask(.readRSSI) }

    /// - Parameter serviceUUIDs: `nil` or empty: all (SPEC CEN-11).
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        ask(.discoverServices([BluetoothUUID](serviceUUIDs)))
    }

    /// - Parameter includedServiceUUIDs: `nil` or empty: all.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        ask(about: service) {
            .discoverIncludedServices([BluetoothUUID](includedServiceUUIDs), service: $0)
        } refused: {
            $0.delegate?.peripheral($0, didDiscoverIncludedServicesFor: service, error: $1)
        }
    }

    /// - Parameter characteristicUUIDs: `nil` or empty: all (SPEC CEN-12).
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        ask(about: service) {
            .discoverCharacteristics([BluetoothUUID](characteristicUUIDs), service: $0)
        } refused: {
            $0.delegate?.peripheral($0, didDiscoverCharacteristicsFor: service, error: $1)
        }
    }

    /// Asks for all descriptors of a characteristic; `peripheral(_:didDiscoverDescriptorsFor:error:)` follows.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        ask(about: characteristic) {
            .discoverDescriptors(characteristic: $0)
        } refused: {
            $0.delegate?.peripheral($0, didDiscoverDescriptorsFor: characteristic, error: $1)
        }
    }

    /// Asks for the whole value; the answer comes by `peripheral(_:didUpdateValueFor:error:)` (SPEC CEN-13, CEN-14).
    open func readValue(for characteristic: CBCharacteristic) {
        ask(about: characteristic) {
            .readValue(characteristic: $0)
        } refused: {
            $0.delegate?.peripheral($0, didUpdateValueFor: characteristic, error: $1)
        }
    }

    /// Asks for the whole value of a descriptor; `peripheral(_:didUpdateValueFor:error:)` for descriptors follows.
    open func readValue(for descriptor: CBDescriptor) {
        ask(about: descriptor) {
            .readDescriptor($0)
        } refused: {
            $0.delegate?.peripheral($0, didUpdateValueFor: descriptor, error: $1)
        }
    }

    /// Octets that one write can carry: 512 with a response, ATT_MTU − 3 without (SPEC 2.3).
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        content.with { type == .withResponse ? $0.limits.withResponse : $0.limits.withoutResponse }
    }

    /// Sets a value. With a response the delegate hears of the end, whatever it is; without one it hears nothing
    /// (SPEC CEN-19, CEN-20).
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
            // Who writes in a loop until `canSendWriteWithoutResponse` is false must see it become false.
            if state == .connected { channel.sendAndWait(request) } else { channel.send(request) }
        }
    }

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

    /// Subscribes, by notifications where the characteristic offers them, else by indications (SPEC CEN-15, 2.3).
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        ask(about: characteristic) {
            .setNotify(enabled, characteristic: $0)
        } refused: {
            $0.delegate?.peripheral($0, didUpdateNotificationStateFor: characteristic, error: $1)
        }
    }

    /// Opens a channel to a number that the peripheral has told.
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) { ask(.openChannel(psm: PSM)) }

    private func ask(_ request: PeripheralRequest) { channel.send(request, to: peer) }

    /// - Parameter refused: tells the delegate of an attribute that stands for nothing any more; it ends the request.
    private func ask<Attribute: CBAttribute>(
        about attribute: Attribute, _ make: (RemoteAttributeID) -> PeripheralRequest,
        refused: @escaping (CBPeripheral, any Error) -> Void
    ) {
        if let id = remoteID(of: attribute) { return ask(make(id)) }
        channel.log(.unknownAttribute)
        guard attribute.remoteID != nil, attribute.isOwned(by: self), state == .connected else { return }
        let refusal = Refusal(peripheral: self, tell: refused)
        channel.queue.async { refusal.tell(refusal.peripheral, CBError(.invalidHandle)) }
    }

    /// `nil` for what is no attribute of this peripheral, or not any more.
    private func remoteID(of attribute: CBAttribute) -> RemoteAttributeID? {
        guard let id = attribute.remoteID, content.with({ $0.attributes[id] === attribute }) else { return nil }
        return id
    }

    /// A call of the delegate on its way to the delegate's queue.
    private struct Refusal: @unchecked Sendable {
        // @unchecked Sendable holds because the closure is called once, on the queue, and only calls the delegate.
        let peripheral: CBPeripheral
        let tell: (CBPeripheral, any Error) -> Void
    }
}

// MARK: - The connection

extension CBPeripheral {
    func update(_ description: PeripheralDescription) {
        content.with { if let name = description.name { $0.name = name } }
    }

    /// - Parameter isTaken: whether the manager takes commands, as far as its delegate has been told.
    func beginConnecting(isTaken: Bool) {
        content.with { state in
            state.mayHaveLink = true
            guard isTaken else { return }
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

    /// What was discovered over an earlier link stands for nothing on a new one.
    func connected(_ description: PeripheralDescription, _ limits: WriteLimits) {
        // Who follows the state sees no end of a link in between.
        if state != .connected { linkLost(isReconnecting: state == .connecting, isKnown: false) }
        content.with {
            // Told once more because it was asked for once more.
            if $0.state == .connected { $0.earlyConnects = max(0, $0.earlyConnects - 1) }
            $0.mayHaveLink = true
            $0.state = .connected
            $0.limits = limits
            $0.takesWritesWithoutResponse = true
            if let name = description.name { $0.name = name }
        }
    }

    /// A link has ended, or a wish for one has failed. A wish that the app has had since then stands.
    func ended(isFailure: Bool = false, isReconnecting: Bool = false) {
        let isWanted = content.with { state in
            defer { state.earlyConnects = 0 }
            // While a link is wished for, only an earlier one can end.
            return state.earlyConnects > 0 || !isFailure && state.state == .connecting
        }
        linkLost(isReconnecting: isReconnecting || isWanted)
    }

    /// Bluetooth went off: a link is gone, a wish for one stands (SPEC 5.5 rule 6).
    func controllerLost(isKnown: Bool) {
        content.with { $0.earlyConnects = 0 }
        if state == .connecting { return linkLost(isReconnecting: true, isKnown: isKnown) }
        linkLost(isKnown: isKnown)
    }

    /// - Parameter isKnown: whether what was discovered still stands for something.
    func linkLost(isReconnecting: Bool = false, isKnown: Bool = true) {
        let attributes = content.with { state in
            state.state = isReconnecting ? .connecting : .disconnected
            state.takesWritesWithoutResponse = false
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
        }
        if let services = restored.services { take(services) }
    }
}
