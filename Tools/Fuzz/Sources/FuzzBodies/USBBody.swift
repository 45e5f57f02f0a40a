import BLEPackets
import BLEUSB

/// The first octet chooses between what a device says of itself and the pieces of its packets.
enum USBBody {
    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let choice = input.byte()
        switch choice % 3 {
        case 0: return descriptors(&input)
        case 1: return pieces(.event, &input)
        default: return pieces(.acl, &input)
        }
    }

    private static func descriptors(_ input: inout FuzzInput) -> String? {
        let flags = input.byte()
        guard let device = try? USBDescriptors(input.rest()) else { return nil }
        _ = BluetoothFunction(device, activeConfiguration: flags >> 1, isNamed: flags & 1 != 0)
        return nil
    }

    private static func pieces(_ kind: USBPacketAssembler.Kind, _ input: inout FuzzInput) -> String? {
        var assembler = USBPacketAssembler(kind)
        var (received, delivered) = (0, 0)
        var violation: String?
        while !input.isAtEnd {
            let piece = input.counted()
            if piece.isEmpty { assembler.pieceWasLost() }
            received += piece.count
            assembler.receive(piece.span.bytes) { packet in
                delivered += packet.count - 1
                let length =
                    kind == .event
                    ? packet.count >= 3 ? 3 + Int(packet[2]) : nil
                    : packet.count >= 5 ? 5 + Int(packet[3]) + Int(packet[4]) << 8 : nil
                if packet.count != length { violation = "a packet of another length than it says: \(packet)" }
            }
        }
        return violation ?? (delivered > received ? "more octets come out than went in" : nil)
    }
}
