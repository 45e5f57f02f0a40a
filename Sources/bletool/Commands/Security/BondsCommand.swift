import ArgumentParser

struct BondsCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "List the bonded devices.",
        discussion: """
            With -t bled, or if bled is there, the bonds of bled; with --state, or with -t and a controller, those of this \
            program. The bonds of bled are for its operators: root, its user and the group of bled --operators; each \
            adapter of bled has its own.

              bletool --json bonds
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        var count = 0
        try await session.forEachBonds { bonds, suffix in
            count += bonds.count
            for bond in bonds {
                session.console.print(BondOutput.object(bond), text: BondOutput.text(bond) + suffix)
            }
        }
        if count == 0 { session.console.note("no device is bonded") }
    }
}
