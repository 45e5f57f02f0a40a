import BLEHost

/// The flags of a characteristic or descriptor that an application offers.
struct ServedFlags: Equatable {
    var properties: CharacteristicProperties = []
    var permissions: AttributePermissions = []
    var extended: CharacteristicExtendedProperties = []

    /// - Returns: `nil` for a flag that there is none.
    init?(_ names: [String]) {
        for name in names {
            switch name {
            case "broadcast": properties.insert(.broadcast)
            case "read": add(.read, .readable)
            case "write": add(.write, .writeable)
            case "write-without-response": add(.writeWithoutResponse, .commandWriteable)
            case "notify": properties.insert(.notify)
            case "indicate": properties.insert(.indicate)
            case "authenticated-signed-writes": add(.authenticatedSignedWrites, .signedWriteable)
            // The server adds the descriptor where one of the two that follow is.
            case "extended-properties": break
            case "reliable-write": extended.insert(.reliableWrite)
            case "writable-auxiliaries": extended.insert(.writableAuxiliaries)
            case "encrypt-read": add(.read, .readEncryption)
            case "encrypt-write": add(.write, .writeEncryption)
            case "encrypt-authenticated-read", "secure-read": add(.read, .readAuthentication)
            case "encrypt-authenticated-write", "secure-write": add(.write, .writeAuthentication)
            case "authorize": permissions.formUnion([.readAuthorization, .writeAuthorization])
            // Who may subscribe follows from who may read.
            case "encrypt-notify", "encrypt-indicate", "encrypt-authenticated-notify",
                "encrypt-authenticated-indicate", "secure-notify", "secure-indicate":
                break
            default: return nil
            }
        }
    }

    private mutating func add(_ property: CharacteristicProperties, _ permission: AttributePermissions) {
        properties.insert(property)
        permissions.insert(permission)
    }
}
