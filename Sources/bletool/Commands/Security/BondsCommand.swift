import ArgumentParser
import BLE

struct BondsCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "List the bonded devices.",
        discussion: """
            With -t bled, or if bled is there, the bonds of bled; with --state, or with -t and a controller, those of this \
            program. The bonds of bled are for its operators: root, its user and the group of bled --operators.

              bletool --json bonds
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        for bond in try await session.knownBonds() {
            session.console.print(BondOutput.object(bond), text: BondOutput.text(bond))
        }
    }
}
