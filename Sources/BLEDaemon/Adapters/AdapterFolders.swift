import BLEPackets
import BLEStateFiles
import BLETransport
import FoundationEssentials
import Glibc
import Synchronization

/// Which folder has the state of which adapter: bonds, and what apps wait for, belong to one adapter, whatever its
/// index is and however it is named.
///
/// The first adapter that a state folder is used for keeps its state in the folder itself, every other one in
/// `adapters/NAME`. So the daemon of one adapter can become that of several, and finds its state again. If the only
/// adapter of a daemon has no state of its own, and the first one is not there, it takes that one's place as soon as it
/// works: so a stick that replaces another one takes over its bonds, and one that is not there takes over nothing.
public final class AdapterFolders: Sendable {
    /// The names of adapters are the texts of their keys, or transports if there is none.
    private struct Record: Codable, Equatable, Sendable {
        /// The adapter whose state is in the folder itself.
        var first: String?
        /// The adapter that each transport named last.
        var latest: [String: String] = [:]
        /// Where each address was last: a second adapter with it is another one.
        var places: [String: String]?
    }

    private let path: String
    private let log: @Sendable (String) -> Void
    private let state: Mutex<Record>
    /// The transports of adapters that have a folder, by their names.
    private let given = Mutex<[String: String]>([:])
    /// Who takes the place of the first adapter as soon as it works.
    private let heir = Mutex<Heir?>(nil)

    private struct Heir: Sendable {
        var name: String
        let transport: String
        let first: String
    }

    /// - Parameters:
    ///   - path: the folder of all state; it need not be there.
    ///   - log: gets lines for the log.
    /// - Throws: `Unreadable`: the record is there, and this user cannot or must not read it.
    public init(path: String, log: @escaping @Sendable (String) -> Void) throws(Unreadable) {
        self.path = path
        self.log = log
        var record = try Self.read(path, log)
        // No adapter came: any may be the first.
        if record.first == Self.anyAdapter { record.first = nil }
        state = Mutex(record)
    }

    private static func read(_ path: String, _ log: (String) -> Void) throws(Unreadable) -> Record {
        guard exists(path) else { return Record() }
        do throws(StateFileError) {
            let folder = try SafeFolder(path: path, isMade: false)
            guard let octets = try folder.read(file, limit: 1 << 16) else { return Record() }
            if let record = try? JSONDecoder().decode(Record.self, from: Data(octets)) { return record }
            try folder.replace(file + ".damaged", with: octets)
            return replacement(path, log)
        } catch {
            throw Unreadable(cause: "\(error)")
        }
    }

    /// What takes the place of a damaged record. If more than one adapter has had state here, nobody knows whose is in
    /// the folder itself, and no adapter may get the bonds of another.
    private static func replacement(_ path: String, _ log: (String) -> Void) -> Record {
        let damage = "‘\(path)/\(file)’ was damaged and is kept as ‘\(file).damaged’"
        guard exists(path + "/adapters") else {
            log("\(damage): only one adapter has had its state here, which the first adapter gets")
            return Record()
        }
        log(
            "\(damage): adapters with a folder of their own have their state; the state in ‘\(path)’ itself is left "
                + "alone until somebody writes the address of its adapter as ‘first’ into ‘\(file)’ and restarts bled")
        return Record(first: unknown)
    }

    /// The record of which folder is whose is there and cannot be used.
    public struct Unreadable: Error, CustomStringConvertible {
        /// What is wrong with which file.
        let cause: String

        /// The cause, and what to do.
        public var description: String {
            "\(cause): it says which adapter has which state; make it readable, or remove it, and the first adapter that "
                + "comes gets the state in this folder"
        }
    }

    private static let file = "adapters.json"
    /// The transport of a daemon that takes the first adapter that comes.
    private static let anyAdapter = "all"
    /// In place of the first adapter: it is one that nobody knows.
    private static let unknown = "?"

    /// The key of the first adapter, as far as it is known: the apps whose manifest names none are its.
    public var first: AdapterKey? { state.withLock { $0.first.flatMap { AdapterKey($0) } } }

    /// Where the adapters with an address were last, see `PresentAdapters`.
    public var owners: [DeviceAddress: String] {
        let places = state.withLock { $0.places ?? [:] }
        var owners: [DeviceAddress: String] = [:]
        for (name, place) in places { if case .address(let address)? = AdapterKey(name) { owners[address] = place } }
        return owners
    }

    /// An adapter with a unique address is there.
    public func note(_ address: DeviceAddress, at place: String) {
        change { record in
            var places = record.places ?? [:]
            // Nobody has used so many.
            guard places[address.addressText] != nil || places.count < Self.mostPlaces else { return }
            places[address.addressText] = place
            record.places = places
        }
    }

