import BLEHost
import BLEPackets

/// Reading and writing attributes of devices.
extension BlueZService {
    /// The path of the device that an attribute belongs to.
    func device(ofAttribute path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count > 4 else { return nil }
        let device = "/" + parts[..<4].joined(separator: "/")
        return devices[device] == nil ? nil : device
    }

    mutating func receiveCharacteristic(_ call: BusCall) {
        guard let path = device(ofAttribute: call.path), let device = devices[path],
            let characteristic = device.database?.characteristic(call.path)
        else { return refuse(call, .unknownObject(call.path)) }
        let use = Work.AttributeUse(device: path, path: call.path)
        // What needs no link is answered without one.
        if call.member == "StopNotify" { return stopNotify(call, use) }
        if call.member == "StartNotify", !device.isConnected { return startNotifyLater(call, use, characteristic) }
        guard let link = device.link else { return refuse(call, .notConnected) }
        guard mayRequest(call, at: device.adapter) else { return }
        switch call.member {
        case "ReadValue":
            read(characteristic.valueHandle, call, use, link, device.adapter)
        case "WriteValue": write(characteristic, call, use, link, device)
        case "StartNotify": startNotify(call, use, characteristic)
        case "AcquireNotify": acquireNotify(call, use, characteristic)
        case "AcquireWrite": acquireWrite(call, use, characteristic)
        default: refuse(call, .unknownMethod(call))
        }
    }

    mutating func receiveDescriptor(_ call: BusCall) {
        guard let path = device(ofAttribute: call.path), let device = devices[path],
            let descriptor = device.database?.descriptor(call.path)
        else { return refuse(call, .unknownObject(call.path)) }
        guard let link = device.link else { return refuse(call, .notConnected) }
        guard mayRequest(call, at: device.adapter) else { return }
        let use = Work.AttributeUse(device: path, path: call.path)
        guard call.member == "WriteValue" else {
            return read(descriptor.handle, call, use, link, device.adapter)
        }
        // Sessions of notifying write it.
        guard descriptor.uuid != .clientCharacteristicConfiguration else {
            return refuse(call, .notPermitted("Write not permitted"))
        }
        guard let value = call.arguments.first?.octets, let offset = offset(in: call.options(at: 1)) else {
            return refuse(call, .invalidArguments)
        }
        guard value.count <= 512 else { return refuse(call, .invalidArguments("Invalid Length")) }
        let operation = GATTOperation.write(descriptor.handle, value: value, from: offset)
        submit(.link(link, .gatt(operation)), to: device.adapter, .write(use, call), for: call.user)
    }

    /// The option `offset`; `nil` if it is of another type.
    private func offset(in options: [(name: String, value: BusValue)]) -> Int? {
        guard let option = options.first(where: { $0.name == "offset" }) else { return 0 }
        return option.value.uint16.map(Int.init)
    }

    private mutating func read(
        _ handle: AttributeHandle, _ call: BusCall, _ use: Work.AttributeUse, _ link: LinkID, _ number: Int
    ) {
        guard let offset = offset(in: call.options(at: 0)) else { return refuse(call, .invalidArguments) }
        let operation =
            offset == 0 ? GATTOperation.read(handle) : .readLong(handle, offset: UInt16(clamping: offset))
        submit(.link(link, .gatt(operation)), to: number, .read(use, call, offset: offset), for: call.user)
    }

    private mutating func write(
        _ characteristic: RemoteDatabase.Characteristic, _ call: BusCall, _ use: Work.AttributeUse, _ link: LinkID,
        _ device: DeviceRoom
    ) {
        let options = call.options(at: 1)
        guard let value = call.arguments.first?.octets, let offset = offset(in: options) else {
            return refuse(call, .invalidArguments)
        }
        guard device.database?.uses[use.path]?.writeSocket == nil else {
            return refuse(call, .notPermitted("Write acquired"))
        }
        guard value.count <= 512 else { return refuse(call, .invalidArguments("Invalid Length")) }
        var type: String?
        if let option = options.first(where: { $0.name == "type" }) {
            guard case .string(let text) = option.value else { return refuse(call, .invalidArguments) }
            type = text
        }
        let can = characteristic.properties
        let handle = characteristic.valueHandle
        let operation: GATTOperation
        switch type?.lowercased() {
        case nil where characteristic.extendedProperties & 1 != 0, "reliable":
            operation = .writePart(handle, offset: UInt16(clamping: offset), value: value, isReliable: true)
        case nil where can.contains(.write), "request": operation = .write(handle, value: value, from: offset)
        // Commands have no offset.
        case _ where offset > 0: return refuse(call, .notSupported)
        case nil where can.contains(.writeWithoutResponse), "command" where !can.contains(.authenticatedSignedWrites):
            operation = .writeCommand(handle, value: value)
        case nil where can.contains(.authenticatedSignedWrites), "command":
            operation =
                can.contains(.writeWithoutResponse)
                ? .writeCommand(handle, value: value) : .writeSigned(handle, value: value)
        default: return refuse(call, .notSupported)
        }
        submit(.link(link, .gatt(operation)), to: device.adapter, .write(use, call), for: call.user)
    }

    // MARK: Ends

    mutating func hasRead(
        _ use: Work.AttributeUse, _ call: BusCall, offset: Int, _ result: Result<HostResult, HostFailure>
    ) {
        switch result {
        case .success(.gatt(.value(let value))):
            // Programs that read from the cache have it from the signal.
            showValue(value, at: offset, use)
            reply(to: call, [.octets(value)])
        case .success: refuse(call, .failed("Operation failed with ATT error: 0x0e"))
        case .failure(let failure): refuse(call, BusError(failure, reading: true))
        }
    }

    mutating func hasWritten(_ use: Work.AttributeUse, _ call: BusCall, _ result: Result<HostResult, HostFailure>) {
        switch result {
        case .success: reply(to: call)
        case .failure(let failure): refuse(call, BusError(failure, reading: false))
        }
    }

    /// - Parameter offset: where the octets begin in the value; what was known of it before them stays.
    private mutating func showValue(_ octets: [UInt8], at offset: Int, _ use: Work.AttributeUse) {
        for interface in [InterfaceName.characteristic, InterfaceName.descriptor] {
            var value = octets
            if offset > 0 {
                let known = tree.value(of: "Value", interface, at: use.path)?.octets ?? []
                let gap = [UInt8](repeating: 0, count: max(0, offset - known.count))
                value = known.prefix(offset) + gap + octets + known.dropFirst(offset + octets.count)
            }
            tree.set([("Value", .octets(value))], interface, of: use.path, always: ["Value"])
        }
    }
}

extension GATTOperation {
    /// A write whose peer answers.
    fileprivate static func write(_ handle: AttributeHandle, value: [UInt8], from offset: Int) -> GATTOperation {
        offset == 0
            ? .write(handle, value: value)
            : .writePart(handle, offset: UInt16(clamping: offset), value: value, isReliable: false)
    }
}
