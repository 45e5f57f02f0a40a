import ArgumentParser
import BLE

/// How strong the keys of links and bonds have to be.
struct KeyStrengthArguments: ParsableArguments {
    @Option(
        "Accept keys of at least this many octets, 7 to 16, for old devices; a key of 7 octets can be found by "
            + "trial (default: 16).", "octets")
    var minKeySize = 16

    @Flag(
        help: """
            Accept only authenticated LE Secure Connections with keys of 16 octets (mode 1 level 4).
            """)
    var secureConnectionsOnly = false

    func validate() throws {
        guard (7...16).contains(minKeySize) else {
            throw ValidationError("--min-key-size must be 7 to 16.")
        }
        guard !secureConnectionsOnly || minKeySize == 16 else {
            throw ValidationError("--secure-connections-only requires keys of 16 octets: omit --min-key-size.")
        }
    }

    func apply(to options: inout PairingOptions) {
        options.minimumKeySize = UInt8(minKeySize)
        if secureConnectionsOnly { options.requireSecureConnectionsOnly() }
    }
}
