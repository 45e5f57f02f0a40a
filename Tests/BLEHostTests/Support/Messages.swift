import BLEJSON
import BLEMessages

extension Message {
    /// The message with this JSON.
    init(text: String) throws { try self.init(json: JSONReader.value(in: Array(text.utf8))) }

    /// The message as a recording has it, read back.
    func readBack() throws -> Self { try Self(json: JSONReader.value(in: json())) }
}
