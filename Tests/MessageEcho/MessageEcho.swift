import BLEMessages
import Glibc
import MessageDrawing

/// What Tools/Checks/messages asks of the codecs, a line each. Octets are hexadecimal.
///
///     draw FromClient OCTETS   the octets of the message that is drawn from these
///     read FromClient OCTETS   the octets of the message again; `refused` if they are none
///     schema                   all messages: `MESSAGE: FIELD`, and an empty line
@main
enum MessageEcho {
    static func main() throws {
        while let line = readLine() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            switch words[0] {
            case "schema": try printSchema()
            case "draw", "read":
                let octets = octets(words[2])
                let isDrawn = words[0] == "draw"
                if words[1] == "FromClient" {
                    echo { try isDrawn ? FromClient.drawn(from: octets[...]) : FromClient(octets: octets[...]) }
                } else {
                    echo { try isDrawn ? FromDaemon.drawn(from: octets[...]) : FromDaemon(octets: octets[...]) }
                }
            default: print("unknown")
            }
            // The other side waits for the line.
            fflush(nil)
        }
    }

    private static func echo<M: Message>(_ message: () throws -> M) {
        guard let octets = try? message().encoded() else { return print("refused") }
        print(octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    private static func octets(_ text: Substring) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    private static func printSchema() throws {
        var printer = SchemaPrinter()
        try printer.add(FromClient.self)
        try printer.add(FromDaemon.self)
        for (name, fields) in printer.messages {
            if fields.isEmpty { print("\(name):") }
            for field in fields { print("\(name): \(field)") }
        }
        print("")
    }
}
