import BLEPackets

/// Access checks, in the order in which they are made (Core 5.4, Vol 3, Part F, 4; Vol 3, Part C, 10.3.1).
extension GATTServer {
    /// Where a client's read gets the value from.
    enum Held {
        case octets([UInt8])
        /// The app must be asked for the value.
        case app
        /// The database hash, which is not computed yet.
        case unknownHash
    }

    /// Disables access to the values and descriptors of an app with this error for all clients; `nil` enables it (SPEC
    /// FGO-3, 2.4).
    public mutating func disableServices(of owner: ClientID, with error: ATTError?) {
        disabledOwners.removeAll { $0.owner == owner }
        if let error { disabledOwners.append((owner, error)) }
    }

    /// Declarations can still be read, so that discovery continues to work.
    private mutating func disabled(_ position: AttributeTable.Position) -> ATTError? {
        let attribute = database.table[position]
        guard let disabled = disabledOwners.first(where: { $0.owner == attribute.owner }),
            !attribute.isDeclaration
        else { return nil }
        return disabled.error
    }

    // These questions are mutating, because the server would be copied for them otherwise.

    /// Why a client may not read an attribute; `nil` if it may.
    @inline(__always)
    mutating func refusal(readingAt position: AttributeTable.Position, _ client: ServerClients.Handle) -> ATTError? {
        let permissions = database.table.permissions(at: position)
        if !disabledOwners.isEmpty, let error = disabled(position) { return error }
        guard permissions.contains(.readable) else { return .readNotPermitted }
        guard !permissions.isDisjoint(with: .readSecurity) else { return nil }
        return refusal(
            encryption: permissions.contains(.readEncryption),
            authentication: permissions.contains(.readAuthentication),
            authorization: permissions.contains(.readAuthorization), position, client)
    }

    /// Why a client may not write an attribute; `nil` if it may.
    @inline(__always)
    mutating func refusal(
        writingAt position: AttributeTable.Position, isCommand: Bool, isSigned: Bool = false,
        _ client: ServerClients.Handle
    ) -> ATTError? {
        let permissions = database.table.permissions(at: position)
        if !disabledOwners.isEmpty, let error = disabled(position) { return error }
        let isPermitted =
            if !isCommand {
                permissions.contains(.writeable)
            } else if isSigned {
                permissions.contains(.signedWriteable)
            } else {
                permissions.contains(.commandWriteable)
                    || permissions.contains(.signedWriteable) && clients[client].security.isEncrypted
            }
        guard isPermitted else { return .writeNotPermitted }
        guard !permissions.isDisjoint(with: .writeSecurity) else { return nil }
        return refusal(
            encryption: permissions.contains(.writeEncryption),
            authentication: permissions.contains(.writeAuthentication),
            authorization: permissions.contains(.writeAuthorization), position, client)
    }

    private mutating func refusal(
        encryption: Bool, authentication: Bool, authorization: Bool, _ position: AttributeTable.Position,
        _ client: ServerClients.Handle
    ) -> ATTError? {
        let security = clients[client].security
        let error = refusal(encryption, authentication, security, database.table[position].minimumKeySize)
        if let error {
            securityDemander = database.table[position].owner
            return error
        }
        return authorization && !security.isAuthorized ? .insufficientAuthorization : nil
    }

    private func refusal(
        _ encryption: Bool, _ authentication: Bool, _ security: GATTLinkSecurity, _ minimumKeySize: UInt8
    ) -> ATTError? {
        if encryption || authentication {
            if security.keys == .none, !security.isEncrypted {
                return authentication ? .insufficientAuthentication : settings.errorWithoutKeys
            }
            if authentication, security.keys != .authenticated { return .insufficientAuthentication }
            if !security.isEncrypted { return .insufficientEncryption }
            if let shortfall = security.shortfall { return shortfall }
            if security.keySize < minimumKeySize {
                return .insufficientEncryptionKeySize
            }
        }
        return nil
    }

    /// The value of an attribute as this client sees it.
    func storedValue(at position: AttributeTable.Position, _ client: ServerClients.Handle) -> Held {
        switch database.table.value(at: position) {
        case .stored(let octets): return .octets(octets)
        case .dynamic: return .app
        case .clientConfiguration(let configuration):
            let handle = database.table[position].handle
            let entry = clients[client].configurations[handle]
            if let octets = entry?.octets { return .octets(octets) }
            let bits = (entry?.modes ?? configuration.initial).rawValue
            return .octets([UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)])
        case .serverConfiguration: return .octets(broadcasts.configuration(at: database.table[position].handle))
        case .clientSupportedFeatures: return .octets([clients[client].features])
        case .databaseHash: return database.hash.map { .octets($0) } ?? .unknownHash
        }
    }
}
