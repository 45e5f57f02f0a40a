import Foundation
import GRDB

extension QueuedMessage {
    /// What `init(row:)` reads. The topic comes as octets, because a text would be cut at a zero in it.
    static let columns = "id, CAST(topic AS BLOB), payload, qos, retain"

    /// A row of the queue.
    /// - Throws: `UnreadableRow`; the file may have been damaged.
    init(row: Row) throws(UnreadableRow) {
        guard case .int64(let id) = Self.storage(row, 0), case .blob(let topic) = Self.storage(row, 1),
            case .blob(let payload) = Self.storage(row, 2), case .int64(let quality) = Self.storage(row, 3),
            case .int64(let retain) = Self.storage(row, 4), (1...2).contains(quality), (0...1).contains(retain),
            id > 0, !topic.isEmpty, topic.count <= Self.topicLimit, !topic.contains(0),
            let text = String(validating: topic, as: UTF8.self)
        else { throw UnreadableRow() }
        self.init(
            id: id, topic: text, payload: [UInt8](payload), qualityOfService: Int(quality), isRetained: retain == 1)
    }

    /// The longest topic of MQTT, in octets.
    private static let topicLimit = 65_535

    private static func storage(_ row: Row, _ index: Int) -> DatabaseValue.Storage {
        (row[index] as DatabaseValue).storage
    }
}

/// A row of the queue is not what was written.
struct UnreadableRow: Error, CustomStringConvertible {
    var description: String { "a message in it cannot be read" }
}
