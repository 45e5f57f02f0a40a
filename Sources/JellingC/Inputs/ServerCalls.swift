// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

extension GATTServiceDefinition {
    fileprivate init?(_ pointer: UnsafePointer<jelling_service_definition>?) {
        guard let pointer = unsafe pointer else { return nil }
        var service = unsafe jelling_service_definition()
        guard unsafe read(&service, from: pointer), let uuid = unsafe BluetoothUUID(service.uuid),
            let included = unsafe handles(service.included_services, service.included_service_count),
            let characteristics = unsafe readAll(
                service.characteristics, service.characteristic_count, zero: jelling_characteristic_definition(),
                { unsafe GATTCharacteristicDefinition($0) })
        else { return nil }
        self.init(
            uuid: uuid, isPrimary: unsafe service.is_secondary == 0, includedServices: included,
            characteristics: characteristics)
    }
}

extension GATTCharacteristicDefinition {
    fileprivate init?(_ definition: jelling_characteristic_definition) {
        guard let uuid = unsafe BluetoothUUID(definition.uuid),
            let permissions = unsafe UInt16(exactly: definition.permissions),
            let descriptors = unsafe readAll(
                definition.descriptors, definition.descriptor_count, zero: jelling_descriptor_definition(),
                { unsafe GATTDescriptorDefinition($0) })
        else { return nil }
        self.init(
            uuid: uuid, properties: CharacteristicProperties(rawValue: unsafe definition.properties),
            permissions: AttributePermissions(rawValue: permissions), descriptors: descriptors,
            needsEncryptionToSubscribe: unsafe definition.subscribing_needs_encryption != 0,
            minimumKeySize: unsafe definition.minimum_key_size)
        guard minimumKeySize <= 16 else { return nil }
        if let value = unsafe definition.value {
            guard let octets = unsafe octets(value.pointee, limit: 512) else { return nil }
            self.value = octets
        }
    }
}

extension GATTDescriptorDefinition {
    fileprivate init?(_ definition: jelling_descriptor_definition) {
        guard let uuid = unsafe BluetoothUUID(definition.uuid),
            let permissions = unsafe UInt16(exactly: definition.permissions)
        else { return nil }
        self.init(uuid: uuid, permissions: AttributePermissions(rawValue: permissions), value: nil)
        if let value = unsafe definition.value {
            guard let octets = unsafe octets(value.pointee, limit: 512) else { return nil }
            self.value = octets
        }
    }
}

private func disabling(_ error: UInt8) -> HostCommand {
    .server(.disableServices(error == 0 ? nil : ATTError(rawValue: error)))
}

private func naming(_ name: UnsafePointer<CChar>?) -> HostCommand? {
    guard let name = unsafe name, let text = unsafe text(name, limit: 248) else { return nil }
    return .server(.setDeviceName(text))
}

private func response(_ request: UInt64, _ answer: GATTAnswer?) -> HostCommand? {
    answer.map { .server(.respond(GATTRequestID(rawValue: request), $0)) }
}

private func update(
    _ handle: UInt16, _ value: [UInt8]?, _ links: UnsafePointer<jelling_link>?, _ count: Int
) -> HostCommand? {
    guard let value, let links = unsafe readValues(links, count, { LinkID($0) }) else { return nil }
    return .server(
        .updateValue(AttributeHandle(rawValue: handle), value: value, links: links.isEmpty ? nil : links))
}

@c @implementation
public func jelling_publish(
    _ engine: Handle, _ service: UnsafePointer<jelling_service_definition>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.server, GATTServiceDefinition(service).map { .server(.publish($0)) }, now, operation)
}

@c @implementation
public func jelling_remove_service(_ engine: Handle, _ handle: UInt16, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(
        engine, to: Features.server, .server(.removeService(AttributeHandle(rawValue: handle))), now, operation)
}

@c @implementation
public func jelling_disable_services(_ engine: Handle, _ attError: UInt8, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.server, disabling(attError), now, operation)
}

@c @implementation
public func jelling_set_device_name(
    _ engine: Handle, _ name: UnsafePointer<CChar>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.server, naming(name), now, operation)
}

@c @implementation
public func jelling_respond_value(
    _ engine: Handle, _ request: UInt64, _ value: Octets, _ length: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.server, response(request, octets(value, length, limit: 512).map { .value($0) }), now,
        operation)
}

@c @implementation
public func jelling_respond_written(_ engine: Handle, _ request: UInt64, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.server, response(request, .success), now, operation)
}

@c @implementation
public func jelling_respond_error(
    _ engine: Handle, _ request: UInt64, _ attError: UInt8, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.server, response(request, attError == 0 ? nil : .failure(ATTError(rawValue: attError))),
        now, operation)
}

@c @implementation
public func jelling_update_value(
    _ engine: Handle, _ handle: UInt16, _ value: Octets, _ length: Int, _ links: UnsafePointer<jelling_link>?,
    _ linkCount: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.server, update(handle, octets(value, length, limit: 512), links, linkCount), now, operation
    )
}
