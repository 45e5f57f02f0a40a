import ArgumentParser
import BLE

/// One HCI command on a list of the controller, without arguments.
protocol ListCommandKind: Sendable {
    associatedtype Command: HCICommand
    static var name: String { get }
    static var abstract: String { get }
    static var command: Command { get }
    /// Prints the answer.
    static func print(_ answer: Command.ReturnParameters, on console: Console)
}

extension ListCommandKind {
    static func print(_ answer: Command.ReturnParameters, on console: Console) {}
}

/// A command line command of this kind.
struct ListCommand<Kind: ListCommandKind>: ToolCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Kind.name, abstract: Kind.abstract, discussion: ListCommandText.discussion(Kind.name))
    }

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        Kind.print(try await session.send(Kind.command), on: session.console)
    }
}

/// One HCI command on a list of the controller, with the address of a device.
protocol DeviceListCommandKind: Sendable {
    associatedtype Command: HCICommand
    static var name: String { get }
    static var abstract: String { get }
    static func command(_ address: DeviceAddress) -> Command
}

/// A command line command of this kind.
struct DeviceListCommand<Kind: DeviceListCommandKind>: ToolCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Kind.name, abstract: Kind.abstract,
            discussion: ListCommandText.discussion("\(Kind.name) 24:6F:28:AA:BB:CC"))
    }

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Flag(name: .shortAndLong, help: "The address is random, as with /random.")
    var random = false

    @Argument("ADDRESS or ADDRESS/random.") var address: AddressArgument

    func run(in session: Session) async throws {
        try await session.send(Kind.command(address.asRandom(random)))
    }
}
