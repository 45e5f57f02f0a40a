import ArgumentParser
import BLE

struct BondsCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "bonds",
        abstract: "List the bonded devices.",
        discussion: "  bletool --json bonds")

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        do throws(BondStoreError) {
            for bond in try session.bondStore.bonds() {
                session.console.print(BondOutput.object(bond), text: BondOutput.text(bond))
            }
        } catch {
            throw Failure(error)
        }
    }
}
