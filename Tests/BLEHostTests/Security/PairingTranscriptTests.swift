import Foundation
import Testing

@testable import BLEHost

/// Pairings of another stack: given its keys and nonces, this one says the same, octet for octet.
@Suite struct PairingTranscriptTests {
    @Test(
        "Transcripts of other stacks are repeated octet for octet",
        .enabled(if: Transcripts.file.isPresent, Transcripts.file.absence),
        arguments: Transcripts.all)
    func transcript(_ loaded: Transcripts.Loaded) throws {
        if !loaded.unknownFields.isEmpty {
            Issue.record("unknown fields, not checked: \(loaded.unknownFields)", severity: .warning)
        }
        try TranscriptPlayer(try loaded.transcript.get()).play()
    }

    @Test("The file can be read", .enabled(if: Transcripts.file.isPresent, Transcripts.file.absence))
    func readable() throws {
        #expect(try Transcripts.file.content.get()?.tests.isEmpty == false)
    }

    @Test("Transcripts of an independent computation are repeated octet for octet", arguments: Transcripts.own)
    func own(_ loaded: Transcripts.Loaded) throws {
        #expect(loaded.unknownFields.isEmpty)
        try TranscriptPlayer(try loaded.transcript.get()).play()
    }

    @Test("The transcripts of an independent computation are there")
    func ownIsPresent() { #expect(Transcripts.own.count > 100) }

    /// The same facts without the file: a responder's Just Works over Secure Connections.
    @Test("A responder's Just Works is repeated octet for octet")
    func builtIn() throws {
        let text = """
            {"name":"responder, just works","pairing":"secure_connections","local_role":"responder","method":"just_works",
            "initiator_address":{"type":0,"bytes_lsb_first":"ca61a06794e0"},
            "responder_address":{"type":0,"bytes_lsb_first":"33221100450a"},
            "local_private_key_lsb_first":"548d20b8970bbc439aad106f6074d46a55c17a178b60e0b45ae658f1ea12d9fb",
            "smp_pdus_phase1_2":[{"from":"initiator","pdu":"01030009100d0f"},{"from":"responder","pdu":"02030009100507"},
            {"from":"initiator","pdu":"0cbcf2d8a5dba3956c99f9110d4d2ef0bdee9b69b6cd8874be40e8e5ccdc884453bfa9820e187a14f877\
            fd8e922af85d39d16d921f387499dc6c2c9423f97256ab"},
            {"from":"responder","pdu":"0c728cd188d7be49b2c55c95b364e01232b6c9476337385b9c1e1b1a0609e23185193a296962d630e7e8\
            4863dc00730a707d2e29cc917771b175b8f7dcb0e29110"},
            {"from":"responder","pdu":"0382edd062913d967f13c50d022b5e4316"},
            {"from":"initiator","pdu":"04a4345fb3af734364cd191b5b87583166"},
            {"from":"responder","pdu":"04c091fbb377a2020bc6cd6c0451454539"},
            {"from":"initiator","pdu":"0d82651d02ed891344041a147c329a1e7d"},
            {"from":"responder","pdu":"0d063c284ae5484b51654e145e2fddfa22"}],
            "expected":{"ltk_lsb_first":"63598a14094b946effae5e538602a36c","authenticated":false}}
            """
        let transcript = try Transcripts.decoder.decode(Transcript.self, from: Data(text.utf8))
        try TranscriptPlayer(transcript).play()
    }
}
