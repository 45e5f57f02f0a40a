import BLEStateFiles
import Foundation
import GRDB

/// The queue on disk: messages that the broker has not acknowledged, in order.
///
/// It uses a write-ahead log (WAL) with `synchronous = NORMAL`: committed messages survive the end of the process,
/// however it ends; a power failure may lose the last transactions.
final class MessageStore {
    private let database: DatabaseQueue
    private var settings: QueueSettings
    private(set) var count: Int

    /// What became of a file that was damaged, or no database; `nil` if it was neither.
    private(set) var rescue: QueueRescue?

    private let reserve: DiskReserve
    private var sizeLimit: Int
    /// Whether the disk was full, and the reserve has been given back: then the file does not grow.
    private var isTight = false
    private var nextAttempt = ContinuousClock.now
    /// Whether the disk was full since the queue was last empty. When it becomes empty, no commit may follow.
    private var shrinksWhenEmpty = false
    /// Messages that were removed because the disk was full, and are not in an `Outcome` yet.
    private var droppedInSteps = 0

    private static let attemptPause = Duration.seconds(5)
    /// How many messages are removed at once while the disk is full.
    private static let tightStep = 64
    /// A file of this size shrinks when most of it is free, in octets.
    private static let shrinkSize = 1 << 20

    /// Opens the queue; a file that is not a database, or is damaged, is moved aside, and what can be read of it is
    /// taken over.
    /// - Parameters:
    ///   - isDamaged: whether an earlier operation found that the file is damaged.
    ///   - known: messages of the file that have been read from it already.
    ///   - end: the highest position that is known.
    /// - Throws: an error of SQLite, or `StateFileError`.
    init(path: String, settings: QueueSettings, isDamaged: Bool, known: [QueuedMessage], end: Int64) throws {
        self.settings = settings
        // A pipe or a device is no damaged queue that could be moved aside.
        do throws(StateFileError) { try InputPlace.check(path, limit: .max) } catch {
            guard error.isMissing else { throw error }
        }
        let reserve = DiskReserve(besides: path)
        self.reserve = reserve
        sizeLimit = Self.sizeLimit(settings)
        var rescue = isDamaged ? try QueueRescue(path: path, isWhole: false) : nil
        do {
            database = try Self.open(path, reserve, settings)
        } catch let error where Self.isFull(error) {
            reserve.release()
            database = try Self.open(path, reserve, settings)
        } catch let error where rescue == nil && (Self.isDamage(error) || Self.isForeign(error, path)) {
            rescue = try QueueRescue(path: path, isWhole: true)
            database = try Self.open(path, reserve, settings)
        }
        rescue?.copy(into: database, known: known, end: end)
        count = try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM message") ?? 0 }
        self.rescue = rescue
        _ = reserve.take()
    }

    /// Whether an error means that the file has to be replaced. The statements are always the same ones, so a file for
    /// which they are wrong is another one than was made.
    static func isDamage(_ error: any Error) -> Bool {
        if error is UnreadableRow { return true }
        guard let error = error as? DatabaseError else { return false }
        return [
            .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_FORMAT,
        ].contains(error.resultCode)
    }

