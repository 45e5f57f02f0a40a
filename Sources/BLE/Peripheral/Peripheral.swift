import BLEHost
import BLEPackets
import Synchronization

/// A connected device and its GATT database (SPEC MOD-7).
///
/// Operations on one peripheral are carried out in the order in which they are called. When the link ends, each of them
/// fails with `BLEError`, once.
public final class Peripheral: Sendable {
    /// The controller through which the device is connected.
    public let adapter: Adapter
    /// Identifies this link; a later link has a different identifier.
    public let link: LinkID
    /// The device's address: its identity, if that is known.
    public let address: DeviceAddress

    private static let nextToken = Atomic<UInt64>(1)

    /// A number that no other waiter or stream of this process has.
    static func makeToken() -> UInt64 { nextToken.add(1, ordering: .relaxed).oldValue }

    init(adapter: Adapter, information: LinkInformation) {
        self.adapter = adapter
        link = information.id
        address = information.peer
    }

    // MARK: The link

    /// The current state of the link; `nil` after its end.
    public var information: LinkInformation? {
        get async { await adapter.linkState(link) { $0.information } }
    }

    /// The ATT_MTU in octets; 23 after the end of the link.
    public var attMTU: Int { get async { await information?.attMTU ?? 23 } }

    /// The maximum length of a written value: 512 octets with a response, MTU − 3 without (SPEC 2.3), and never more
    /// than 512: no value of an attribute is longer (Core 5.4, Vol 3, Part F, 3.2.9).
    public func maximumWriteLength(withResponse: Bool) async -> Int {
        let longestValue = 512
        return withResponse ? longestValue : min(await attMTU - 3, longestValue)
    }

    /// Disconnects (SPEC CEN-24). All `Peripheral` values of this adapter for the same device share the link.
    /// - Throws: `BLEError.notConnected` if the link has ended already.
    public func disconnect() async throws { _ = try await adapter.result(of: .link(link, .disconnect)) }

