import BLEPackets
import BLETransport

/// Overwrites what is secret in HCI packets with zeros: keys in commands and events, and the keys and nonces of
/// pairings. A key that the peer distributes over an encrypted link crosses HCI unencrypted.
///
/// Packets of a link may be fragments, so the mask knows for each link and direction how far the current L2CAP PDU is.
struct KeyMask {
    /// A PDU of which further fragments may come.
    private struct Progress {
        /// Octets so far, with the header of L2CAP.
        var position = 0
        var channel: UInt16 = 0
        var isSecret = false

        static let unseen = Progress(position: 5, isSecret: true)
    }

    /// By connection handle and direction: at most two for each of 4096 handles.
    private var pdus: [UInt32: Progress] = [:]

    /// The packet without its secrets.
    mutating func masked(_ packet: RawSpan, _ direction: PacketDirection) -> [UInt8] {
        var octets = packet.copied()
        switch octets.first {
        case 1: maskCommand(&octets)
        case 2: maskData(&octets, direction)
        case 4: maskEvent(&octets)
        default: break
        }
        return octets
    }

    // MARK: Commands and events (Core 5.4, Vol 4, Part E, 7)

    private func maskCommand(_ octets: inout [UInt8]) {
        guard octets.count >= 4 else { return }
        switch UInt16(octets[1]) | UInt16(octets[2]) << 8 {
        // LE Encrypt: key and plaintext.
        case 0x2017: clear(&octets, from: 4, count: 32)
        // LE Enable Encryption, LE Long Term Key Request Reply.
        case 0x2019: clear(&octets, from: 16, count: 16)
        case 0x201A: clear(&octets, from: 6, count: 16)
        // LE Add Device To Resolving List: both identity resolving keys.
        case 0x2027: clear(&octets, from: 11, count: 32)
        // LE Create BIG, its test, LE BIG Create Sync: the broadcast code.
        case 0x2068, 0x2069, 0x206B: clear(&octets, from: 4, count: .max)
        // Keys, PIN codes, passkeys and out-of-band data of BR/EDR.
        case 0x0C11, 0x040B, 0x040D, 0x042E, 0x0430, 0x0445: clear(&octets, from: 4, count: .max)
        default: break
        }
    }

    private func maskEvent(_ octets: inout [UInt8]) {
        guard octets.count >= 3 else { return }
        switch octets[1] {
        // Command Complete of LE Encrypt, LE Rand, and Read Local OOB Data.
        case 0x0E where octets.count >= 6:
            let opcode = UInt16(octets[4]) | UInt16(octets[5]) << 8
            if [0x2017, 0x2018, 0x0C57, 0x0C7D].contains(opcode) { clear(&octets, from: 7, count: .max) }
        // LE Generate DHKey Complete.
        case 0x3E where octets.count >= 4 && octets[3] == 0x09: clear(&octets, from: 5, count: 32)
        // Link Key Notification, Return Link Keys, User Passkey Notification.
        case 0x18, 0x15, 0x3B: clear(&octets, from: 3, count: .max)
        default: break
        }
    }

    private func clear(_ octets: inout [UInt8], from start: Int, count: Int) {
        guard start < octets.count else { return }
        for place in start..<(start + min(count, octets.count - start)) { octets[place] = 0 }
    }

    // MARK: Data

    /// Pairing Random, Encryption Information, Identity Information and Signing Information of the Security Manager
    /// (Core 5.4, Vol 3, Part H, 3.5 and 3.6). With the nonces and the confirm values, a passkey could be computed.
    private static let secretCodes: Set<UInt8> = [0x04, 0x06, 0x08, 0x0A]
    /// The Security Manager on LE and on BR/EDR.
    private static let securityChannels: Set<UInt16> = [6, 7]

    private mutating func maskData(_ octets: inout [UInt8], _ direction: PacketDirection) {
        // Type, handle with flags, length.
        guard octets.count >= 5 else { return }
        let handle = UInt32(octets[1]) | UInt32(octets[2] & 0x0F) << 8
        let key = handle | (direction == .hostToController ? 1 << 16 : 0)
        let isContinued = octets[2] >> 4 & 0b11 == 0b01
        // Of a PDU whose beginning was not seen, anything may be a key.
        var pdu = isContinued ? pdus[key] ?? .unseen : Progress()
        for place in octets.indices.dropFirst(5) {
            switch pdu.position {
            case 2: pdu.channel = UInt16(octets[place])
            case 3: pdu.channel |= UInt16(octets[place]) << 8
            case 4:
                pdu.isSecret =
                    Self.securityChannels.contains(pdu.channel) && Self.secretCodes.contains(octets[place])
            case 5...: if pdu.isSecret { octets[place] = 0 }
            default: break
            }
            pdu.position += 1
            // Nothing of what follows is secret.
            if pdu.position > 5, !pdu.isSecret { break }
        }
        pdus[key] = pdu
    }
}
