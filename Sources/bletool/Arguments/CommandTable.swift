import ArgumentParser

/// The commands by their names. To ask each command for its name would bring pages of all sixty into memory; here only
/// the one that is named is touched.
enum CommandTable {
    /// The command that the words begin with, and the words that are its own.
    static func command(at words: [String]) -> (type: any ParsableCommand.Type, arguments: ArraySlice<String>)? {
        guard let name = words.first else { return nil }
        if words.count > 1, let type = command(words[1], of: name) { return (type, words[2...]) }
        return command(name).map { ($0, words[1...]) }
    }

    /// Parses what `ArgumentOrder` arranged.
    ///
    /// - Throws: the parser's error: help, or a mistake, in the words of the whole tool.
    static func parse(_ words: [String]) throws -> any ParsableCommand {
        if let (type, arguments) = command(at: words), let parsed = try? type.parseAsRoot(Array(arguments)),
            parsed is any ToolCommand
        {
            return parsed
        }
        return try BLETool.parseAsRoot(words)
    }

    static func command(_ name: String) -> (any ParsableCommand.Type)? {
        switch name {
        case "lescan", "scan": ScanCommand.self
        case "gatt": GATTCommand.self
        case "serve": ServeCommand.self
        case "advertise": AdvertiseCommand.self
        case "sync": SyncCommand.self
        case "l2cap": L2CAPCommand.self
        case "serial": SerialCommand.self
        case "bench": BenchCommand.self
        case "dfu": DFUCommand.self
        case "smp": SMPCommand.self
        case "pair": PairCommand.self
        case "bonds": BondsCommand.self
        case "unpair": UnpairCommand.self
        case "status": StatusCommand.self
        case "app": AppCommand.self
        case "alerts": AlertsCommand.self
        case "dev": DevCommand.self
        case "info": InfoCommand.self
        case "check": CheckCommand.self
        case "bridge": BridgeCommand.self
        case "power": PowerCommand.self
        case "traits": TraitsCommand.self
        case "cmd": CmdCommand.self
        case "con": ConCommand.self
        case "leinfo": LEInfoCommand.self
        case "lecc": LEConnectCommand.self
        case "ledc": LEDisconnectCommand.self
        case "lecup": LEUpdateCommand.self
        case "rssi": RSSICommand.self
        case "link": LinkCommand.self
        case "lealadd": DeviceListCommand<AcceptListAdd>.self
        case "lealrm": DeviceListCommand<AcceptListRemove>.self
        case "lealclr": ListCommand<AcceptListClear>.self
        case "lealsz": ListCommand<AcceptListSize>.self
        case "lerladd": ResolvingListAddCommand.self
        case "lerlrm": DeviceListCommand<ResolvingListRemove>.self
        case "lerlclr": ListCommand<ResolvingListClear>.self
        case "lerlsz": ListCommand<ResolvingListSize>.self
        case "lerlon": ListCommand<ResolvingOn>.self
        case "lerloff": ListCommand<ResolvingOff>.self
        case "decode": DecodeCommand.self
        case "summary": SummaryCommand.self
        case "monitor": MonitorCommand.self
        case "convert": ConvertCommand.self
        case "extcap": ExtcapCommand.self
        case "ad": AdCommand.self
        case "replay": ReplayCommand.self
        case "att-server": AttributeServerCommand.self
        default: nil
        }
    }

    static func command(_ name: String, of group: String) -> (any ParsableCommand.Type)? {
        switch (group, name) {
        case ("gatt", "discover"): GATTDiscoverCommand.self
        case ("gatt", "read"): GATTReadCommand.self
        case ("gatt", "write"): GATTWriteCommand.self
        case ("gatt", "subscribe"): GATTSubscribeCommand.self
        case ("gatt", "script"): GATTScriptCommand.self
        case ("gatt", "shell"): GATTShellCommand.self
        case ("l2cap", "connect"): L2CAPConnectCommand.self
        case ("l2cap", "listen"): L2CAPListenCommand.self
        case ("app", "list"): AppListCommand.self
        case ("app", "show"): AppShowCommand.self
        case ("app", "install"): AppInstallCommand.self
        case ("app", "remove"), ("app", "uninstall"): AppRemoveCommand.self
        case ("app", "reload"): AppReloadCommand.self
        case ("app", "launch"), ("app", "foreground"): AppLaunchCommand.self
        case ("app", "background"): AppBackgroundCommand.self
        case ("app", "suspend"): AppSuspendCommand.self
        case ("app", "quit"): AppQuitCommand.self
        case ("alerts", "answer"): AlertsAnswerCommand.self
        case ("ad", "decode"): AdDecodeCommand.self
        case ("ad", "pack"): AdPackCommand.self
        default: nil
        }
    }
}
