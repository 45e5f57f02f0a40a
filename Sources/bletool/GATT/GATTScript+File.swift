import BLEScripts

extension GATTScript {
    /// Reads a file; `-` is standard input.
    /// - Throws: `Failure` when it cannot be read or has an invalid line.
    init(path: String) throws {
        let text = String(decoding: try TextFile.bytes(of: path), as: UTF8.self)
        do throws(ScriptProblem) { try self.init(text) } catch {
            var failure = Failure(error)
            failure.status = .usage
            failure.code = .usage
            throw failure
        }
    }
}
