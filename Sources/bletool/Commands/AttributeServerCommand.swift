import ArgumentParser
import BLE
import BLEScripts

struct AttributeServerCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "att-server",
        abstract: "Answer ATT PDUs from standard input, without a controller.",
        discussion: """
            Each line of standard input is a PDU in hexadecimal, notify HANDLE HEX, indicate HANDLE HEX, or reset. \
            Each gets one line in reply: PDUs in hexadecimal, separated by spaces, or - for none. Written values are \
            kept until reset.

            The file contains tables by name:

              {"databases":{"small":[
                {"handle":1,"type":"2800","permissions":["READ"],"value":"0118"}]}}

            Permissions are READ, WRITE, READ_ENCRYPT, WRITE_ENCRYPT, READ_AUTHEN, WRITE_AUTHEN, READ_AUTHOR, \
            WRITE_AUTHOR and NONE.

              echo 100100ffff0028 |
                bletool att-server --attributes tables.json --database small
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Option("The tables of attributes, as JSON.", "file", completion: .file(extensions: ["json"]))
    var attributes: String

    @Option("The table to serve.", "name") var database: String

    @Option("The MTU that the server offers, at least 23 octets (default: 517).", "n") var mtu: UInt16 = 517

    func validate() throws {
        guard mtu >= 23 else { throw ValidationError("The MTU must be at least 23.") }
    }

    func run(in session: Session) async throws {
        let table: GATTDatabase
        let bytes = try TextFile.bytes(of: attributes)
        do {
            table = try AttributeFile.database(named: database, in: bytes)
        } catch let failure as Failure {
            throw Failure("‘\(attributes)’: \(failure.message)", status: .usage)
        }
        var server = AttributeServerSession(database: table, receiveMTU: mtu)
        var input = StandardInput()
        var number = 0
        while let line = await input.nextLine() {
            number += 1
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            let parsed: AttributeServerLine
            do { parsed = try AttributeServerLine(line) } catch let failure as Failure {
                throw failure.at(line: number)
            }
            session.console.printHelp(parsed.answer(of: &server))
        }
    }
}
