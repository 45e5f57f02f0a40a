import BLEHost
import BLEPackets

/// Devices as objects: they come and go.
extension BlueZService {
    /// The path of the device with an address.
    func device(at address: DeviceAddress, _ number: Int) -> String? {
        adapters[number]?.paths[address.withoutIdentityMark]
    }

    /// Adds a device with its object.
    /// - Parameters:
    ///   - data: what it advertises; `nil`: it was not seen.
    ///   - configure: completes the device before its object is made.
    /// - Returns: its path; `nil` if another device has it, whose address is of the other kind.
    @discardableResult
    mutating func addDevice(
        _ address: DeviceAddress, at number: Int, _ data: AdvertisingData? = nil,
        _ configure: (inout DeviceRoom) -> Void
    ) -> String? {
        guard let adapter = adapters[number] else { return nil }
        let address = address.withoutIdentityMark
        let path = ObjectPaths.device(address, of: adapter.path)
        guard devices[path] == nil else { return nil }
        var device = DeviceRoom(path: path, adapter: number, address: address, now: now)
        if let record = adapter.records[address] {
            device.record = record
            device.name = record.name
            device.uuids = record.uuids
        }
        configure(&device)
        devices[path] = device
        adapters[number]?.paths[address] = path
        tree.add(
            path,
            [
                ObjectTree.Interface(
                    name: InterfaceName.device, properties: device.properties(adapter: adapter.path, data))
            ] + bearerInterface(of: device, adapter: adapter.path))
        return path
    }

    /// A bonded device is there also when it was not seen.
    mutating func showBonded(_ bond: Bond, at number: Int) {
        if let path = device(at: bond.identity, number) { return setBonded(true, path, identity: bond.identity) }
        addDevice(bond.identity, at: number) { device in
            device.isBonded = true
            device.isTemporary = false
            device.name = device.name ?? bond.name
        }
    }

    /// Removes a device and what belongs to it, children first.
    mutating func removeDeviceObjects(_ path: String) {
        guard let device = devices[path] else { return }
        monitorsLose(path)
        removeAttributeObjects(of: path)
        if tree.interface(InterfaceName.battery, of: path) != nil { tree.remove(InterfaceName.battery, of: path) }
        tree.remove(path)
        if adapters[device.adapter]?.paths[device.address] == path {
            adapters[device.adapter]?.paths[device.address] = nil
        }
        adapters[device.adapter]?.attempts[path] = nil
        adapters[device.adapter]?.retries[path] = nil
        adapters[device.adapter]?.follows[path] = nil
        adapters[device.adapter]?.connections.leave(path)
        devices[path] = nil
    }

    /// Ends everything of a device whose adapter is gone.
    mutating func dropDevice(_ path: String, because error: BusError) {
        guard let device = devices[path] else { return }
        for call in device.connectCalls { refuse(call, error) }
        if let pairing = device.pairing { refuse(pairing.call, error) }
        devices[path]?.connectCalls = []
        devices[path]?.pairing = nil
        devices[path]?.removeCalls = []
        if device.isConnected { linkEnded(path) }
        removeDeviceObjects(path)
        if !device.isConnected { for call in device.disconnectCalls { reply(to: call) } }
        for call in device.removeCalls { reply(to: call) }
    }

    // MARK: Calls

    mutating func receiveDevice(_ call: BusCall) {
        guard let device = devices[call.path] else { return refuse(call, .unknownObject(call.path)) }
        guard adapters[device.adapter]?.isPowered == true || call.member == "Disconnect" else {
            return refuse(call, .notReady)
        }
        switch call.member {
        case "Connect": connect(call)
        case "Disconnect": disconnect(call)
        case "ConnectProfile": connectProfile(call)
        // Services of LE have no connections of their own.
        case "DisconnectProfile": refuse(call, .notSupported)
        case "Pair": pair(call)
        case "CancelPairing": cancelPairing(call)
        default: refuse(call, .unknownMethod(call))
        }
    }

    /// A service over GATT is connected with its device; there are no others.
    private mutating func connectProfile(_ call: BusCall) {
        guard let uuid = BluetoothUUID(bluez: call.text(at: 0)) else { return refuse(call, .invalidArguments) }
        guard let device = devices[call.path], device.uuids.contains(uuid) else {
            return refuse(call, .doesNotExist)
        }
        connect(call)
    }

