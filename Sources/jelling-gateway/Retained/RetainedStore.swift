import BLEGateway
import Foundation
import GRDB

/// What is retained at the broker, on disk. `RetainedTable` bounds its size.
final class RetainedStore: Sendable {
    private let database: DatabaseQueue

    /// Opens the file; one that is no database is replaced.
    /// - Throws: an error of SQLite.
    init(path: String) throws {
        do {
            database = try Self.open(path)
        } catch let error where MessageStore.isDamage(error) {
            for ending in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: path + ending)
            }
            database = try Self.open(path)
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS statement (
                        topic TEXT PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, basis TEXT NOT NULL,
                        payload BLOB, withdrawn INTEGER NOT NULL);
                    CREATE TABLE IF NOT EXISTS owner (
                        name TEXT PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,
                        resolved INTEGER NOT NULL);
                    """)
        }
        return database
    }

    /// Reads everything, in the order in which it was stated. Rows of other versions are left out.
    func record() throws -> RetainedRecord {
        try database.read { database in
            var record = RetainedRecord()
            let statements = try Row.fetchCursor(
                database, sql: "SELECT topic, kind, owner, basis, payload, withdrawn FROM statement ORDER BY rowid")
            while let row = try statements.next() {
                guard let topic = String.fromDatabaseValue(row[0]), !topic.isEmpty,
                    let kind = String.fromDatabaseValue(row[1]).flatMap(RetainedStatement.Kind.init),
                    let owner = String.fromDatabaseValue(row[2]), let basis = String.fromDatabaseValue(row[3])
                else { continue }
                var statement = RetainedStatement(
                    topic: topic, kind: kind, owner: owner, basis: basis,
                    payload: Data.fromDatabaseValue(row[4]).map { [UInt8]($0) })
                statement.isWithdrawn = Int.fromDatabaseValue(row[5]) == 1
                record.statements.append(statement)
            }
            let owners = try Row.fetchCursor(
                database, sql: "SELECT name, first, last, resolved FROM owner ORDER BY name")
            while let row = try owners.next() {
                guard let name = String.fromDatabaseValue(row[0]), let first = Int64.fromDatabaseValue(row[1]),
                    let last = Int64.fromDatabaseValue(row[2])
                else { continue }
                record.owners.append(
                    RetainedOwner(
                        name: name, firstHeard: first, lastHeard: last, isResolved: Int.fromDatabaseValue(row[3]) == 1))
            }
            return record
        }
    }

    /// Writes changes, or everything.
    /// - Parameter isWhole: whether the record replaces what is there.
    func write(_ record: RetainedRecord, isWhole: Bool) throws {
        try database.write { database in
            if isWhole { try database.execute(sql: "DELETE FROM statement; DELETE FROM owner") }
            for topic in record.removedTopics {
                try database.execute(sql: "DELETE FROM statement WHERE topic = ?", arguments: [topic])
            }
            for name in record.removedOwners {
                try database.execute(sql: "DELETE FROM owner WHERE name = ?", arguments: [name])
            }
            let statement = try database.cachedStatement(
                sql: """
                    INSERT INTO statement (topic, kind, owner, basis, payload, withdrawn) VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT (topic) DO UPDATE SET kind = excluded.kind, owner = excluded.owner,
                        basis = excluded.basis, payload = excluded.payload, withdrawn = excluded.withdrawn
                    """)
            for row in record.statements {
                try statement.execute(arguments: [
                    row.topic, row.kind.rawValue, row.owner, row.basis, row.payload.map { Data($0) }, row.isWithdrawn,
                ])
            }
            let owner = try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO owner (name, first, last, resolved) VALUES (?, ?, ?, ?)")
            for row in record.owners {
                try owner.execute(arguments: [row.name, row.firstHeard, row.lastHeard, row.isResolved])
            }
        }
    }

    func close() { try? database.close() }
}
