import BLEStateFiles

extension BrokerSettings {
    /// The longest password of MQTT, in octets.
    private static let passwordLimit = 65_535
    private static let certificateLimit = 16 << 20

    /// Checks the files that OpenSSL reads: it would wait for the other end of a pipe.
    func checkFiles() throws(MQTTProblem) {
        for path in [security?.authorities, security?.certificate, security?.key].compactMap(\.self) {
            do throws(StateFileError) { try InputPlace.check(path, limit: Self.certificateLimit) } catch {
                throw MQTTProblem("\(path) \(error.inputCause)")
            }
        }
    }

    /// The password as the C library takes it, with a zero at its end; `nil`: none.
    ///
    /// It is the first line of the file, and need not be text.
    func currentPassword() throws(MQTTProblem) -> [CChar]? {
        guard let path = passwordFile else {
            return try password.map { text throws(MQTTProblem) in try Self.checked(Array(text.utf8), "the password") }
        }
        let octets: [UInt8]
        // One line feed and one carriage return more than the password.
        do throws(StateFileError) { octets = try InputPlace.read(path, limit: Self.passwordLimit + 2) } catch {
            guard case .tooLong = error else { throw MQTTProblem("\(path) \(error.inputCause)") }
            throw MQTTProblem("\(path) is too long for a password: MQTT has at most \(Self.passwordLimit) octets")
        }
        let line = octets.prefix { $0 != 0x0A && $0 != 0x0D }
        guard !line.isEmpty else { throw MQTTProblem("\(path) has nothing in its first line") }
        return try Self.checked(Array(line), "the password in \(path)")
    }

    private static func checked(_ octets: [UInt8], _ what: String) throws(MQTTProblem) -> [CChar] {
        guard octets.count <= passwordLimit else {
            throw MQTTProblem("\(what) is too long: MQTT has at most \(passwordLimit) octets")
        }
        // The C library would take what is before it for the whole password.
        guard !octets.contains(0) else { throw MQTTProblem("\(what) has an octet that is zero, which none can have") }
        return octets.map { CChar(bitPattern: $0) } + [0]
    }
}
