import BLEHost

extension LocalCharacteristic {
    /// The definition for the engine (SPEC PER-2 to PER-5, 2.1).
    var definition: GATTCharacteristicDefinition {
        var octet = CharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: properties))
        // Refused with the extended properties: the engine broadcasts, but not for apps of Core Bluetooth (SPEC PER-4).
        if octet.contains(.broadcast) { octet.insert(.extendedProperties) }
        if properties & 0x100 != 0 { octet.insert(.notify) }
        if properties & 0x200 != 0 { octet.insert(.indicate) }
        var allowed: AttributePermissions = []
        if permissions & 0x01 != 0 { allowed.insert(.readable) }
        if permissions & 0x02 != 0 { allowed.formUnion([.writeable, .commandWriteable]) }
        if permissions & 0x04 != 0 { allowed.insert(.readEncryption) }
        if permissions & 0x08 != 0 { allowed.insert(.writeEncryption) }
        return GATTCharacteristicDefinition(
            uuid: uuid, properties: octet, permissions: allowed, value: value,
            descriptors: descriptors.map { GATTDescriptorDefinition(uuid: $0.uuid, value: $0.value) },
            needsEncryptionToSubscribe: properties & 0x300 != 0)
    }
}
