import ArgumentParser
import BLETransport

/// The root of the commands.
struct BLETool: CommandGroupHelp {
    static let configuration = CommandConfiguration(
        commandName: "bletool",
        abstract: "Bluetooth LE at the command line.",
        usage:
            "bletool [-t TRANSPORT] [--json] [-w CAPTURE] [--record NAME] [--state DIR] [--own-address KIND] COMMAND",
        discussion: """
            Scan, connect, read, write, subscribe and pair, on any controller that speaks HCI:

              bletool lescan --duration 5
              bletool gatt 24:6F:28:AA:BB:CC discover
              bletool -t raw:0 --json gatt Thermometer subscribe 2A37 --count 3

            Without -t, bletool uses the first adapter through the HCI user channel. Of an address without /public or \
            /random, the device's bond or its advertising says which it is; in a list, such as --accept, it is \
            public. The exit status is 0 on success, 1 if the operation failed, 2 for wrong usage, and 3 when the \
            transport could not be opened.
            """,
        version: programVersion,
        groupedSubcommands: [
            CommandGroup(
                name: "Devices",
                subcommands: [
                    ScanCommand.self, GATTCommand.self, ServeCommand.self, AdvertiseCommand.self, SyncCommand.self,
                    L2CAPCommand.self, SerialCommand.self, BenchCommand.self, DFUCommand.self, SMPCommand.self,
                ]),
            CommandGroup(
                name: "Bonds", subcommands: [PairCommand.self, BondsCommand.self, UnpairCommand.self]),
            CommandGroup(
                name: "The daemon", subcommands: [StatusCommand.self, AppCommand.self, AlertsCommand.self]),
            CommandGroup(
                name: "Controllers",
                subcommands: [
                    DevCommand.self, InfoCommand.self, CheckCommand.self, PowerCommand.self, TraitsCommand.self,
                    CmdCommand.self, BridgeCommand.self,
                ]),
            CommandGroup(
                name: "Connections",
                subcommands: [
                    ConCommand.self, LEInfoCommand.self, LEConnectCommand.self, LEDisconnectCommand.self,
                    LEUpdateCommand.self, RSSICommand.self, LinkCommand.self,
                ]),
            CommandGroup(
                name: "The controller's lists",
                subcommands: [
                    DeviceListCommand<AcceptListAdd>.self, DeviceListCommand<AcceptListRemove>.self,
                    ListCommand<AcceptListClear>.self,
                    ListCommand<AcceptListSize>.self, ResolvingListAddCommand.self,
                    DeviceListCommand<ResolvingListRemove>.self,
                    ListCommand<ResolvingListClear>.self, ListCommand<ResolvingListSize>.self,
                    ListCommand<ResolvingOn>.self,
                    ListCommand<ResolvingOff>.self,
                ]),
            CommandGroup(
                name: "Data",
                subcommands: [
                    DecodeCommand.self, SummaryCommand.self, MonitorCommand.self, ConvertCommand.self,
                    ExtcapCommand.self, AdCommand.self,
                    ReplayCommand.self,
                    AttributeServerCommand.self,
                ]),
        ])

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
}
