import BLE
import BLEScripts
import BLESecurity
import BLEStateFiles
import BLEText
import Glibc

/// The counters of encrypted beacons: with a counter that was used before, a key protects neither of the two packets.
///
/// The state folder has the last counter of each key, which is written to the disk before it is used, under a lock that all
/// processes respect. Should the folder be lost, the clock helps: a counter is never less than the seconds since 1970.
struct BeaconCounters {
    private static let file = "beacon-counters"
    private static let lock = "beacon-counters.lock"
    private static let limit = 1 << 16
    /// How often the lock is tried, with a pause of 20 ms.
    private static let attempts = 250

    let state: StateDirectory

    /// A counter that the key has not had.
    /// - Throws: `Failure` when it cannot be kept, or none is left.
    func next(for key: [UInt8]) async throws -> UInt32 {
        do {
            let folder = try SafeFolder(path: state.path, isMade: true)
            let lock = try folder.openOrMake(Self.lock, .locking)
            defer { close(lock) }
            var attempt = 0
            while flock(lock, LOCK_EX | LOCK_NB) != 0 {
                attempt += 1
                guard attempt < Self.attempts else {
                    throw Failure(
                        "another program keeps ‘\(folder.place(Self.lock))’ locked; end it, and try again",
                        code: .stateUnusable)
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            return try next(for: Self.name(of: key), in: folder)
        } catch let error as StateFileError {
            throw Failure("the counter of the key cannot be kept: \(error.description)", code: .stateUnusable)
        }
    }

    private func next(for name: String, in folder: borrowing SafeFolder) throws -> UInt32 {
        var counters: [String: UInt32] = [:]
        let octets = try folder.read(Self.file, limit: Self.limit) ?? []
        for line in String(decoding: octets, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let counter = UInt32(words[1]) else {
                throw Failure(
                    "‘\(folder.place(Self.file))’ is damaged, so that a counter might be used twice; remove the file, and give "
                        + "your devices and their receivers new keys", code: .stateUnusable)
            }
            counters[String(words[0])] = counter
        }
        let last = counters[name]
        guard last != .max else {
            throw Failure("this key has no counter left; use a new one", code: .stateUnusable)
        }
        let next = max(last.map { $0 + 1 } ?? 0, UInt32(clamping: time(nil)))
        counters[name] = next
        let lines = counters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
        try folder.replace(Self.file, with: Array(lines.joined().utf8), isAlone: true)
        return next
    }

    /// By which the file knows a key, and from which nobody learns the key.
    private static func name(of key: [UInt8]) throws -> String {
        guard let octets = blockCipher(key, Array("beacon counter  ".utf8)) else {
            throw Failure("the key cannot be used")
        }
        return Hexadecimal.text(Array(octets.prefix(8)))
    }

    /// One block of AES-128.
    @Sendable static func blockCipher(_ key: [UInt8], _ block: [UInt8]) -> [UInt8]? {
        guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
            return nil
        }
        return octets
    }
}