    /// Whether a file says that only another version of SQLite may write it, although this process may.
    private static func isForeign(_ error: any Error, _ path: String) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_READONLY && FileManager.default.isWritableFile(atPath: path)
    }

    /// Whether the file has to be opened again after an error: afterwards it may be readable, or is replaced.
    static func needsOpening(_ error: any Error) -> Bool {
        guard !isDamage(error) else { return true }
        return [.SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN].contains((error as? DatabaseError)?.resultCode)
    }

    /// Whether an error means that there is no room on the disk, or that this process may not use it.
    private static func isFull(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_FULL || error.extendedResultCode == .SQLITE_IOERR_WRITE
    }

    private static func open(_ path: String, _ reserve: DiskReserve, _ settings: QueueSettings) throws -> DatabaseQueue
    {
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            // Only one gateway may use a queue; this mode also avoids shared memory for the log.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
            // Half of the reserve, so that what is in the log always finds room in the file.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(reserve.size / 2 / 4096)")
        }
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
            try check(database)
            if settings.overflow == .superseded { try markAll(database) }
        }
        return database
    }

    /// Marks all messages that a newer one replaces. From then on each is marked when the newer one is written.
    private static func markAll(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE INDEX IF NOT EXISTS message_superseded ON message (id) WHERE superseded = 1;
                UPDATE message SET superseded = 1
                    WHERE superseded = 0 AND id NOT IN (SELECT MAX(id) FROM message GROUP BY topic);
                """)
    }

    private static func sizeLimit(_ settings: QueueSettings) -> Int {
        min(settings.sizeLimit, DiskReserve.fileLimit.map { $0 / 4 * 3 } ?? .max)
    }

    /// Changes the limits.
    /// - Returns: how many messages were dropped because the queue is too long for them.
    func use(_ settings: QueueSettings) throws -> Int {
        if settings.overflow == .superseded, self.settings.overflow != .superseded {
            try database.write { try Self.markAll($0) }
        }
        self.settings = settings
        sizeLimit = Self.sizeLimit(settings)
        return try write([], [] as [Int64]).dropped
    }

    /// - Throws: `UnreadableRow` if texts would be read wrongly, or no message could be added any more; an error of
    ///   SQLite if the file cannot be written.
    private static func check(_ database: Database) throws {
        // Changes nothing.
        try database.execute(sql: "UPDATE message SET qos = qos WHERE id = 0")
        guard try String.fetchOne(database, sql: "PRAGMA encoding") == "UTF-8" else { throw UnreadableRow() }
        for sql in ["SELECT MAX(id) FROM message", "SELECT seq FROM sqlite_sequence WHERE name = 'message'"] {
            switch try DatabaseValue.fetchOne(database, sql: sql)?.storage ?? .null {
            case .null: break
            case .int64(let last) where (0...QueueRescue.lastPosition).contains(last): break
            default: throw UnreadableRow()
            }
        }
    }

    /// The result of a commit.
    struct Outcome {
        /// The messages with their queue positions.
        var messages: [QueuedMessage]
        /// The number of messages that were removed because the queue was full.
        var dropped = 0
    }

    /// Adds and removes messages in one transaction. On a full disk those that were acknowledged are removed also when
    /// there is no room for new ones.
    func commit(adding messages: [QueuedMessage], removing acknowledged: [Int64]) throws -> Outcome {
        do {
            let outcome = try write(messages, acknowledged)
            tidy()
            // Not when there are new ones, which are written now.
            if messages.isEmpty { try checkCount() }
            return withStepsCounted(outcome)
        } catch let error where Self.isFull(error) {
            makeRoom()
            var rest = acknowledged[...]
            while !rest.isEmpty {
                _ = try write([], rest.prefix(Self.tightStep))
                rest = rest.dropFirst(Self.tightStep)
            }
            try dropInSteps(for: messages)
            let outcome = try write(messages, [])
            tidy()
            return withStepsCounted(outcome)
        }
    }

    /// Also after steps whose commit failed in the end.
    private func withStepsCounted(_ outcome: Outcome) -> Outcome {
        defer { droppedInSteps = 0 }
        return Outcome(messages: outcome.messages, dropped: outcome.dropped + droppedInSteps)
    }

    /// Removes the oldest messages where the disk has no room for these. One transaction for all of them would need
    /// more room for its log than there is.
    private func dropInSteps(for messages: [QueuedMessage]) throws {
        while count > 0, try !hasRoom(for: messages) {
            let dropped = try database.write { try drop(min(count, Self.tightStep), $0) }
            guard dropped > 0 else { return }
            count -= dropped
            droppedInSteps += dropped
            _ = try database.writeWithoutTransaction { try $0.checkpoint(.passive) }
        }
    }

    private func hasRoom(for messages: [QueuedMessage]) throws -> Bool {
        try database.read { database in
            guard let full = try diskLimit(database) else { return true }
            return try used(database) <= min(sizeLimit, full) - Self.needed(for: messages)
        }
    }

    /// So much may these need with their index; what is removed before frees pages, which are used again.
    private static func needed(for messages: [QueuedMessage]) -> Int { messages.reduce(0) { $0 + 2 * $1.size } }

    private func write(_ messages: [QueuedMessage], _ acknowledged: some Collection<Int64>) throws -> Outcome {
        var outcome = Outcome(messages: messages)
        var newCount = count
        try database.write { database in
            let removal = try database.cachedStatement(sql: "DELETE FROM message WHERE id = ?")
            for id in acknowledged {
                try removal.execute(arguments: [id])
                newCount -= database.changesCount
            }
            var limit = sizeLimit
            if !messages.isEmpty, let full = try diskLimit(database) {
                limit = min(limit, full)
                try drop(to: limit - Self.needed(for: messages), &newCount, &outcome, database)
            }
            try insert(&outcome.messages, database)
            newCount += messages.count
            if newCount > settings.limit {
                let dropped = try drop(newCount - settings.limit, database)
                outcome.dropped += dropped
                newCount -= dropped
            }
            try drop(to: limit, &newCount, &outcome, database)
        }
        count = newCount
        return outcome
    }

    private func insert(_ messages: inout [QueuedMessage], _ database: Database) throws {
        // Marked when the newer one comes: a full queue finds what it drops without a search.
        let mark = try database.cachedStatement(
            sql: "UPDATE message SET superseded = 1 WHERE id = (SELECT MAX(id) FROM message WHERE topic = ?)")
        let insertion = try database.cachedStatement(
            sql: "INSERT INTO message (topic, payload, qos, retain) VALUES (?, ?, ?, ?)")
        for index in messages.indices {
            let message = messages[index]
            if settings.overflow == .superseded { try mark.execute(arguments: [message.topic]) }
            try insertion.execute(arguments: [
                message.topic, Data(message.payload), message.qualityOfService, message.isRetained,
            ])
            messages[index].id = database.lastInsertedRowID
        }
    }

    /// A damaged page may have lost messages without any error: then the index has more than the table.
    private func checkCount() throws {
        guard count != 0, count < Self.tightStep else { return }
        let hasMessage = try database.read { database in
            try Int.fetchOne(database, sql: "SELECT 1 FROM message NOT INDEXED LIMIT 1") != nil
        }
        guard count > 0, hasMessage else { throw UnreadableRow() }
    }

    // MARK: Room

    private static func number(_ name: String, _ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0
    }

    /// The octets of the pages that are not free.
    private func used(_ database: Database) throws -> Int {
        try (Self.number("page_count", database) - Self.number("freelist_count", database))
            * Self.number("page_size", database)
    }

    /// What the queue may use when the disk is almost full, and the queue itself fills it: the size that its file has.
    /// Otherwise `nil`. Without its reserve the disk is full even though that much is free.
    private func diskLimit(_ database: Database) throws -> Int? {
        guard let room = reserve.room, isTight || room.free < reserve.size else { return nil }
        let size = try Self.number("page_count", database) * Self.number("page_size", database)
        return size > room.total / 4 ? size : nil
    }

    /// Removes messages until their pages have this size.
    private func drop(to size: Int, _ count: inout Int, _ outcome: inout Outcome, _ database: Database) throws {
        // Pages become free only when all that is in them has gone, so a block at a time.
        while count > 0, try used(database) > size {
            let dropped = try drop(max(64, count / 16), database)
            guard dropped > 0 else { return }
            outcome.dropped += dropped
            count -= dropped
        }
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

    /// The disk is full: gives the reserve back, and keeps the file from taking that, too.
    private func makeRoom() {
        isTight = true
        shrinksWhenEmpty = true
        nextAttempt = .now + Self.attemptPause
        reserve.release()
        try? database.writeWithoutTransaction { database in
            _ = try database.checkpoint(.passive)
            try database.execute(sql: "PRAGMA max_page_count = \(Self.number("page_count", database))")
        }
    }

    /// Makes a file smaller that was large and is almost empty, and takes the reserve again that was given back.
    private func tidy() {
        let isDue = ContinuousClock.now >= nextAttempt || count == 0 && shrinksWhenEmpty
        guard isTight || count < Self.tightStep, isDue else { return }
        nextAttempt = .now + Self.attemptPause
        if count == 0 { shrinksWhenEmpty = false }
        try? database.writeWithoutTransaction { database in
            let pageSize = try Self.number("page_size", database)
            let size = try Self.number("page_count", database) * pageSize
            let isAlmostEmpty = try used(database) < size / 4 && used(database) < Self.shrinkSize / 4
            if size > Self.shrinkSize, isAlmostEmpty {
                try database.execute(sql: "VACUUM")
                _ = try database.checkpoint(.truncate)
            }
            if isTight, reserve.take() {
                isTight = false
                try database.execute(sql: "PRAGMA max_page_count = 4294967294")
            }
        }
    }

    // MARK: Reading

    /// The next messages after a queue position.
    func messages(after id: Int64, limit: Int) throws -> [QueuedMessage] {
        try database.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(QueuedMessage.columns) FROM message WHERE id > ? ORDER BY id LIMIT ?")
            var last = id
            return try Row.fetchAll(statement, arguments: [id, limit]).map { row in
                let message = try QueuedMessage(row: row)
                guard let id = message.id, id > last else { throw UnreadableRow() }
                last = id
                return message
            }
        }
    }

    func close() { try? database.close() }
}
