import BLE
import BLEScripts

/// A device's attributes, discovered once when they are needed.
actor PeerDatabase {
    /// The place of a target in the database.
    struct Place: Sendable {
        var handle: AttributeHandle
        /// The type; `nil` if the user gave a handle that was not discovered.
        var uuid: BluetoothUUID?
        var characteristic: Characteristic?
    }

    /// Services that are searched at most: real devices have some ten.
    private static let searchLimit = 1024

    let peripheral: Peripheral
    /// Where its attributes are kept; `nil` for a device without a bond.
    private let memory: DatabaseMemory?
    /// Everything that the device offers, once that is known.
    private var known: KnownDatabase?
    private var hasRecalled = false
    private var services: [Service]?
    private var characteristics: [Service: [Characteristic]] = [:]
    /// In which services those stood that were known before the last change.
    private var homes: [Characteristic: BluetoothUUID] = [:]
    /// Searches for characteristics since the services were discovered.
    private var searches = 0

    init(_ peripheral: Peripheral, _ memory: DatabaseMemory? = nil) {
        self.peripheral = peripheral
        self.memory = memory
    }

    /// Everything that the device offers, or the services of one UUID, in the order of handles.
    func contents(of uuid: BluetoothUUID?) async throws -> [ServiceContents] {
        guard let uuid else { return try await allContents() }
        if let known = await recalled() { return known.contents.filter { $0.service.uuid == uuid } }
        let primary = try await peripheral.discoverContents([uuid]).filter { $0.service.uuid == uuid }
        guard primary.isEmpty else { return primary }
        // A secondary service is only found through those that include it.
        return try await peripheral.discoverContents().filter { $0.service.uuid == uuid }
    }

    /// The place to read or write.
    /// - Throws: `BLEError.notFound` when the device has no attribute with this UUID.
    func place(of target: AttributeTarget) async throws -> Place {
        switch target {
        case .handle(let handle):
            let known = characteristics.values.joined().first { $0.valueHandle == handle }
            return Place(handle: handle, uuid: known?.uuid, characteristic: known)
        case .uuid(let uuid, let service):
            let candidates = try await allServices().filter { service == nil || $0.uuid == service }
            if let service, candidates.isEmpty { throw BLEError.notFound(service) }
            for candidate in candidates {
                if let found = try await characteristics(of: candidate).first(where: { $0.uuid == uuid }) {
                    return Place(handle: found.valueHandle, uuid: found.uuid, characteristic: found)
                }
            }
            for candidate in candidates {
                for characteristic in try await characteristics(of: candidate) {
                    let descriptors = try await descriptors(of: characteristic)
                    if let found = descriptors.first(where: { $0.uuid == uuid }) {
                        return Place(handle: found.handle, uuid: uuid, characteristic: nil)
                    }
                }
            }
            throw BLEError.notFound(uuid)
        }
    }

    /// The characteristic to subscribe to.
    /// - Throws: `Failure` when the target is not a characteristic.
    func characteristic(at target: AttributeTarget) async throws -> Characteristic {
        if case .handle(let handle) = target {
            for service in try await allServices() where service.range.first <= handle && handle <= service.range.last {
                if let found = try await characteristics(of: service).first(where: { $0.valueHandle == handle }) {
                    return found
                }
            }
            throw Failure(
                "handle \(Hexadecimal.number(handle.rawValue, digits: 4)) is not the value of a characteristic")
        }
        guard let found = try await place(of: target).characteristic else {
            throw Failure("a descriptor cannot send notifications", code: .notSubscribable)
        }
        return found
    }

    /// Finds a characteristic again after the device has changed its services, in a service with the same UUID; `nil`
    /// if it no longer exists. Clears the discovered attributes.
    func again(_ old: Characteristic) async throws -> Characteristic? {
        // If another characteristic was found again before, the attributes are up to date and do not contain the old
        // one.
        forget()
        let home = homes[old]
        for service in try await allServices() where home == nil || service.uuid == home {
            guard let found = try await characteristics(of: service).first(where: { $0.uuid == old.uuid }) else {
                continue
            }
            return found
        }
        return nil
    }

    /// Forgets the attributes, which the device has changed.
    func forget() {
        for (service, members) in characteristics {
            for member in members where homes[member] == nil { homes[member] = service.uuid }
        }
        (known, hasRecalled) = (nil, true)
        memory?.forget()
        services = nil
        characteristics = [:]
    }

    /// The Client Characteristic Configuration of a characteristic; `nil` if only a discovery can find it.
    func configuration(of characteristic: Characteristic) -> AttributeHandle? {
        members(of: characteristic)?.descriptors.first { $0.uuid == BluetoothUUID(UInt16(0x2902)) }?.handle
    }

    private func descriptors(of characteristic: Characteristic) async throws -> [Descriptor] {
        if let found = members(of: characteristic) { return found.descriptors }
        return try await peripheral.discoverDescriptors(of: characteristic)
    }

    private func members(of characteristic: Characteristic) -> ServiceContents.CharacteristicContents? {
        for service in known?.contents ?? [] {
            let found = service.characteristics.first { $0.characteristic == characteristic }
            if let found { return found }
        }
        return nil
    }

    /// Discovers everything, or finds that it is still what was discovered before.
    private func allContents() async throws -> [ServiceContents] {
        guard let memory else { return try await peripheral.discoverContents() }
        let last = known ?? memory.recall()
        let found = try await peripheral.discoverDatabase(unlessKnown: last)
        // Without encryption it may be another device, with the hash of this one and another database.
        if found != last, await peripheral.security?.isEncrypted == true {
            // What cannot be kept is discovered again.
            try? memory.save(found)
        }
        know(found)
        return found.contents
    }

    /// What an earlier connection discovered, if the device says that it is unchanged; it is asked once.
    private func recalled() async -> KnownDatabase? {
        guard !hasRecalled, known == nil else { return known }
        hasRecalled = true
        guard let memory, let kept = memory.recall() else { return nil }
        // What was not said does not make the kept database wrong.
        let hash: [UInt8]?
        do { hash = try await peripheral.readDatabaseHash() } catch { return nil }
        if hash == kept.hash {
            // Without it, what is kept is only as good as the hash was when it was read.
            _ = try? await peripheral.useRobustCaching()
            know(kept)
        } else {
            memory.forget()
        }
        return known
    }

    private func know(_ database: KnownDatabase) {
        (known, hasRecalled) = (database, true)
        services = database.contents.map(\.service).filter(\.isPrimary)
        characteristics = [:]
        for contents in database.contents {
            characteristics[contents.service] = contents.characteristics.map(\.characteristic)
        }
    }

    private func allServices() async throws -> [Service] {
        if let services { return services }
        if await recalled() != nil, let services { return services }
        let found = try await peripheral.discoverServices()
        services = found
        return found
    }

    private func characteristics(of service: Service) async throws -> [Characteristic] {
        if let known = characteristics[service] { return known }
        searches += 1
        guard searches <= Self.searchLimit else { throw BLEError.discoveryTooLong }
        let found = try await peripheral.discoverCharacteristics(of: service)
        characteristics[service] = found
        return found
    }
}
