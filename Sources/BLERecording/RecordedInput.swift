import BLEHost

/// One line of `NAME.inputs.jsonl`: what came into the engine, and when.
///
/// The first line of the file is a `RecordingHeader`. Packets are not repeated here: `packet` counts those that came
/// from the controller in `NAME.btsnoop`, from 0.
///
///     {"at":1200,"transportOpened":true}
///     {"at":1350,"packet":0}
///     {"at":2000,"client":0,"command":{"scan":{"_0":{…}}}}
///     {"at":2100,"result":{"octets":{…}},"toolbox":1}
///     {"at":9000,"advance":true}
struct RecordedInput: Codable, Equatable {
    /// Microseconds on the engine's time line.
    var at: Int64
    var transportOpened: Bool?
    var transportClosed: Bool?
    var packet: UInt64?
    var command: HostCommand?
    var client: ClientID?
    var advance: Bool?
    /// The number of the question that `result` answers.
    var toolbox: UInt64?
    var result: ToolboxResult?

    private init(at time: Instant) { at = time.microseconds }

    /// - Parameter packetNumber: the number that a packet has.
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
        case .advance: advance = true
        }
    }

    var time: Instant { Instant(microseconds: at) }

    /// The input; `nil` for a packet, which stands in the other file, and for a line that says nothing.
    var input: HostInput? {
        if let command { return .command(command, client ?? .local) }
        if let toolbox, let result { return .toolbox(toolbox, result) }
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
}
