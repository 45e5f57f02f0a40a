import BLEHost

#if JELLING_WITHOUT_CODING
#error("recordings need the engine's Codable types: build without JELLING_WITHOUT_CODING (firmware.toolset.json)")
#endif

/// One line of `NAME.inputs.jsonl`: an input of the engine and its time.
///
/// The first line of the file is a `RecordingHeader`. Packets are not repeated here: `packet` is the number of a packet
/// from the controller in `NAME.btsnoop`, from 0.
///
///     {"at":1200,"transportOpened":true}
///     {"at":1350,"packet":0}
///     {"at":2000,"client":0,"command":{"scan":{"_0":{…}}}}
///     {"at":2100,"result":{"octets":{…}},"toolbox":1}
///     {"at":9000,"advance":true}
///     {"at":9000,"end":true}
struct RecordedInput: Codable, Equatable {
    /// The engine's time in microseconds.
    var at: Int64
    var transportOpened: Bool?
    var transportClosed: Bool?
    var packet: UInt64?
    var command: HostCommand?
    var client: ClientID?
    /// The client that works for `user` from now on.
    var userOf: ClientID?
    var user: ClientUser?
    var advance: Bool?
    /// The number of the question that `result` answers.
    var toolbox: UInt64?
    var result: ToolboxResult?
    /// The last line: the program ended normally, and no input is missing.
    var end: Bool?

    private init(at time: Instant) { at = time.microseconds }

    /// - Parameter packetNumber: the number of the packet, if the input is one.
    init(_ input: HostInput, at time: Instant, packetNumber: UInt64) {
        self.init(at: time)
        switch input {
        case .transportOpened: transportOpened = true
        case .transportClosed: transportClosed = true
        case .packet: packet = packetNumber
        case .command(let command, let client):
            self.command = command
            self.client = client
        case .toolbox(let question, let result):
            toolbox = question
            self.result = result
        case .user(let user, let client):
            self.user = user
            userOf = client
        case .advance: advance = true
        }
    }

    /// The last line of a recording.
    static func ending(at time: Instant) -> Self {
        var line = Self(at: time)
        line.end = true
        return line
    }

    var time: Instant { Instant(microseconds: at) }

    /// The input; `nil` for a packet, which is in the other file, and for a line without an input.
    var input: HostInput? {
        if let command { return .command(command, client ?? .local) }
        if let toolbox, let result { return .toolbox(toolbox, result) }
        if let userOf { return .user(user, userOf) }
        if transportOpened == true { return .transportOpened }
        if transportClosed == true { return .transportClosed }
        return advance == true ? .advance : nil
    }
}

/// The first line of `NAME.inputs.jsonl`.
struct RecordingHeader: Codable, Equatable {
    static let currentVersion = 1

    /// The version of the format.
    var recording: Int
    var configuration: HostConfiguration
    /// Whether a complete recording has a last line; `nil` in early recordings, which have none.
    var hasEnding: Bool?
}