    /// Waits until the link has ended; returns at once if it already has.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func waitForDisconnection() async throws -> DisconnectionReason {
        try await waitForDisconnection {}
    }

    /// - Parameter onWaiting: called once an end of the link can no longer be missed.
    func waitForDisconnection(
        onWaiting: @escaping @Sendable () -> Void
    ) async throws -> DisconnectionReason {
        let token = Self.makeToken()
        guard let reason = await adapter.waitForEnd(of: link, token: token, onWaiting: onWaiting) else {
            throw CancellationError()
        }
        return reason
    }

    /// Reads the RSSI of the peer, in dBm.
    public func readRSSI() async throws -> Int8 {
        try await adapter.answer(to: .readRSSI(on: link))
    }

    /// Reads the version information of the device's controller.
    /// - Throws: `BLEError.controllerRefused` if this controller does not support the command.
    public func readRemoteVersion() async throws -> RemoteVersion {
        try await adapter.answer(to: .readRemoteVersion(on: link))
    }

    /// Reads the features of the device's link layer.
    /// - Throws: `BLEError.controllerRefused` if this controller does not support the command.
    public func readRemoteFeatures() async throws -> LEFeatures {
        try await adapter.answer(to: .readRemoteFeatures(on: link))
    }

    /// Asks for other connection parameters; a central sets them, a peripheral asks the central for them.
    /// - Throws: `BLEError.parametersRejected`.
    public func updateConnectionParameters(
        _ requested: ConnectionParameterRequest
    ) async throws -> ConnectionParameters {
        try await adapter.answer(to: .updateParameters(requested, on: link))
    }

    /// Asks for another maximum length of the packets to the device (payload octets and time on the air).
    /// - Parameters:
    ///   - octets: 27 to 251.
    ///   - microseconds: 328 to 17040.
    /// - Returns: the current length; `AdapterEvent.dataLengthChanged` follows if the peer agrees to a change.
    @discardableResult
    public func setDataLength(octets: UInt16, microseconds: UInt16) async throws -> DataLength {
        try await adapter.answer(to: .setDataLength(octets: octets, microseconds: microseconds, on: link))
    }

    /// Reads the PHYs in use.
    /// - Throws: `BLEError.controllerRefused` if this controller does not support the command.
    public func readPHY() async throws -> (transmit: PHY, receive: PHY) {
        try await adapter.answer(to: .readPHY(on: link))
    }

    /// Asks for other PHYs.
    /// - Returns: the PHYs that both sides agreed on.
    @discardableResult
    public func setPHY(
        transmit: PHYSet, receive: PHYSet
    ) async throws -> (transmit: PHY, receive: PHY) {
        try await adapter.answer(to: .setPHY(transmit: transmit, receive: receive, on: link))
    }

    /// Asks that the link uses a share of its connection events only, which saves energy while nothing is sent (Core
    /// 5.4, Vol 6, Part B, 5.1.19). Both sides must allow it: `Timing.allowsSubrating`.
    /// - Returns: what both sides agreed on.
    /// - Throws: `BLEError.controllerRefused` if one of the controllers or the peer's host does not support it.
    @discardableResult
    public func setSubrate(_ parameters: SubrateParameters) async throws -> LinkSubrate {
        try await adapter.answer(to: .setSubrate(parameters, on: link))
    }

    // MARK: Discovery

    /// Discovers services.
    /// - Parameter uuids: only these services; empty: all primary ones (SPEC CEN-11).
    public func discoverServices(_ uuids: [BluetoothUUID] = []) async throws -> [Service] {
        try await adapter.answer(to: .discoverServices(uuids, on: link))
    }

    /// Discovers the services that this one includes (SPEC MOD-4).
    public func discoverIncludedServices(of service: Service) async throws -> [IncludedService] {
        try await discoverIncludedServices(in: service.range)
    }

    func discoverIncludedServices(in range: AttributeHandleRange) async throws -> [IncludedService] {
        let found = try await adapter.answer(to: .discoverIncludedServices(in: range, on: link))
        return found.map {
            IncludedService(handle: $0.handle, service: Service(uuid: $0.uuid, range: $0.range, isPrimary: false))
        }
    }

    /// Discovers the characteristics of a service.
    /// - Parameter uuids: only these characteristics; empty: all (SPEC CEN-12).
    public func discoverCharacteristics(
        _ uuids: [BluetoothUUID] = [], of service: Service
    ) async throws -> [Characteristic] {
        try await discoverCharacteristics(uuids, in: service.range)
    }

    func discoverCharacteristics(
        _ uuids: [BluetoothUUID], in range: AttributeHandleRange
    ) async throws -> [Characteristic] {
        try await adapter.answer(to: .discoverCharacteristics(uuids, in: range, on: link))
    }

    /// Discovers the descriptors of a characteristic; sends no request if no handle is left for one.
    public func discoverDescriptors(of characteristic: Characteristic) async throws -> [Descriptor] {
        guard let range = characteristic.descriptorRange else { return [] }
        return try await discoverDescriptors(in: range)
    }

    func discoverDescriptors(in range: AttributeHandleRange) async throws -> [Descriptor] {
        try await adapter.answer(to: .discoverDescriptors(in: range, on: link))
    }

    /// Discovers services with all their contents (SPEC MOD-6).
    /// - Parameter uuids: only these services; empty: all primary ones, and the secondary ones that they include.
    /// - Throws: `BLEError.discoveryTooLong` if the device reports more than 8192 attributes, or takes more than
    ///   20 minutes for one search.
    public func discoverContents(_ uuids: [BluetoothUUID] = []) async throws -> [ServiceContents] {
        var discovery = DatabaseDiscovery(peripheral: self)
        return try await discovery.run(uuids)
    }

    /// Finds the first characteristic with this UUID, in the given service or in any.
    /// - Throws: `BLEError.notFound`.
    public func findCharacteristic(
        _ uuid: BluetoothUUID, inService serviceUUID: BluetoothUUID? = nil
    ) async throws -> Characteristic {
        let services = try await discoverServices(serviceUUID.map { [$0] } ?? [])
        if let serviceUUID, services.isEmpty { throw BLEError.notFound(serviceUUID) }
        for service in services {
            if let found = try await discoverCharacteristics([uuid], of: service).first { return found }
        }
        throw BLEError.notFound(uuid)
    }

    // MARK: Values

    /// Reads the whole value, however long (SPEC CEN-13, CEN-14).
    /// - Throws: `BLEError.att` with the device's error.
    public func read(_ handle: AttributeHandle) async throws -> [UInt8] {
        try await adapter.answer(to: .read(handle, on: link))
    }

    /// Reads the whole value of a characteristic.
    public func read(_ characteristic: Characteristic) async throws -> [UInt8] {
        try await read(characteristic.valueHandle)
    }

    /// Reads the whole value of a descriptor.
    public func read(_ descriptor: Descriptor) async throws -> [UInt8] {
        try await read(descriptor.handle)
    }

    /// Writes up to 512 octets and waits for the device's response (SPEC CEN-19).
    /// - Throws: `BLEError.valueTooLong` for a longer value, `BLEError.att` with
    ///   the device's error.
    public func write(_ value: [UInt8], to handle: AttributeHandle) async throws {
        _ = try await gatt(.write(handle, value: value))
    }

    /// Writes the value of a characteristic, like `write(_:to:)` with a handle.
    public func write(_ value: [UInt8], to characteristic: Characteristic) async throws {
        try await write(value, to: characteristic.valueHandle)
    }

    /// Writes the value of a descriptor, like `write(_:to:)` with a handle. `notifications(of:)` writes the Client
    /// Characteristic Configuration by itself.
    public func write(_ value: [UInt8], to descriptor: Descriptor) async throws {
        try await write(value, to: descriptor.handle)
    }

    /// Writes up to MTU − 3 octets, and no more than 512, without a response (SPEC CEN-20).
    ///
    /// Returns when the controller has accepted the value, so a caller that waits cannot fill the memory.
    /// - Throws: `BLEError.valueTooLong` with the limit in octets if the value is longer.
    public func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) async throws {
        _ = try await gatt(.writeCommand(handle, value: value))
    }

    /// Writes the value of a characteristic, like `writeWithoutResponse(_:to:)` with a handle.
    public func writeWithoutResponse(
        _ value: [UInt8], to characteristic: Characteristic
    ) async throws {
        try await writeWithoutResponse(value, to: characteristic.valueHandle)
    }

    /// Reads several values of any length with one request (Core 5.4, Vol 3, Part G, 4.8.5), and those that did not fit
    /// into its response one by one. If the device does not know the request, or finds no value by it, all are read one
    /// by one.
    /// - Parameter handles: at least two.
    /// - Throws: `BLEError.att` with the device's error for the first value that cannot be read.
    public func read(together handles: [AttributeHandle]) async throws -> [[UInt8]] {
        var values: [[UInt8]]
        do {
            guard case .values(let found) = try await gatt(.readMultipleVariable(handles)) else { return [] }
            values = found
        } catch BLEError.att(let error, _) where error == .requestNotSupported || error == .attributeNotFound {
            values = []
        }
        // The last one may have been cut: to the room that was left, or to 251 octets, as some servers do.
        let length = values.reduce(1) { $0 + 2 + $1.count }
        let room = await attMTU
        let isWhole = values.count == handles.count && length < room && values.last?.count ?? 0 < 251
        if !isWhole, !values.isEmpty { values.removeLast() }
        for handle in handles.dropFirst(values.count) { values.append(try await read(handle)) }
        return values
    }

    /// Writes several values, all or none; the device's echo of each is compared first (Core 5.4, Vol 3, Part G,
    /// 4.9.5).
    /// - Throws: `BLEError.att` with the device's error; nothing has been written then.
    public func write(reliably writes: [AttributeWrite]) async throws { _ = try await gatt(.reliableWrite(writes)) }

    /// Writes up to MTU − 15 octets with a signature of the bond instead of encryption, without a response (Core 5.4,
    /// Vol 3, Part G, 4.9.2). On an encrypted link it is a write without response.
    /// - Throws: `BLEError.security` with `noKey` if the device does not have our signing key.
    public func writeSigned(_ value: [UInt8], to handle: AttributeHandle) async throws {
        _ = try await gatt(.writeSigned(handle, value: value))
    }

    /// Writes the value of a characteristic, like `writeSigned(_:to:)` with a handle.
    public func writeSigned(_ value: [UInt8], to characteristic: Characteristic) async throws {
        try await writeSigned(value, to: characteristic.valueHandle)
    }

    /// Performs any GATT operation.
    /// - Throws: `BLEError`.
    public func gatt(_ operation: GATTOperation) async throws -> GATTResult {
        try await adapter.answer(to: .gatt(operation, on: link))
    }

    // MARK: Notifications

    /// Subscribes and returns the values as a sequence; uses notifications if the characteristic offers both ways (SPEC
    /// CEN-15, 2.3).
    /// - Throws: `BLEError.notSubscribable` if the characteristic offers neither, `notFound` if it has no Client
    ///   Characteristic Configuration, or the device's error. The other function subscribes to what such a device sends.
    public func notifications(of characteristic: Characteristic) async throws -> Notifications {
        guard let mode = characteristic.properties.subscriptionMode else {
            throw BLEError.notSubscribable(characteristic.uuid)
        }
        let configuration = BluetoothUUID(UInt16(0x2902))
        let descriptors = try await discoverDescriptors(of: characteristic)
        guard let descriptor = descriptors.first(where: { $0.uuid == configuration }) else {
            throw BLEError.notFound(configuration)
        }
        return try await notifications(of: characteristic.valueHandle, configuration: descriptor.handle, mode: mode)
    }

    /// Subscribes with known handles.
    ///
    /// Some devices send values although the characteristic has no Client Characteristic Configuration, or one that
    /// cannot be written. With `AttributeHandle.none` as the configuration nothing is written, and these values arrive.
    /// - Throws: the device's error.
    public func notifications(
        of handle: AttributeHandle, configuration: AttributeHandle, mode: SubscriptionMode
    ) async throws -> Notifications {
        let dropped = DropCounter()
        let (stream, values) = BoundedStream<Notifications.Value>.make(
            capacity: Notifications.capacity, dropped: dropped)
        let token = Self.makeToken()
        let source = Notifications.Source(values: values)
        await adapter.addSubscriber(source, token: token, handle: handle, link: link)
        do {
            _ = try await gatt(.subscribe(handle, configuration: configuration, mode: mode))
        } catch {
            await adapter.removeSubscriber(token: token, handle: handle, link: link)
            throw error
        }
        let adapter = adapter
        let link = link
        values.onTermination {
            Task { await adapter.unsubscribe(token: token, handle: handle, link: link) }
        }
        return Notifications(stream: stream, dropped: dropped)
    }
}

