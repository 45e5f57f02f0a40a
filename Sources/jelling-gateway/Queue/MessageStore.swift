import BLEStateFiles
import Foundation
import GRDB

/// The queue on disk: messages that the broker has not acknowledged, in order.
///
/// It uses a write-ahead log (WAL) with `synchronous = NORMAL`: committed messages survive the end of the process,
/// however it ends; a power failure may lose the last transactions.
final class MessageStore {
    private let database: DatabaseQueue
    private let settings: QueueSettings
    private(set) var count: Int

    /// Where a file that was damaged, or no database, is now; `nil` if it was neither.
    private(set) var damagedFile: String?

    /// Opens the queue; a file that is not a database is moved aside.
    /// - Parameter isDamaged: whether an earlier operation found that the file is damaged: it is moved aside.
    /// - Throws: an error of SQLite.
    init(path: String, settings: QueueSettings, isDamaged: Bool) throws {
        self.settings = settings
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            // Only one gateway may use a queue; this mode also avoids shared memory for the log.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        if isDamaged { damagedFile = try Self.putAside(path) }
        do {
            (database, count) = try Self.open(path, configuration, settings)
        } catch let error where Self.isDamage(error) {
            damagedFile = try Self.putAside(path)
            (database, count) = try Self.open(path, configuration, settings)
        }
    }

    /// Whether an error means that the file has to be replaced.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode)
    }

    /// Whether the file has to be opened again after an error: afterwards it may be readable, or is replaced.
    static func needsOpening(_ error: any Error) -> Bool {
        isDamage(error) || (error as? DatabaseError)?.resultCode == .SQLITE_IOERR
    }

    private static func putAside(_ path: String) throws -> String {
        let aside = "\(path).broken-\(UInt64(Date().timeIntervalSince1970))"
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
        return aside
    }

    private static func open(
        _ path: String, _ configuration: Configuration, _ settings: QueueSettings
    ) throws -> (DatabaseQueue, Int) {
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS message (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL,
                        qos INTEGER NOT NULL, retain INTEGER NOT NULL, superseded INTEGER NOT NULL DEFAULT 0);
                    CREATE INDEX IF NOT EXISTS message_topic ON message (topic, id);
                    """)
            // Files of earlier versions have no marks.
            if try !database.columns(in: "message").contains(where: { $0.name == "superseded" }) {
                try database.execute(sql: "ALTER TABLE message ADD COLUMN superseded INTEGER NOT NULL DEFAULT 0")
            }
            guard settings.overflow == .superseded else { return }
            try database.execute(
                sql: """
                    CREATE INDEX IF NOT EXISTS message_superseded ON message (id) WHERE superseded = 1;
                    UPDATE message SET superseded = 1
                        WHERE superseded = 0 AND id NOT IN (SELECT MAX(id) FROM message GROUP BY topic);
                    """)
        }
        return (database, try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM message") ?? 0 })
    }

    /// The result of a commit.
    struct Outcome {
        /// The messages with their queue positions.
        var messages: [QueuedMessage]
        /// The number of messages that were removed because the queue was full.
        var dropped = 0
    }

    /// Adds and removes messages in one transaction.
    func commit(adding messages: [QueuedMessage], removing acknowledged: [Int64]) throws -> Outcome {
        var outcome = Outcome(messages: messages)
        var newCount = count
        try database.write { database in
            newCount = count
            let removal = try database.cachedStatement(sql: "DELETE FROM message WHERE id = ?")
            for id in acknowledged {
                try removal.execute(arguments: [id])
                newCount -= database.changesCount
            }
            // Marked when the newer one comes: a full queue finds what it drops without a search.
            let mark = try database.cachedStatement(
                sql: "UPDATE message SET superseded = 1 WHERE id = (SELECT MAX(id) FROM message WHERE topic = ?)")
            let insertion = try database.cachedStatement(
                sql: "INSERT INTO message (topic, payload, qos, retain) VALUES (?, ?, ?, ?)")
            for index in outcome.messages.indices {
                let message = outcome.messages[index]
                if settings.overflow == .superseded { try mark.execute(arguments: [message.topic]) }
                try insertion.execute(arguments: [
                    message.topic, Data(message.payload), message.qualityOfService, message.isRetained,
                ])
                outcome.messages[index].id = database.lastInsertedRowID
                newCount += 1
            }
            if newCount > settings.limit {
                outcome.dropped = try drop(newCount - settings.limit, database)
                newCount -= outcome.dropped
            }
            // Pages become free only when all that is in them has gone, so a block at a time.
            while newCount > 0, try used(database) > settings.sizeLimit {
                let dropped = try drop(max(64, newCount / 16), database)
                outcome.dropped += dropped
                newCount -= dropped
            }
        }
        count = newCount
        return outcome
    }

    /// The octets of the pages that are not free.
    private func used(_ database: Database) throws -> Int {
        func number(_ name: String) throws -> Int { try Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
        return (try number("page_count") - number("freelist_count")) * (try number("page_size"))
    }

    private func drop(_ number: Int, _ database: Database) throws -> Int {
        var dropped = 0
        if settings.overflow == .superseded {
            try database.execute(
                sql: """
                    DELETE FROM message WHERE id IN (
                        SELECT id FROM message INDEXED BY message_superseded WHERE superseded = 1 ORDER BY id LIMIT ?)
                    """, arguments: [number])
            dropped = database.changesCount
        }
        if dropped < number {
            try database.execute(
                sql: "DELETE FROM message WHERE id IN (SELECT id FROM message ORDER BY id LIMIT ?)",
                arguments: [number - dropped])
            dropped += database.changesCount
        }
        return dropped
    }

    /// The next messages after a queue position.
    func messages(after id: Int64, limit: Int) throws -> [QueuedMessage] {
        try database.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT id, topic, payload, qos, retain FROM message WHERE id > ? ORDER BY id LIMIT ?")
            return try Row.fetchAll(statement, arguments: [id, limit]).map { row in
                QueuedMessage(
                    id: row[0], topic: row[1], payload: [UInt8](row[2] as Data), qualityOfService: row[3],
                    isRetained: row[4])
            }
        }
    }

    func close() { try? database.close() }
}
