import ArgumentParser
import BLEScripts

struct GATTSubscribeCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Subscribe to a value and print its notifications or indications.",
        usage: "bletool gatt PEER subscribe TARGET… [--duration S] [--count N] [--text | --uint8 | …]",
        discussion: """
            Prefers notifications to indications. Without --duration and --count it runs until ^C or the end of the \
            link. With both, it fails if too few values arrive in time. If the device changes its services, bletool \
            finds the characteristic again and subscribes again. A characteristic without a Client Characteristic \
            Configuration, or with one that cannot be written, is subscribed to without a write: the values that such a \
            device sends unasked are printed.

              bletool gatt Thermometer subscribe 2A37 --count 3
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments
    @OptionGroup(title: ConnectionOptions.title) var bearers: BearerOptions

    @Option("Stop after this many seconds.", "seconds", parsing: .unconditional) var duration: Seconds?

    @Option("Stop after this many values.", "n", parsing: .unconditional) var count: Count?

    @Flag(exclusivity: .exclusive) var form: ValueForm?

    @Argument(peerHelp) var peer: PeerArgument
    @Argument(targetHelp) var target: [AttributeTarget]

    func lines() -> [(number: Int?, step: GATTStep)] {
        target.map { (nil, .subscribe($0)) }
            + [(nil, .wait(count: count?.value, duration: duration?.duration, form: form))]
    }
}
