import BLEStateFiles
import Foundation
import GRDB

/// A damaged file of the queue: it is put aside, and the messages that can still be read are taken over, in order and
/// with their positions.
struct QueueRescue {
    /// Where the file is now.
    let file: String
    /// How many messages were taken over.
    private(set) var count = 0
    /// Whether, as far as is known, all of the file could be read.
    private(set) var isWhole: Bool

    /// Positions beyond this one are those of a damaged file.
    static let lastPosition = Int64.max / 2
    /// How many of these files are kept.
    private static let keptFiles = 3

    /// Moves the file aside.
    /// - Parameter isWhole: `false`: some of its messages are known to be lost.
    init(path: String, isWhole: Bool) throws {
        self.isWhole = isWhole
        // Without a date if the clock is wrong enough. After those that are there, also if it was set back: the first of
        // them are removed.
        let date = Int64(exactly: Date().timeIntervalSince1970.rounded()) ?? 0
        let file = "\(path).broken-\(max(date, (Self.dates(of: path).last ?? 0) + 1))"
        self.file = file
        try FileManager.default.moveItem(atPath: path, toPath: file)
        try? FileManager.default.removeItem(atPath: path + "-shm")
        // Messages that were written last are in the log only.
        try? FileManager.default.moveItem(atPath: path + "-wal", toPath: file + "-wal")
        Self.removeOldest(of: path)
    }

    /// The dates in the names of the files that were moved aside, in order.
    private static func dates(of path: String) -> [Int64] {
        let (folder, name) = OutputPlace.parts(path)
        let prefix = name + ".broken-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let dates = names.compactMap { $0.hasPrefix(prefix) ? Int64($0.dropFirst(prefix.count)) : nil }
        return dates.filter { (0..<lastPosition).contains($0) }.sorted()
    }

    private static func removeOldest(of path: String) {
        for date in dates(of: path).dropLast(keptFiles) {
            for ending in ["", "-wal"] {
                try? FileManager.default.removeItem(atPath: "\(path).broken-\(date)\(ending)")
            }
        }
    }

    /// Messages of the old file that are written to the new one in one transaction.
    private static let stepCount = 512

    /// - Parameters:
    ///   - known: messages that have been read from the file already, whatever is wrong with it now.
    ///   - end: new messages have positions after this one.
    mutating func copy(into new: DatabaseQueue, known: [QueuedMessage], end: Int64) {
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            let old = try DatabaseQueue(path: file, configuration: configuration)
            try old.read { database in
                // Otherwise topics would be others.
                guard try String.fetchOne(database, sql: "PRAGMA encoding") == "UTF-8" else { throw UnreadableRow() }
                // From both ends to the first page that cannot be read.
                let last = try copy(from: database, into: new, isForward: true, until: 0)
                if !isWhole { _ = try copy(from: database, into: new, isForward: false, until: last) }
            }
        } catch {
            isWhole = false
        }
        do {
            try insert(known.filter { $0.id != nil }, new)
            try new.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO sqlite_sequence (name, seq) SELECT 'message', 0
                            WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'message');
                        """)
                try database.execute(
                    sql: "UPDATE sqlite_sequence SET seq = MAX(seq, ?) WHERE name = 'message'", arguments: [end])
            }
        } catch {
            isWhole = false
        }
    }

    /// - Returns: the last position that was read.
    /// - Throws: an error of the new file.
    private mutating func copy(
        from old: Database, into new: DatabaseQueue, isForward: Bool, until end: Int64
    ) throws -> Int64 {
        var last: Int64 = isForward ? 0 : .max
        var waiting: [QueuedMessage] = []
        do {
            let rows = try Row.fetchCursor(
                old,
                sql: """
                    SELECT \(QueuedMessage.columns) FROM message NOT INDEXED ORDER BY id \(isForward ? "ASC" : "DESC")
                    """)
            while let row = try rows.next() {
                guard let message = try? QueuedMessage(row: row), let id = message.id, id <= Self.lastPosition else {
                    isWhole = false
                    continue
                }
                guard isForward ? id > last : id < last && id > end else { throw UnreadableRow() }
                last = id
                waiting.append(message)
                if waiting.count == Self.stepCount {
                    try insert(waiting, new)
                    waiting = []
                }
            }
        } catch {
            isWhole = false
        }
        try insert(waiting, new)
        return last
    }

    private mutating func insert(_ messages: [QueuedMessage], _ new: DatabaseQueue) throws {
        count += try new.write { database in
            var number = 0
            let statement = try database.cachedStatement(
                sql: "INSERT OR IGNORE INTO message (id, topic, payload, qos, retain) VALUES (?, ?, ?, ?, ?)")
            for message in messages {
                try statement.execute(arguments: [
                    message.id, message.topic, Data(message.payload), message.qualityOfService, message.isRetained,
                ])
                number += database.changesCount
            }
            return number
        }
    }

    /// What became of the file, for the log.
    var text: String {
        "the queue was damaged and is now \(file); \(count) messages in it could be read and are still sent"
            + (isWhole ? "" : ", others may be lost")
    }
}
