import BLEJSON
import BLEMessages

extension Message {
    /// The message as a recording has it, read back.
    func readBack() throws -> Self { try Self(json: JSONReader.value(in: json())) }
}
