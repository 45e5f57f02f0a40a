import BLEHost

/// What both sides of the socket agree on.
public enum BledProtocol {
    /// The version of the protocol in this module.
    public static let version: UInt32 = 1
    /// Which additions to the version this module knows, as `Welcome.revision` says.
    public static let revision: UInt32 = 7
    /// The maximum length of a message to the daemon, in octets.
    public static let requestLimit = 64 * 1024
    /// The maximum length of a message to a client, in octets; a device's whole database fits into one answer.
    public static let eventLimit = 8 * 1024 * 1024
}

extension Message {
    /// The message as a frame for the socket; empty if the schema does not have it.
    @inline(__always)
    func frame() -> [UInt8] {
        guard var frame = try? written(header: FrameReader.headerOctets) else { return [] }
        FrameReader.setHeader(of: &frame)
        return frame
    }
}

// Functions of these types, and not of all messages: so the compiler makes one encoder and one decoder for each. What may
// come thousands of times a second does not go through their enumerations.

extension FromClient {
    /// The message as a frame for the socket; empty if the schema does not have it.
    public func framed() -> [UInt8] {
        if case .request(let request) = self,
            case .host(.link(let link, .gatt(.writeCommand(let handle, let value)))) = request.command
        {
            return WriteCommandMessage(request.operation, link, handle, value: value).framed()
        }
        return frame()
    }

    /// - Throws: `MessageError.malformed` or `invalidField`.
    public init(octets: ArraySlice<UInt8>) throws(MessageError) {
        if let it = WriteCommandMessage(message: octets) {
            let command = HostCommand.link(it.link, .gatt(.writeCommand(it.handle, value: it.value)))
            self = .request(ToolRequest(it.operation, .host(command)))
        } else {
            do throws(MessageError) {
                self = try Self.read(octets)
            } catch .invalidField where ContentKind.isOperatorRequest(octets) {
                self = .operatorRequest(.unknown)
            } catch {
                throw error
            }
        }
    }

    /// Finds out what a message is whose content has a value that its field cannot have.
    private struct ContentKind: Message {
        var isOperatorRequest = false

        static var blank: Self { Self() }
        static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            // What the field contains is skipped, like every field that a description lacks.
            it.isOperatorRequest = try c.hasField(8, "operator_request", .optional, isSet: false)
        }

        static func isOperatorRequest(_ octets: ArraySlice<UInt8>) -> Bool {
            (try? read(octets))?.isOperatorRequest ?? false
        }
    }
}

extension FromDaemon {
    /// The message as a frame for the socket; empty if the schema does not have it.
    public func framed() -> [UInt8] {
        var frame: [UInt8] = []
        append(to: &frame)
        return frame
    }

    /// Appends the message as a frame for the socket; nothing if the schema does not have it.
    public func append(to frames: inout [UInt8]) {
        switch self {
        case .event(.gatt(let link, .notification(let notification))):
            NotificationMessage(link, notification).appendFrame(to: &frames)
        case .appEvent(let event):
            if let value = AppValueMessage(event) { value.appendFrame(to: &frames) } else { frames += frame() }
        default: frames += frame()
        }
    }

    /// - Throws: `MessageError.malformed` or `invalidField`.
    public init(octets: ArraySlice<UInt8>) throws(MessageError) {
        if let it = NotificationMessage(message: octets) {
            self = .event(.gatt(it.link, .notification(GATTNotification(it, for: .local))))
        } else if let it = AppValueMessage(message: octets) {
            self = .appEvent(it.event)
        } else {
            self = try Self.read(octets)
        }
    }
}
