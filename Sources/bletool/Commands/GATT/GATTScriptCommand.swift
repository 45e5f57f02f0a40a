import ArgumentParser
import BLEScripts

struct GATTScriptCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Run several operations over one connection.",
        usage: "bletool gatt PEER script FILE",
        discussion: """
            One operation per line: discover [--service UUID], read TARGET, write TARGET HEX [--command | --signed], subscribe \
            TARGET [--count N] [--duration S], and wait [--count N] [--duration S], which prints the values that arrived \
            since the subscription; subscribe with an option waits as well. # starts a comment. The first line that \
            fails ends the script.

              printf 'subscribe 2A37\\nwait --count 3\\n' | bletool gatt Thermometer script -
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments
    @OptionGroup(title: ConnectionOptions.title) var bearers: BearerOptions

    @Argument(peerHelp) var peer: PeerArgument
    @Argument(help: "The script; ‘-’ reads standard input.", completion: .file()) var file: String

    func lines() throws -> [(number: Int?, step: GATTStep)] {
        try GATTScript(path: file).lines.map { ($0.number, $0.step) }
    }
}
