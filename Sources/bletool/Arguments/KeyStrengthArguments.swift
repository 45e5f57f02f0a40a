import ArgumentParser
import BLE

/// How strong the keys of links and bonds have to be.
struct KeyStrengthArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take keys of so many octets and more, 7 to 16, for old devices; a key of 7 can be tried out.",
            valueName: "octets"))
    var minKeySize = 16

    @Flag(
        help: """
            Take authenticated LE Secure Connections with keys of 16 octets and nothing less (mode 1 level 4).
            """)
    var secureConnectionsOnly = false

    func validate() throws {
        guard (7...16).contains(minKeySize) else {
            throw ValidationError("--min-key-size lies between 7 and 16.")
        }
        guard !secureConnectionsOnly || minKeySize == 16 else {
            throw ValidationError("--secure-connections-only takes keys of 16 octets: leave --min-key-size out.")
        }
    }

    func apply(to options: inout PairingOptions) {
        options.minimumKeySize = UInt8(minKeySize)
        if secureConnectionsOnly { options.requireSecureConnectionsOnly() }
    }
}