extension Adapter {
    func addSubscriber(_ source: Notifications.Source, token: UInt64, handle: AttributeHandle, link: LinkID) {
        _ = linkState(link) { $0.add(source, token: token, handle: handle) }
    }

    @discardableResult
    func removeSubscriber(token: UInt64, handle: AttributeHandle, link: LinkID) -> Bool {
        linkState(link) { $0.remove(token: token, handle: handle) } ?? false
    }

    func unsubscribe(token: UInt64, handle: AttributeHandle, link: LinkID) async {
        guard removeSubscriber(token: token, handle: handle, link: link) else { return }
        _ = await perform(.link(link, .gatt(.unsubscribe(handle))))
    }

    /// - Returns: `nil` when the task was cancelled.
    func waitForEnd(
        of link: LinkID, token: UInt64, onWaiting: @escaping @Sendable () -> Void
    ) async -> DisconnectionReason? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                if linkState(link, { $0.waitForEnd(continuation, token: token) }) == nil {
                    continuation.resume(returning: end(of: link))
                }
                onWaiting()
            }
        } onCancel: {
            Task { await self.stopWaiting(for: link, token: token) }
        }
    }

    private func stopWaiting(for link: LinkID, token: UInt64) {
        _ = linkState(link) { $0.stopWaiting(token: token) }
    }
}
