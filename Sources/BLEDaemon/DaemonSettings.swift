import BLEAppLifecycle
import FoundationEssentials
import Glibc

/// The configuration file of `bled`: which adapters it takes, who may connect, the limits of clients, and its log.
public struct DaemonSettings: Equatable, Sendable {
    /// The form of the log.
    public enum LogFormat: String, Sendable { case text, json }
    /// How important a line of the log is, as in swift-log.
    public enum LogLevel: String, CaseIterable, Comparable, Sendable {
        case trace, debug, info, notice, warning, error, critical

        public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        /// The levels, for people.
        public static let names = allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// As values of `--adapter`; empty: the first adapter.
    public private(set) var adapters: [String] = []
    /// The numeric IDs of users who may connect with any program.
    public private(set) var users: Set<UInt32> = []
    /// The numeric ID of the group of operators.
    public private(set) var operatorGroup: UInt32?
    /// The limits of each client.
    public private(set) var limits = ClientLimits()
    /// Whether centrals may open enhanced attribute bearers.
    public private(set) var enhancedBearers = false
    /// Whether the Generic Access service has Central Address Resolution.
    public private(set) var addressResolution = false
    /// Whether apps send the overflow area, and the company identifier of all of them.
    public private(set) var overflow = OverflowSetting.on
    /// The program with its arguments that resets an adapter, whose name is added; empty: none.
    public private(set) var recoveryCommand: [String] = []
    /// Whether the device of an adapter may not be suspended while it is in use.
    public private(set) var keepsAwake = false
    /// Whether an adapter is switched on that a reset has left switched off.
    public private(set) var unblocksAfterReset = false
    public private(set) var logFormat = LogFormat.text
    public private(set) var logLevel = LogLevel.info

    /// The settings without a file.
    public init() {}

    /// The keys of the file that have changed since the start, and that hold from the next start on.
    public func keysForRestart(since started: DaemonSettings) -> [String] {
        [
            adapters == started.adapters ? nil : "adapters",
            enhancedBearers == started.enhancedBearers ? nil : "enhancedBearers",
            addressResolution == started.addressResolution ? nil : "addressResolution",
            recoveryCommand == started.recoveryCommand ? nil : "recoveryCommand",
            keepsAwake == started.keepsAwake ? nil : "keepsAwake",
            unblocksAfterReset == started.unblocksAfterReset ? nil : "unblocksAfterReset",
        ].compactMap { $0 }
    }

    /// - Throws: an error that names the file, the line or the key, and what is right.
    public init(path: String) throws {
        do {
            try self.init(file: SettingsFile.read(path))
        } catch {
            throw SettingsFile.Problem(description: "‘\(path)’: \(error)")
        }
    }

    /// - Throws: `SettingsFile.Problem`.
    init(file data: Data) throws {
        let file = try SettingsFile.decode(
            File.self, from: data,
            keys: [
                "adapters", "users", "operators", "limits", "log", "enhancedBearers", "addressResolution", "overflow",
                "recoveryCommand", "keepsAwake", "unblocksAfterReset",
            ],
            within: ["limits": Self.ranges.map(\.key), "log": ["format", "level"]])
        adapters = file.adapters ?? []
        if adapters.contains("all"), adapters.count > 1 {
            throw SettingsFile.Problem(description: "‘adapters’: ‘all’ takes every adapter; name no other")
        }
        users = Set(try (file.users ?? []).map { try $0.user })
        operatorGroup = try file.operators?.group
        enhancedBearers = file.enhancedBearers ?? false
        addressResolution = file.addressResolution ?? false
        overflow = try SettingsFile.overflow(file.overflow)
        recoveryCommand = try file.recoveryCommand.map { try Self.command($0) } ?? []
        keepsAwake = file.keepsAwake ?? false
        unblocksAfterReset = file.unblocksAfterReset ?? false
        try limit(file.limits ?? [:])
        if let name = file.log?.format {
            guard let format = LogFormat(rawValue: name) else {
                throw SettingsFile.Problem(description: "‘log.format’ is ‘text’ or ‘json’, not ‘\(name)’")
            }
            logFormat = format
        }
        if let name = file.log?.level {
            guard let level = LogLevel(rawValue: name) else {
                throw SettingsFile.Problem(description: "‘log.level’ is one of \(LogLevel.names), not ‘\(name)’")
            }
            logLevel = level
        }
    }

    /// A program runs as the daemon's user, so that nothing is left to a search path or a shell.
    private static func command(_ words: [String]) throws -> [String] {
        guard let name = words.first else {
            throw SettingsFile.Problem(
                description: "‘recoveryCommand’ names no program: give its path and its arguments, or leave the key out"
            )
        }
        guard name.hasPrefix("/"), !words.contains(where: { $0.utf8.contains(0) }) else {
            throw SettingsFile.Problem(
                description: "‘recoveryCommand’ is the path of a program, from ‘/’ on, and its arguments; not ‘\(name)’"
            )
        }
        var information = stat()
        guard unsafe stat(name, &information) == 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw SettingsFile.Problem(
                description: "‘recoveryCommand’: ‘\(name)’ cannot be used (\(reason)): install the program, or correct "
                    + "the path")
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw SettingsFile.Problem(description: "‘recoveryCommand’: ‘\(name)’ is no program; correct the path")
        }
        return words
    }

