/// Reads one request, whose octets come in any pieces; looks at each octet once, and keeps no more than the limits.
///
///     request line ──line──▶ fields ──empty line──▶ complete
///          └───────── error, limit ────┴──────────▶ refused
public struct HTTPRequestReader: Sendable {
    public enum Progress: Equatable, Sendable {
        /// More octets are needed.
        case incomplete
        case complete(HTTPRequest)
        case refused(HTTPStatus)
    }

    private let limits: HTTPLimits
    private var head: HTTPRequestLine?
    /// The line that has not ended yet, without a line feed.
    private var line: [UInt8] = []
    private var emptyLines = 0
    private var fieldCount = 0
    private var fieldOctets = 0
    private var hosts: [[UInt8]] = []
    private var authorizations: [[UInt8]] = []
    private var lengths: [[UInt8]] = []
    private var isEncoded = false
    private var result: Progress?

    private static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A
    /// Some clients end the request before with a line too many (RFC 9112, section 2.2).
    private static let emptyLineLimit = 2

    public init(_ limits: HTTPLimits) { self.limits = limits }

    /// Whether nothing has come yet.
    public var isUntouched: Bool { head == nil && line.isEmpty && emptyLines == 0 }

    /// Takes the next octets; those after the end of the request are ignored.
    public mutating func read(_ octets: some Sequence<UInt8>) -> Progress {
        if let result { return result }
        do throws(HTTPRefusal) {
            for octet in octets {
                guard let request = try read(octet) else { continue }
                result = .complete(request)
                break
            }
        } catch {
            result = .refused(error.status)
        }
        return result ?? .incomplete
    }

    private mutating func read(_ octet: UInt8) throws(HTTPRefusal) -> HTTPRequest? {
        if octet == Self.lineFeed {
            if line.last == Self.carriageReturn { line.removeLast() }
            defer { line.removeAll(keepingCapacity: true) }
            return try endLine()
        }
        guard line.last != Self.carriageReturn, octet == Self.carriageReturn || isAllowed(octet) else {
            throw HTTPRefusal(.badRequest)
        }
        if head == nil {
            guard line.count < limits.requestLine || octet == Self.carriageReturn else {
                throw HTTPRefusal(.uriTooLong)
            }
        } else {
            fieldOctets += 1
            guard fieldOctets <= limits.fieldOctets, fieldCount < limits.fields || octet == Self.carriageReturn else {
                throw HTTPRefusal(.requestHeaderFieldsTooLarge)
            }
        }
        line.append(octet)
        return nil
    }

    private func isAllowed(_ octet: UInt8) -> Bool {
        head == nil ? (0x20...0x7E).contains(octet) : octet == 0x09 || octet >= 0x20 && octet != 0x7F
    }

    /// - Returns: the request, if the line was its last one.
    private mutating func endLine() throws(HTTPRefusal) -> HTTPRequest? {
        guard let head else {
            if line.isEmpty {
                emptyLines += 1
                guard emptyLines <= Self.emptyLineLimit else { throw HTTPRefusal(.badRequest) }
            } else {
                head = try HTTPRequestLine(line)
            }
            return nil
        }
        if line.isEmpty { return try request(head) }
        fieldCount += 1
        let field = try HTTPField(line)
        switch field.name {
        case "host": hosts.append(field.value)
        case "authorization": authorizations.append(field.value)
        case "content-length": lengths.append(field.value)
        case "transfer-encoding": isEncoded = true
        default: break
        }
        return nil
    }

    private func request(_ head: HTTPRequestLine) throws(HTTPRefusal) -> HTTPRequest {
        let areLengthsRight = lengths.allSatisfy { text in
            !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
        }
        // What has two hosts, or two ends of a body, means different things to different readers.
        guard hosts.count <= 1, authorizations.count <= 1, lengths.count <= 1, areLengthsRight,
            !isEncoded || lengths.isEmpty && head.minorVersion > 0, head.minorVersion == 0 || hosts.count == 1
        else { throw HTTPRefusal(.badRequest) }
        return HTTPRequest(
            method: head.method, path: head.path,
            authority: head.authority ?? hosts.first.map { String(decoding: $0, as: UTF8.self) },
            authorization: authorizations.first,
            hasBody: isEncoded || lengths.contains { $0.contains { $0 != 0x30 } })
    }
}
