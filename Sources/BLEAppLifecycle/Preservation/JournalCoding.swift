import BLEHost

// Values of the engine as the journal writes them.

extension AttributePermissions: Codable {}
extension CharacteristicProperties: Codable {}
