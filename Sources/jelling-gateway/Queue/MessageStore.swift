import BLEStateFiles
import Foundation
import GRDB

/// The queue on disk: messages that the broker has not acknowledged, in order.
///
/// It uses a write-ahead log (WAL) with `synchronous = NORMAL`: committed messages survive the end of the process,
/// however it ends; a power failure may lose the last transactions.
final class MessageStore {
    private let database: DatabaseQueue
    let limit: Int
    let overflow: QueueSettings.Overflow
    private(set) var count: Int

    /// Opens the queue; a file that is not a database is moved aside.
    /// - Throws: an error of SQLite.
    init(path: String, limit: Int, overflow: QueueSettings.Overflow) throws {
        self.limit = limit
        self.overflow = overflow
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            // Only one gateway may use a queue; this mode also avoids shared memory for the log.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        do {
            database = try Self.open(path, configuration)
        } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
            try FileManager.default.moveItem(
                atPath: path, toPath: "\(path).broken-\(UInt64(Date().timeIntervalSince1970))")
            for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
            database = try Self.open(path, configuration)
        }
        count = try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM message") ?? 0 }
    }

    private static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS message (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL,
                        qos INTEGER NOT NULL, retain INTEGER NOT NULL);
                    CREATE INDEX IF NOT EXISTS message_topic ON message (topic, id);
                    """)
        }
        return database
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
            let insertion = try database.cachedStatement(
                sql: "INSERT INTO message (topic, payload, qos, retain) VALUES (?, ?, ?, ?)")
            for index in outcome.messages.indices {
                let message = outcome.messages[index]
                try insertion.execute(arguments: [
                    message.topic, Data(message.payload), message.qualityOfService, message.isRetained,
                ])
                outcome.messages[index].id = database.lastInsertedRowID
                newCount += 1
            }
            if newCount > limit {
                outcome.dropped = try drop(newCount - limit, database)
                newCount -= outcome.dropped
            }
        }
        count = newCount
        return outcome
    }

    private func drop(_ number: Int, _ database: Database) throws -> Int {
        var dropped = 0
        if overflow == .superseded {
            try database.execute(
                sql: """
                    DELETE FROM message WHERE id IN (
                        SELECT id FROM message AS old
                        WHERE EXISTS (SELECT 1 FROM message AS new WHERE new.topic = old.topic AND new.id > old.id)
                        ORDER BY id LIMIT ?)
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
