import BLEMessages
import BLEPackets
import Testing

@testable import BLEHost

/// Recordings stay readable for as long as there are recordings, wherever commands move in the source.
@Suite("Commands as recordings have them")
struct HostCommandCodingTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 7), generation: 2)
    private static let commands: [(HostCommand, String)] = [
        (.cancel(OperationID(rawValue: 5)), #"{"cancel":{"operation":5}}"#),
        (.withholdConfirmations(true), #"{"hold_indications":true}"#),
        (
            .sendHCICommand(opcode: Reset.opcode, parameters: [1]),
            #"{"hci_command":{"opcode":3075,"parameters":"01"}}"#
        ),
        (.stop, #"{"stop":{}}"#),
        (.link(link, .disconnect), #"{"disconnect":{"link":131079}}"#),
        (.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))), #"{"gatt":{"link":131079,"read":3}}"#),
        (.link(link, .procedure(.readRSSI)), #"{"read_rssi":{"link":131079}}"#),
        (.link(link, .procedure(.readRemoteVersion)), #"{"procedure":{"link":131079,"read_remote_version":{}}}"#),
        (.link(link, .procedure(.readRemoteFeatures)), #"{"procedure":{"link":131079,"read_remote_features":{}}}"#),
        (
            .link(link, .procedure(.setDataLength(octets: 251, microseconds: 2120))),
            #"{"procedure":{"link":131079,"set_data_length":{"octets":251,"microseconds":2120}}}"#
        ),
        (.link(link, .procedure(.readPHY)), #"{"procedure":{"link":131079,"read_phy":{}}}"#),
        (
            .link(link, .procedure(.setPHY(transmit: .le2M, receive: .le1M))),
            #"{"procedure":{"link":131079,"set_phy":{"transmit":2,"receive":1}}}"#
        ),
        (
            .link(
                link,
                .procedure(
                    .updateParameters(
                        ConnectionParameterRequest(
                            interval: .milliseconds(15)...ConnectionInterval.milliseconds(30), peripheralLatency: 4,
                            supervisionTimeout: .milliseconds(5000))))),
            #"{"update_parameters":{"link":131079,"parameters":{"minimum_interval":12,"maximum_interval":24,"#
                + #""peripheral_latency":4,"supervision_timeout":500}}}"#
        ),
    ]

    @Test("each command without a room and each command of a link has its text, and is read back from it")
    func texts() throws {
        for (command, text) in Self.commands {
            #expect(String(decoding: try command.json(), as: UTF8.self) == text)
            #expect(try HostCommand(text: text) == command)
        }
    }

    @Test("what is no command is an error", arguments: [#"{"read_rssi":7}"#, #"{"fly":{"link":1}}"#, "{}", "[]"])
    func others(text: String) {
        #expect(throws: MessageJSONProblem.self) { try HostCommand(text: text) }
    }
}
