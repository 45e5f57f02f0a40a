import BLE

/// Tables of attributes in a file:
/// `{"databases":{NAME:[{"handle":1,"type":"2800","permissions":["READ"],"value":"0118"}]}}`.
enum AttributeFile {
    private static let permissions: [(name: String, permissions: AttributePermissions)] = [
        ("READ", .readable), ("WRITE", [.writeable, .commandWriteable]),
        ("READ_ENCRYPT", .readEncryption), ("WRITE_ENCRYPT", .writeEncryption),
        ("READ_AUTHEN", .readAuthentication), ("WRITE_AUTHEN", .writeAuthentication),
        ("READ_AUTHOR", .readAuthorization), ("WRITE_AUTHOR", .writeAuthorization), ("NONE", []),
    ]

    /// - Throws: `Failure` when there is no such database, or it is invalid.
    static func database(named name: String, in bytes: [UInt8]) throws -> GATTDatabase {
        let file = try JSONObject(try JSONObject.value(in: bytes), path: "", keys: nil)
        let databases = try file.required("databases") { key in
            try file[key].map { try JSONObject($0, path: key, keys: nil) }
        }
        guard databases[name] != nil else { throw Failure("there is no database ‘\(name)’", status: .usage) }
        let attributes = try databases.objects(name, keys: nil).map(attribute)
        do throws(GATTPublishError) {
            return try GATTDatabase(attributes: attributes.sorted { $0.handle < $1.handle })
        } catch {
            throw Failure("databases.\(name): \(error)", status: .usage)
        }
    }

    private static func attribute(_ object: JSONObject) throws -> RawAttribute {
        var granted: AttributePermissions = []
        for name in try object.strings("permissions") ?? [] {
            guard let known = permissions.first(where: { $0.name == name }) else {
                let names = permissions.map(\.name).joined(separator: ", ")
                throw object.failure("permissions", "‘\(name)’ is not one of \(names)")
            }
            granted.formUnion(known.permissions)
        }
        return RawAttribute(
            handle: try object.required("handle", object.handle), type: try object.required("type", object.uuid),
            permissions: granted, value: try object.octets("value") ?? [])
    }
}
