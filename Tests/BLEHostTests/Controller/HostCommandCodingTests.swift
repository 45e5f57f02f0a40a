import BLEPackets
import Foundation
import Testing

@testable import BLEHost

/// Recordings stay readable for as long as there are recordings, wherever commands move in the source.
@Suite("Commands as recordings have them")
struct HostCommandCodingTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 7), generation: 2)
    private static let linkText = #"{"generation":2,"handle":7}"#

    private static let commands: [(HostCommand, String)] = [
        (.cancel(OperationID(rawValue: 5)), #"{"cancel":{"_0":5}}"#),
        (.holdIndications(true), #"{"holdIndications":{"_0":true}}"#),
        (
            .sendHCICommand(opcode: Reset.opcode, parameters: [1]),
            #"{"sendHCICommand":{"opcode":3075,"parameters":[1]}}"#
        ),
        (.stop, #"{"stop":{}}"#),
        (.link(link, .disconnect), #"{"disconnect":{"_0":LINK}}"#),
        (.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))), #"{"gatt":{"_0":LINK,"_1":{"read":{"_0":3}}}}"#),
        (.link(link, .procedure(.readRSSI)), #"{"readRSSI":{"_0":LINK}}"#),
        (.link(link, .procedure(.readRemoteVersion)), #"{"readRemoteVersion":{"_0":LINK}}"#),
        (.link(link, .procedure(.readRemoteFeatures)), #"{"readRemoteFeatures":{"_0":LINK}}"#),
        (
            .link(link, .procedure(.setDataLength(octets: 251, microseconds: 2120))),
            #"{"setDataLength":{"_0":LINK,"microseconds":2120,"octets":251}}"#
        ),
        (.link(link, .procedure(.readPHY)), #"{"readPHY":{"_0":LINK}}"#),
        (
            .link(link, .procedure(.setPHY(transmit: .le2M, receive: .le1M))),
            #"{"setPHY":{"_0":LINK,"receive":1,"transmit":2}}"#
        ),
        (
            .link(
                link,
                .procedure(
                    .updateParameters(
                        ConnectionParameterRequest(
                            interval: .milliseconds(15)...ConnectionInterval.milliseconds(30), peripheralLatency: 4,
                            supervisionTimeout: .milliseconds(5000))))),
            #"{"updateConnectionParameters":{"_0":LINK,"_1":PARAMETERS}}"#
        ),
    ]

    @Test("each command without a room and each command of a link has its text, and is read back from it")
    func texts() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for (command, pattern) in Self.commands {
            var text = pattern.replacingOccurrences(of: "LINK", with: Self.linkText)
            if case .link(_, .procedure(.updateParameters(let parameters))) = command {
                let written = String(decoding: try encoder.encode(parameters), as: UTF8.self)
                text = text.replacingOccurrences(of: "PARAMETERS", with: written)
            }
            #expect(String(decoding: try encoder.encode(command), as: UTF8.self) == text)
            #expect(try JSONDecoder().decode(HostCommand.self, from: Data(text.utf8)) == command)
        }
    }

    @Test("what is no command is an error", arguments: [#"{"readRSSI":{}}"#, #"{"fly":{"_0":1}}"#, "{}", "[]"])
    func others(text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(HostCommand.self, from: Data(text.utf8)) }
    }
}
