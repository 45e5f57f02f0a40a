import BLEPackets
import BLEStateFiles
import FoundationEssentials
import Glibc
import Synchronization

/// Which folder has the state of which adapter: bonds, and what apps wait for, belong to one adapter, whatever its
/// index is and however it is named.
///
/// The first adapter that a state folder is used for keeps its state in the folder itself, every other one in
/// `adapters/NAME`. So the daemon of one adapter can become that of several, and finds its state again.
public final class AdapterFolders: Sendable {
    /// The names of adapters are addresses, or transports if there is none.
    private struct Record: Codable, Equatable, Sendable {
        /// The adapter whose state is in the folder itself.
        var first: String?
        /// The adapter that each transport named last.
        var latest: [String: String] = [:]
    }

    private let path: String
    private let log: @Sendable (String) -> Void
    private let state: Mutex<Record>
    /// The transports of adapters that have a folder, by their names.
    private let given = Mutex<[String: String]>([:])

    /// - Parameters:
    ///   - path: the folder of all state; it need not be there.
    ///   - log: gets lines for people.
    /// - Throws: `Unreadable`: without the record, one adapter would get the bonds of another.
    public init(path: String, log: @escaping @Sendable (String) -> Void) throws(Unreadable) {
        self.path = path
        self.log = log
        var record = try Self.read(path)
        // No adapter came: any may be the first.
        if record.first == Self.anyAdapter { record.first = nil }
        state = Mutex(record)
    }

    private static func read(_ path: String) throws(Unreadable) -> Record {
        guard exists(path) else { return Record() }
        let octets: [UInt8]?
        do throws(StateFileError) {
            octets = try SafeFolder(path: path, isMade: false).read(file, limit: 1 << 16)
        } catch {
            throw Unreadable(cause: "\(error)")
        }
        guard let octets else { return Record() }
        do { return try JSONDecoder().decode(Record.self, from: Data(octets)) } catch {
            throw Unreadable(cause: "‘\(path)/\(file)’ is damaged")
        }
    }

    /// The record of which folder is whose is there and cannot be used.
    public struct Unreadable: Error, CustomStringConvertible {
        /// What is wrong with which file.
        let cause: String

        /// The cause, and what to do.
        public var description: String {
            "\(cause): it says which adapter has which state; repair it, or remove it, and the first adapter that comes "
                + "gets the state in this folder"
        }
    }

    private static let file = "adapters.json"
    /// The transport of a daemon that takes the first adapter that comes.
    private static let anyAdapter = "all"

    /// The address of the first adapter, as far as it is known: the apps whose manifest names none are its.
    public var first: DeviceAddress? { state.withLock { $0.first.flatMap { DeviceAddress($0 + "/public") } } }

    /// The folder with an adapter's state.
    /// - Parameters:
    ///   - address: the adapter's address; `nil`: it has none, or is not there.
    ///   - transport: what the command line or the configuration calls it.
    ///   - present: the addresses of the adapters that are there.
    ///   - isOnly: whether the daemon has this adapter alone: it may then take the place of another one.
    public func folder(of address: String?, transport: String, present: Set<String>, isOnly: Bool) -> String {
        change { record in
            let latest = record.latest[transport].flatMap { present.contains($0) ? nil : $0 }
            let name = name(of: address ?? latest, transport)
            let own = path + "/adapters/" + Self.fileName(name)
            // Earlier versions named the folders of several adapters by their transports.
            let former = path + "/adapters/" + Self.fileName(transport)
            if !isOnly, former != own, !Self.exists(own), Self.exists(former), !rename(former, own) { return former }
            let hasOwn = Self.exists(own)
            // It has not been there before.
            if record.first == transport, !hasOwn { record.first = name }
            if record.first == nil || isOnly && !hasOwn { record.first = name }
            if name == address { record.latest[transport] = name }
            return record.first == name && !hasOwn ? path : own
        }
    }

    /// Some adapters have one address, the maker's: the second one is named by its transport.
    private func name(of address: String?, _ transport: String) -> String {
        guard let address else { return transport }
        return given.withLock { given in
            let owner = given[address] ?? transport
            given[address] = owner
            if owner != transport {
                log("\(transport) has the address of \(owner), \(address): its state is kept under ‘\(transport)’")
            }
            return owner == transport ? address : transport
        }
    }

    /// Others may not have put anything into the folder.
    private func rename(_ former: String, _ own: String) -> Bool {
        do throws(StateFileError) { _ = try SafeFolder(path: path, isMade: false) } catch { return false }
        return unsafe Glibc.rename(former, own) == 0
    }

    /// A daemon of an adapter could not begin: its folder is free.
    public func release(_ transport: String) {
        given.withLock { given in given = given.filter { $0.value != transport } }
    }

    /// An adapter that was not there when its folder was asked for has come.
    public func appeared(_ address: String, as transport: String) {
        change { record in
            if record.first == transport { record.first = address }
            record.latest[transport] = address
        }
    }

    private func change<Result>(_ body: (inout Record) -> Result) -> Result {
        state.withLock { record in
            let before = record
            let result = body(&record)
            if record != before { save(record) }
            return result
        }
    }

    private func save(_ record: Record) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        guard let octets = try? encoder.encode(record) else { return }
        do throws(StateFileError) {
            try SafeFolder(path: path, isMade: true).replace(Self.file, with: [UInt8](octets))
        } catch {
            log("which adapter was the first cannot be saved: \(error)")
        }
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private static func fileName(_ name: String) -> String {
        // Names that begin with a dot may be those of other folders.
        let plain = name.map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." ? $0 : "_" }
        return (plain.first == "." ? "_" : "") + String(plain)
    }
}