    /// What will not work, though it may be mended without a restart.
    public var warnings: [String] {
        guard let name = recoveryCommand.first, unsafe access(name, X_OK) != 0 else { return [] }
        return [
            "‘recoveryCommand’: ‘\(name)’ is not executable by this user; make it so with ‘chmod +x’, before it is needed"
        ]
    }

    /// Adds what the command line says.
    public mutating func add(users more: [UInt32], operatorGroup group: UInt32?, logLevel level: LogLevel? = nil) {
        if let level { logLevel = level }
        users.formUnion(more)
        if let group { operatorGroup = group }
    }

    private struct File: Decodable {
        var adapters: [String]?
        var users: [Name]?
        var operators: Name?
        var limits: [String: Int]?
        var log: Log?
        var enhancedBearers: Bool?
        var addressResolution: Bool?
        var overflow: String?
        var recoveryCommand: [String]?
        var keepsAwake: Bool?
        var unblocksAfterReset: Bool?

        struct Log: Decodable {
            var format: String?
            var level: String?
        }
    }

    // MARK: Limits

    private struct Limit: Sendable {
        let key: String
        let range: ClosedRange<Int>
        let set: @Sendable (inout ClientLimits, Int) -> Void
    }

    /// The keys of `limits` and their values.
    private static let ranges: [Limit] = [
        Limit(key: "clients", range: 1...10_000) { $0.clients = $1 },
        Limit(key: "clientsOfUser", range: 1...10_000) { $0.clientsOfUser = $1 },
        Limit(key: "appsOfUser", range: 1...10_000) { $0.appsOfUser = $1 },
        Limit(key: "messageOctets", range: 4096...1_048_576) { $0.messageOctets = $1 },
        // Beyond 1 MiB a stream ends without a word; a message and the refusal come on top.
        Limit(key: "waitingOctets", range: 65_536...786_432) {
            $0.waitingOctets = $1
            $0.waitingDiscoveryOctets = $1 / 4
        },
        // A message must fit.
        Limit(key: "requestOctets", range: 1_048_576...1_073_741_824) { $0.requestOctets = $1 },
        Limit(key: "requests", range: 1...10_000) { $0.requests = $1 },
        Limit(key: "managers", range: 1...1000) { $0.managers = $1 },
        Limit(key: "scans", range: 1...64) { $0.scans = $1 },
        Limit(key: "advertisements", range: 1...64) { $0.advertisements = $1 },
        Limit(key: "services", range: 1...1000) { $0.services = $1 },
        Limit(key: "attributes", range: 1...60_000) { $0.attributes = $1 },
        Limit(key: "channels", range: 1...64) { $0.channels = $1 },
        Limit(key: "sets", range: 1...64) { $0.sets = $1 },
        Limit(key: "trains", range: 1...64) { $0.trains = $1 },
        Limit(key: "wakeSeconds", range: 1...3600) { $0.wakeSeconds = $1 },
        Limit(key: "idleSeconds", range: 0...3600) { $0.idleSeconds = $1 },
        Limit(key: "queuedOctets", range: 65_536...1_073_741_824) { $0.queuedOctets = $1 },
        Limit(key: "queuedOctetsOfUser", range: 65_536...1_073_741_824) { $0.queuedOctetsOfUser = $1 },
    ]

    private mutating func limit(_ values: [String: Int]) throws {
        for limit in Self.ranges {
            guard let value = values[limit.key] else { continue }
            guard limit.range.contains(value) else {
                throw SettingsFile.Problem(
                    description: "‘limits.\(limit.key)’ is \(limit.range.lowerBound) to \(limit.range.upperBound), "
                        + "not \(value)")
            }
            limit.set(&limits, value)
        }
    }

    // MARK: Names

    /// A user or a group, by name or number.
    private enum Name: Decodable {
        case number(UInt32)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(UInt32.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        var user: UInt32 {
            get throws {
                switch self {
                case .number(let number): return number
                case .text(let name):
                    guard let user = Accounts.user(name) else {
                        throw SettingsFile.Problem(description: "‘users’: there is no user ‘\(name)’")
                    }
                    return user.id
                }
            }
        }

        var group: UInt32 {
            get throws {
                switch self {
                case .number(let number): return number
                case .text(let name):
                    guard let group = Accounts.group(name) else {
                        throw SettingsFile.Problem(description: "‘operators’: there is no group ‘\(name)’")
                    }
                    return group
                }
            }
        }
    }
}
