import ArgumentParser
import BLE

struct L2CAPCommand: CommandGroupHelp {
    static let configuration = CommandConfiguration(
        commandName: "l2cap",
        abstract: "Pipe an L2CAP channel to standard input and output.",
        discussion: """
            What is read from standard input goes to the peer, in messages no longer than it accepts; what the peer \
            sends is written to standard output as it is, or as an event for each message with --json. A terminal gets it \
            as text, in which what the terminal would obey is a number.

              bletool -t hci0 l2cap listen --psm 0x80 --name Sink > received
              bletool -t hci1 l2cap connect Sink --psm 0x80 < file
            """,
        subcommands: [L2CAPConnectCommand.self, L2CAPListenCommand.self])
}

/// What both ends of a channel choose.
struct ChannelOptions: ParsableArguments {
    @Option("The SPSM of the channel, 1 to 255.", "number", name: [.customLong("psm"), .customLong("spsm")])
    var spsm: Number16

    @Option("The longest message that this side accepts, 23 to 65535 octets (default: 2048).", "octets") var mtu = 2048

    @Option("The longest frame that this side accepts, 23 to 2044 octets (default: 247).", "octets") var mps = 247

    @Option("Frames that the peer may send before any is consumed (default: 16).", "number") var credits = 16

    @Option("With --enhanced: once a channel is open, ask the peer to send longer messages and frames.", "mtu,mps")
    var reconfigure: ChannelSizes?

    @Option(
        "After the end of the input: close when nothing has arrived for this long (default: 1).", "seconds",
        parsing: .unconditional)
    var linger = Seconds(argument: "1")!

    func validate() throws {
        guard (1...0xFF).contains(spsm.value) else { throw ValidationError("--psm is 1 to 255.") }
        guard (23...65535).contains(mtu) else { throw ValidationError("--mtu is 23 to 65535.") }
        guard (23...2044).contains(mps) else { throw ValidationError("--mps is 23 to 2044.") }
        guard (1...65535).contains(credits) else { throw ValidationError("--credits is 1 to 65535.") }
    }

    /// - Parameters:
    ///   - isEnhanced: whether the sizes must suit the enhanced form.
    ///   - count: how many channels are changed together.
    /// - Throws: `ValidationError`.
    func requireSizes(isEnhanced: Bool, count: Int = 1) throws {
        guard !isEnhanced || mtu >= 64 && mps >= 64 else {
            throw ValidationError("--enhanced needs --mtu and --mps of at least 64.")
        }
        guard let reconfigure else { return }
        guard isEnhanced else { throw ValidationError("--reconfigure needs --enhanced.") }
        guard reconfigure.mtu >= mtu else {
            throw ValidationError("--reconfigure cannot make messages shorter than --mtu, \(mtu) octets.")
        }
        if count > 1, let shorter = reconfigure.mps, shorter < mps {
            throw ValidationError(
                "--reconfigure cannot make the frames of several channels shorter than --mps, \(mps) octets.")
        }
    }

    /// What carries the channels.
    /// - Parameters:
    ///   - count: how many channels are opened together.
    ///   - requiresSizes: whether a peer that refuses other sizes ends the pipe.
    func pipe(_ console: Console, count: Int, requiresSizes: Bool) -> ChannelPipe {
        ChannelPipe(
            console: console, linger: linger.duration,
            reconfiguration: reconfigure.map {
                ChannelPipe.Reconfiguration(
                    mtu: $0.mtu, mps: $0.mps ?? UInt16(clamping: mps), count: count, isRequired: requiresSizes)
            })
    }

    var settings: ChannelSettings {
        ChannelSettings(
            maximumTransmissionUnit: UInt16(clamping: mtu), maximumPayloadSize: UInt16(clamping: mps),
            credits: UInt16(clamping: credits))
    }
}