    mutating func setDeviceProperty(_ name: String, _ value: BusValue, _ call: BusCall) {
        guard let device = devices[call.path] else { return refuse(call, .unknownObject(call.path)) }
        switch (name, value) {
        case ("Alias", .string(let text)):
            devices[call.path]?.record.alias = text.isEmpty ? nil : text.shortened(to: Self.nameLimit)
            tree.set(
                [("Alias", devices[call.path].map { .string($0.alias) })], InterfaceName.device, of: call.path)
        case ("Trusted", .boolean(let isTrusted)):
            devices[call.path]?.record.isTrusted = isTrusted
            tree.set([(name, value)], InterfaceName.device, of: call.path)
        case ("Blocked", .boolean(let isBlocked)):
            devices[call.path]?.record.isBlocked = isBlocked
            tree.set([(name, value)], InterfaceName.device, of: call.path)
            if isBlocked { endConnection(call.path, because: .connectionAborted) }
        case ("WakeAllowed", .boolean(let mayWake)):
            devices[call.path]?.record.mayWake = mayWake
            tree.set([(name, value)], InterfaceName.device, of: call.path)
        default: return refuse(call, .propertyReadOnly(name))
        }
        if devices[call.path]?.record.isWorthKeeping == true { devices[call.path]?.isTemporary = false }
        save(device.adapter)
        reply(to: call)
    }

    // MARK: Calls of the adapter

    mutating func removeDevice(_ call: BusCall, at number: Int) {
        let path = call.text(at: 0)
        guard let device = devices[path], device.adapter == number else { return refuse(call, .doesNotExist) }
        adapters[number]?.records[device.address] = nil
        devices[path]?.record = DeviceRecord()
        devices[path]?.removeCalls.append(call)
        if device.isBonded {
            submit(.security(.removeBond(device.address)), to: number, .removeBond(path))
        } else {
            removeAfterLink(path)
        }
    }

    /// A bond has been removed, so that its device can be.
    mutating func bondRemoved(_ path: String, _ result: Result<HostResult, HostFailure>) {
        guard case .failure(.limitReached) = result else { return removeAfterLink(path) }
        let calls = devices[path]?.removeCalls ?? []
        devices[path]?.removeCalls = []
        for call in calls { refuse(call, .failed("The bond could not be removed; try again")) }
    }

    /// Ends the link of a device that is to be removed, then removes it.
    mutating func removeAfterLink(_ path: String) {
        guard let device = devices[path], !device.removeCalls.isEmpty else { return }
        switch device.connection {
        case .none: finishRemoving(path)
        case .connecting(_, let isCancelled): if !isCancelled { cancelConnecting(path, .connectionAborted) }
        case .connected: startDisconnecting(path)
        case .disconnecting: break
        }
    }

    mutating func finishRemoving(_ path: String) {
        guard let device = devices[path] else { return }
        if let pairing = device.pairing { refuse(pairing.call, .authenticationCanceled) }
        removeDeviceObjects(path)
        save(device.adapter)
        for call in device.removeCalls { reply(to: call) }
    }

    /// Connects to a device that was not found, or not yet.
    mutating func connectDevice(_ call: BusCall, at number: Int) {
        guard adapters[number]?.isPowered == true else { return refuse(call, .notReady) }
        let options = call.options(at: 0)
        var text: String?
        var kind = "public"
        for option in options {
            switch (option.name, option.value) {
            case ("Address", .string(let address)): text = address
            case ("AddressType", .string(let type)): kind = type
            default: return refuse(call, .invalidArguments)
            }
        }
        guard kind == "public" || kind == "random", let text, let address = DeviceAddress(text + "/" + kind) else {
            return refuse(call, .invalidArguments)
        }
        if device(at: address, number) != nil { return refuse(call, .alreadyExists) }
        guard mayConnect(call, at: number) else { return }
        guard let path = addDevice(address, at: number, nil, { _ in }) else { return refuse(call, .alreadyExists) }
        devices[path]?.connectCalls.append(call)
        startConnecting(path, for: call.user)
        scheduleSweep(at: number)
    }

    // MARK: Bonds

    /// Shows that a device is bonded, with its identity if that has just become known.
    mutating func setBonded(_ isBonded: Bool, _ path: String, identity: DeviceAddress? = nil) {
        guard let device = devices[path] else { return }
        var changes: [ObjectTree.Change] = []
        if let identity = identity?.withoutIdentityMark, identity != device.address {
            devices[path]?.address = identity
            adapters[device.adapter]?.paths[device.address] = nil
            adapters[device.adapter]?.paths[identity] = path
            changes.append(("Address", .string(identity.addressText)))
            changes.append(("AddressType", .string(identity.kindText)))
            if let changed = devices[path] { changes.append(("Alias", .string(changed.alias))) }
        }
        devices[path]?.isBonded = isBonded
        if isBonded { devices[path]?.isTemporary = false }
        changes += [("Paired", .boolean(isBonded)), ("Bonded", .boolean(isBonded))]
        if isBonded { changes.append(("WakeAllowed", .boolean(device.record.mayWake ?? false))) }
        tree.set(changes, InterfaceName.device, of: path)
        tree.set(
            [("Paired", .boolean(isBonded)), ("Bonded", .boolean(isBonded))], InterfaceName.bearer, of: path)
        if isBonded != device.isBonded { save(device.adapter) }
    }
}
