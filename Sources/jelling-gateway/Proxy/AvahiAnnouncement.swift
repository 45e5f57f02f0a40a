import BLEESPHome
import CSystemd

/// Why Avahi announces nothing.
struct AvahiProblem: Error {
    let text: String
}

/// One announcement: an entry group of Avahi's, and the connection to the bus with which it ends.
@safe struct AvahiAnnouncement: ~Copyable {
    private let bus: OpaquePointer
    private let group: String

    private static let service = "org.freedesktop.Avahi"
    private static let groupInterface = "org.freedesktop.Avahi.EntryGroup"
    /// In microseconds.
    private static let callTime: UInt64 = 5_000_000
    /// `AVAHI_ENTRY_GROUP_COLLISION`.
    private static let collision: Int32 = 3

    init(_ record: ServiceRecord, name: String) throws(AvahiProblem) {
        var opened: OpaquePointer?
        // As of other programs of the system, `DBUS_SYSTEM_BUS_ADDRESS` names another bus.
        let result = unsafe sd_bus_open_system(&opened)
        guard result >= 0, let bus = unsafe opened else {
            throw AvahiProblem(text: "no system bus: \(systemText(-result))")
        }
        do throws(AvahiProblem) {
            let group = try unsafe Self.announce(record, name, bus)
            unsafe self.bus = bus
            self.group = group
        } catch {
            unsafe sd_bus_flush_close_unref(bus)
            throw error
        }
    }

    deinit { unsafe sd_bus_flush_close_unref(bus) }

    /// - Returns: the path of the entry group.
    private static func announce(
        _ record: ServiceRecord, _ name: String, _ bus: OpaquePointer
    ) throws(AvahiProblem) -> String {
        let reply = try unsafe call(bus, "/", "org.freedesktop.Avahi.Server", "EntryGroupNew") { _ in 0 }
        defer { unsafe sd_bus_message_unref(reply) }
        var path: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "o")), &path) > 0, let path = unsafe path
        else { throw AvahiProblem(text: "an answer without a path") }
        let group = unsafe String(cString: path)
        let added = try unsafe call(bus, group, groupInterface, "AddService") { message in
            unsafe append(record, name, to: message)
        }
        unsafe sd_bus_message_unref(added)
        unsafe sd_bus_message_unref(try call(bus, group, groupInterface, "Commit") { _ in 0 })
        return group
    }

    /// Whether the daemon announces it; otherwise the name is taken.
    /// - Throws: if the daemon is gone, or does not answer.
    var isHeld: Bool {
        get throws(AvahiProblem) {
            let reply = try unsafe Self.call(bus, group, Self.groupInterface, "GetState") { _ in 0 }
            defer { unsafe sd_bus_message_unref(reply) }
            var state: Int32 = 0
            guard unsafe sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "i")), &state) > 0 else {
                throw AvahiProblem(text: "an answer without a state")
            }
            return state < Self.collision
        }
    }

    private static func call(
        _ bus: OpaquePointer, _ path: String, _ interface: String, _ member: String,
        _ append: (OpaquePointer) -> Int32
    ) throws(AvahiProblem) -> OpaquePointer {
        var created: OpaquePointer?
        var result = unsafe sd_bus_message_new_method_call(bus, &created, service, path, interface, member)
        guard result >= 0, let message = unsafe created else { throw AvahiProblem(text: systemText(-result)) }
        defer { unsafe sd_bus_message_unref(message) }
        result = unsafe append(message)
        guard result >= 0 else { throw AvahiProblem(text: "\(member): \(systemText(-result))") }
        var error = unsafe sd_bus_error()
        var reply: OpaquePointer?
        result = unsafe sd_bus_call(bus, message, callTime, &error, &reply)
        defer { unsafe sd_bus_error_free(&error) }
        guard result >= 0, let reply = unsafe reply else {
            let text = unsafe error.message.map { unsafe String(cString: $0) } ?? systemText(-result)
            throw AvahiProblem(text: "\(member): \(text)")
        }
        return unsafe reply
    }

    /// Appends interface, protocol, flags, name, type, domain, host, port and texts: `iiussssqaay`.
    private static func append(_ record: ServiceRecord, _ name: String, to message: OpaquePointer) -> Int32 {
        func type(_ letter: Character) -> CChar { CChar(letter.asciiValue ?? 0) }
        // −1: all interfaces, and both versions of IP.
        var (everywhere, flags, port): (Int32, UInt32, UInt16) = (-1, 0, record.port)
        var results = [
            unsafe sd_bus_message_append_basic(message, type("i"), &everywhere),
            unsafe sd_bus_message_append_basic(message, type("i"), &everywhere),
            unsafe sd_bus_message_append_basic(message, type("u"), &flags),
        ]
        for text in [name, ServiceRecord.type, "", ""] {
            results.append(
                unsafe text.withCString { unsafe sd_bus_message_append_basic(message, type("s"), UnsafeRawPointer($0)) }
            )
        }
        results.append(unsafe sd_bus_message_append_basic(message, type("q"), &port))
        results.append(unsafe sd_bus_message_open_container(message, type("a"), "ay"))
        for text in record.texts {
            let octets = Array(text.utf8)
            results.append(unsafe sd_bus_message_append_array(message, type("y"), octets, octets.count))
        }
        results.append(unsafe sd_bus_message_close_container(message))
        return results.min() ?? 0
    }
}