    private static let mostPlaces = 64

    /// Whether an adapter of this name has had state here.
    public func knows(_ name: String) -> Bool {
        state.withLock { $0.first == name || $0.latest.values.contains(name) }
            || Self.exists(path + "/adapters/" + Self.fileName(name))
    }

    /// Where an adapter has its state.
    public struct Place: Equatable, Sendable {
        /// The folder.
        public let folder: String
        /// If the adapter is not there yet: its key; no other may take its place.
        public let awaited: AdapterKey?
    }

    /// Where an adapter has its state.
    /// - Parameters:
    ///   - address: the adapter's key; `nil`: it has none, or is not there.
    ///   - transport: what the command line or the configuration calls it.
    ///   - present: the keys of the adapters that are there.
    ///   - isOnly: whether the daemon has this adapter alone: it may then take the place of another one.
    public func place(of address: String?, transport: String, present: Set<String>, isOnly: Bool) -> Place {
        change { record in
            let absent = address == nil ? Self.absent(transport, present, isOnly: isOnly, record) : nil
            let name = name(of: address ?? absent, transport)
            let awaited = name == absent ? AdapterKey(name) : nil
            let own = path + "/adapters/" + Self.fileName(name)
            // What was begun before its address was known. Earlier versions knew none.
            let former = path + "/adapters/" + Self.fileName(transport)
            if record.first != name, former != own, !Self.exists(own), Self.exists(former), !rename(former, own) {
                return Place(folder: former, awaited: awaited)
            }
            let hasOwn = Self.exists(own)
            // It has not been there before.
            if record.first == transport, !hasOwn { record.first = name }
            let first = record.first ?? name
            record.first = first
            if name == address { record.latest[transport] = name }
            if isOnly, !hasOwn, first != name, first != Self.unknown, !present.contains(first) {
                // A name may be mistyped, and its adapter never come: that of the others stays theirs until it works.
                heir.withLock { $0 = Heir(name: name, transport: transport, first: first) }
                return Place(folder: path, awaited: awaited)
            }
            return Place(folder: record.first == name && !hasOwn ? path : own, awaited: awaited)
        }
    }

    /// The adapter of a transport works: if it has the state of one that is not there, it has it for good.
    public func isReady(_ transport: String) {
        let ready: Heir? = heir.withLock { heir in heir?.transport == transport ? heir.take() : nil }
        guard let ready else { return }
        change { record in
            guard record.first == ready.first else { return }
            logReplacement(of: ready.first, by: ready.name)
            record.first = ready.name
        }
    }

    private func logReplacement(of old: String, by new: String) {
        log(
            "\(new) takes the place of \(old), which is not there: its bonds, and what apps wait for, are those of "
                + "\(new) from now on")
    }

    /// The adapter that is meant by a transport which has none now: the one that it named last, if that is nowhere
    /// else. If it has named none, the only adapter of a daemon is the one whose state is in the folder.
    private static func absent(
        _ transport: String, _ present: Set<String>, isOnly: Bool, _ record: Record
    ) -> String? {
        var known = record.latest[transport]
        // Other transports than the kernel's adapters never get an address.
        if known == nil, isOnly, case .userChannel? = try? TransportAddress(transport) {
            known = record.first.flatMap { AdapterKey($0) == nil ? nil : $0 }
        }
        return known.flatMap { present.contains($0) ? nil : $0 }
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
            heir.withLock { if $0?.transport == transport, $0?.name == transport { $0?.name = address } }
            record.latest[transport] = address
        }
    }

    /// While the daemon of one adapter runs, another adapter is plugged in in its place.
    /// - Returns: whether it takes over the state of the old one: not if it has state itself, or if the old one is not
    ///   the adapter whose state is in the folder itself. A restart then finds the right state.
    public func replace(_ old: String, by new: String, as transport: String) -> Bool {
        change { record in
            let hasOwn = [old, new].contains { Self.exists(path + "/adapters/" + Self.fileName($0)) }
            let isHeir = heir.withLock { heir in
                guard !hasOwn, heir?.transport == transport, heir?.name == old else { return false }
                heir?.name = new
                return true
            }
            guard isHeir || (record.first == old && !hasOwn) else {
                log("\(new) does not take the place of \(old), because it has its own state: restart bled to use it")
                return false
            }
            if !isHeir {
                logReplacement(of: old, by: new)
                record.first = new
            }
            record.latest[transport] = new
            given.withLock { given in
                given[old] = nil
                given[new] = transport
            }
            return true
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
