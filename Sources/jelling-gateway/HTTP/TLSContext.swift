import COpenSSL

/// Transport Layer Security: the certificate of this side, if it has one, and whose certificates the other side needs.
///
/// `@unchecked`: nothing changes it after `init`, and OpenSSL counts its uses in a way that threads may share.
@safe final class TLSContext: @unchecked Sendable {
    fileprivate let handle: OpaquePointer

    // SSL_OP_NO_TICKET and SSL_OP_NO_RENEGOTIATION, macros that Swift does not see.
    private static let noTicket: UInt64 = 1 << 14
    private static let noRenegotiation: UInt64 = 1 << 30

    private init(_ method: OpaquePointer?) throws(SocketProblem) {
        guard let handle = unsafe SSL_CTX_new(method) else { throw Self.problem("TLS") }
        unsafe self.handle = handle
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // What was not written at once is given again, from another place and with more behind it.
        let modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_MODE, Int(modes), nil)
        // Sessions are not worth being kept.
        unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_set_options(handle, Self.noTicket | Self.noRenegotiation)
    }

    /// For servers that this side connects with.
    /// - Parameter authorities: a file with the authorities of servers' certificates; `nil`: those of the system.
    convenience init(authorities: String?) throws(SocketProblem) {
        try unsafe self.init(TLS_client_method())
        if let authorities {
            try trust(authorities)
        } else {
            unsafe SSL_CTX_set_default_verify_paths(handle)
        }
        unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
    }

    /// For clients that connect with this side.
    /// - Parameters:
    ///   - certificate: a file with the certificate, and those between it and the authority, in PEM form.
    ///   - key: a file with its private key.
    ///   - authorities: a file with the authorities that clients' certificates need; `nil`: clients need none.
    convenience init(certificate: String, key: String, authorities: String?) throws(SocketProblem) {
        try unsafe self.init(TLS_server_method())
        unsafe SSL_CTX_set_num_tickets(handle, 0)
        guard unsafe SSL_CTX_use_certificate_chain_file(handle, certificate) == 1 else {
            throw Self.problem("the certificate \(certificate)")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(handle, key, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(handle) == 1
        else { throw Self.problem("the key \(key)") }
        guard let authorities else { return }
        try trust(authorities)
        unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    deinit { unsafe SSL_CTX_free(handle) }

    private func trust(_ authorities: String) throws(SocketProblem) {
        guard unsafe SSL_CTX_load_verify_locations(handle, authorities, nil) == 1 else {
            throw Self.problem("the authorities \(authorities)")
        }
    }

    private static func problem(_ what: String) -> SocketProblem {
        SocketProblem(text: "\(what) cannot be used: \(lastError())")
    }

    /// What OpenSSL says of what went wrong.
    fileprivate static func lastError() -> String {
        var text = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(ERR_get_error(), &text, text.count)
        ERR_clear_error()
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// One connection with Transport Layer Security. No call waits.
@safe final class TLSSession {
    private let handle: OpaquePointer
    /// Whether the connection has to be written before it goes on.
    private(set) var wantsToWrite = false
    /// Whether it has to be read before more is written.
    private(set) var waitsToRead = false
    /// Why it failed.
    private(set) var problem: String?

    // SSL_CTRL_SET_TLSEXT_HOSTNAME and TLSEXT_NAMETYPE_host_name, for a macro that Swift does not see.
    private static let setHostName: Int32 = 55
    private static let isHostName = 0

    /// `nil` without memory.
    /// - Parameter host: the name or the address in the certificate of the server that this side connects with; `nil`:
    ///   this side is the server.
    init?(_ context: TLSContext, descriptor: Int32, host: String? = nil) {
        guard let handle = unsafe SSL_new(context.handle) else { return nil }
        unsafe self.handle = handle
        unsafe SSL_set_fd(handle, descriptor)
        guard let host else {
            unsafe SSL_set_accept_state(handle)
            return
        }
        unsafe SSL_set_connect_state(handle)
        if NumericAddress(host) != nil {
            unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host)
        } else {
            unsafe SSL_set1_host(handle, host)
            _ = unsafe host.withCString {
                unsafe SSL_ctrl(handle, Self.setHostName, Self.isHostName, UnsafeMutableRawPointer(mutating: $0))
            }
        }
    }

    deinit { unsafe SSL_free(handle) }

    func receive(_ chunk: inout [UInt8]) -> SocketTransfer {
        waitsToRead = false
        let count = unsafe SSL_read(handle, &chunk, Int32(chunk.count))
        return result(count)
    }

    func send(_ octets: UnsafeRawBufferPointer) -> SocketTransfer {
        guard octets.count > 0 else { return .octets(0) }
        let transfer = result(unsafe SSL_write(handle, octets.baseAddress, Int32(clamping: octets.count)))
        if case .later = transfer { waitsToRead = !wantsToWrite }
        return transfer
    }

    /// Says that nothing more follows.
    func finish() {
        unsafe SSL_shutdown(handle)
        ERR_clear_error()
    }

    private func result(_ count: Int32) -> SocketTransfer {
        wantsToWrite = false
        if count > 0 { return .octets(Int(count)) }
        let code = unsafe SSL_get_error(handle, count)
        if code == SSL_ERROR_SSL { problem = TLSContext.lastError() }
        ERR_clear_error()
        switch code {
        case SSL_ERROR_WANT_READ: return .later
        case SSL_ERROR_WANT_WRITE:
            wantsToWrite = true
            return .later
        case SSL_ERROR_ZERO_RETURN: return .end
        default: return .failed
        }
    }
}

/// What reading or writing has brought.
enum SocketTransfer {
    case octets(Int)
    /// Nothing now.
    case later
    case end
    case failed
}
