// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

private func pairing(_ link: jelling_link, _ pointer: UnsafePointer<jelling_pairing_options>?) -> HostCommand? {
    guard let pointer = unsafe pointer else { return .security(.pair(LinkID(link), nil)) }
    return unsafe PairingOptions(pointer).map { .security(.pair(LinkID(link), $0)) }
}

private func answer(_ question: UInt64, _ answer: PairingAnswer) -> HostCommand {
    .security(.answerPairing(PairingQuestionID(rawValue: question), answer))
}

private func settings(_ pointer: UnsafePointer<jelling_security_settings>?) -> HostCommand? {
    guard let pointer = unsafe pointer else { return .security(.setSecurity(SecuritySettings())) }
    return unsafe SecuritySettings(pointer).map { .security(.setSecurity($0)) }
}

private func restoring(_ blobs: UnsafePointer<jelling_bytes>?, _ count: Int) -> HostCommand? {
    unsafe readValues(blobs, count) { unsafe octets($0, limit: BondBlob.maximumLength).flatMap(BondBlob.bond) }
        .map { .security(.restoreBonds($0)) }
}

private func naming(_ identity: UnsafePointer<jelling_address>?, _ name: UnsafePointer<CChar>?) -> HostCommand? {
    guard let identity = unsafe identity, let name = unsafe name, let text = unsafe text(name, limit: 248)
    else { return nil }
    return .security(.nameBond(DeviceAddress(unsafe identity.pointee), text))
}

private func removing(_ identity: UnsafePointer<jelling_address>?) -> HostCommand? {
    guard let identity = unsafe identity else { return nil }
    return .security(.removeBond(DeviceAddress(unsafe identity.pointee)))
}

private func outOfBand(
    _ peer: UnsafePointer<jelling_address>?, _ data: UnsafePointer<jelling_out_of_band_data>?
) -> HostCommand? {
    guard let peer = unsafe peer else { return nil }
    let address = DeviceAddress(unsafe peer.pointee)
    guard let data = unsafe data else { return .security(.setOutOfBandData(address, nil)) }
    return unsafe OutOfBandData(data).map { .security(.setOutOfBandData(address, $0)) }
}

@c @implementation
public func jelling_describe_bond(
    _ blob: Octets, _ length: Int, _ description: UnsafeMutablePointer<jelling_bond>?
) -> Status {
    guard Features.pairing else { return JELLING_ERROR_UNSUPPORTED }
    guard let description = unsafe description,
        let bond = unsafe octets(blob, length, limit: BondBlob.maximumLength).flatMap(BondBlob.bond)
    else { return JELLING_ERROR_ARGUMENT }
    var found = jelling_bond()
    found.identity = jelling_address(bond.identity)
    found.is_secure_connections = bond.isSecureConnections ? 1 : 0
    found.is_authenticated = bond.isAuthenticated ? 1 : 0
    found.key_size = bond.keySize
    return unsafe write(found, to: description)
}

@c @implementation
public func jelling_pair(
    _ engine: Handle, _ link: Link, _ options: UnsafePointer<jelling_pairing_options>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.pairing, pairing(link, options), now, operation)
}

@c @implementation
public func jelling_answer_passkey(
    _ engine: Handle, _ question: UInt64, _ passkey: UInt32, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.pairing, passkey <= 999_999 ? answer(question, .passkey(passkey)) : nil, now, operation)
}

@c @implementation
public func jelling_answer_confirm(
    _ engine: Handle, _ question: UInt64, _ isConfirmed: UInt32, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.pairing, answer(question, .confirm(isConfirmed != 0)), now, operation)
}

@c @implementation
public func jelling_answer_cancel(_ engine: Handle, _ question: UInt64, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.pairing, answer(question, .cancel), now, operation)
}

@c @implementation
public func jelling_unlock_passkey(_ engine: Handle, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.pairing, .security(.unlockPasskey), now, operation)
}

@c @implementation
public func jelling_encrypt(_ engine: Handle, _ link: Link, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.pairing, .security(.encrypt(LinkID(link))), now, operation)
}

@c @implementation
public func jelling_set_security(
    _ engine: Handle, _ settings: UnsafePointer<jelling_security_settings>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.pairing, JellingC.settings(settings), now, operation)
}

@c @implementation
public func jelling_restore_bonds(
    _ engine: Handle, _ blobs: UnsafePointer<jelling_bytes>?, _ count: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.pairing, restoring(blobs, count), now, operation)
}

@c @implementation
public func jelling_name_bond(
    _ engine: Handle, _ identity: UnsafePointer<jelling_address>?, _ name: UnsafePointer<CChar>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.pairing, naming(identity, name), now, operation)
}

@c @implementation
public func jelling_remove_bond(
    _ engine: Handle, _ identity: UnsafePointer<jelling_address>?, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.pairing, removing(identity), now, operation)
}

@c @implementation
public func jelling_set_out_of_band_data(
    _ engine: Handle, _ peer: UnsafePointer<jelling_address>?, _ data: UnsafePointer<jelling_out_of_band_data>?,
    _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.pairing, outOfBand(peer, data), now, operation)
}

@c @implementation
public func jelling_create_out_of_band_data(_ engine: Handle, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.pairing, .security(.createOutOfBandData), now, operation)
}
