import ArgumentParser

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

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"),
        transform: Seconds.parse)
    var duration: Seconds?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after this many values.", valueName: "n"),
        transform: Count.parse)
    var count: Count?

    @Flag(exclusivity: .exclusive) var form: ValueForm?

    @Argument(help: peerHelp, transform: PeerArgument.parse) var peer: PeerArgument
    @Argument(help: targetHelp, transform: TargetArgument.parse) var target: [TargetArgument]

    func lines() -> [(number: Int?, step: GATTStep)] {
        target.map { (nil, .subscribe($0)) }
            + [(nil, .wait(count: count?.value, duration: duration?.duration, form: form))]
    }
}
