import BLE
import BLEManagement
import BLEUpdate

/// The decoders of firmware update, and its machines under whatever a device sends.
enum UpdateBody {
    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        switch input.byte() % 6 {
        case 0:
            guard let value = try? CBORReader.value(in: input.rest()) else { return nil }
            let written = value.encoded
            guard let again = try? CBORReader.value(in: written) else { return "what was written cannot be read" }
            return again.encoded == written ? nil : "the same value is written in two ways"
        case 1:
            _ = try? NordicInitCommand(input.rest())
            return nil
        case 2:
            guard let archive = try? ZipArchive(input.rest()) else { return nil }
            for name in archive.names { _ = try? archive.file(name) }
            return nil
        case 3:
            let image = [UInt8](repeating: 7, count: 3000)
            let interval = Int(input.byte() % 8)
            return drive(
                SecureDFU(
                    initPacket: [1, 2, 3], image: image, packetLimit: 64,
                    receiptInterval: interval == 7 ? nil : interval), &input)
        case 4:
            return drive(
                LegacyDFU(
                    .init(
                        initPacket: [UInt8](repeating: 1, count: 14), image: [UInt8](repeating: 7, count: 1000),
                        applicationByteCount: 1000, receiptInterval: Int(input.byte() % 8))), &input)
        default:
            return drive(
                ManagementUpload(
                    .init(
                        group: 1, command: 1, data: [UInt8](repeating: 7, count: 3000),
                        firstMembers: [.init(.text("len"), .integer(3000))], frameLimit: 128, writeLimit: 64,
                        window: Int(input.byte() % 8))), &input)
        }
    }

    /// A machine ends once, and says nothing afterwards.
    private static func drive(_ start: some UpdateMachine, _ input: inout FuzzInput) -> String? {
        var machine = start
        var now = Instant.zero
        var hasEnded = false
        func drained() -> String? {
            var count = 0
            while let action = machine.nextAction() {
                count += 1
                if count > 10_000 { return "actions without end" }
                if hasEnded { return "an action after the end: \(action)" }
                switch action {
                case .finished, .failed: hasEnded = true
                case .progress(let done, let total) where done < 0 || done > total: return "\(done) of \(total) octets"
                default: break
                }
            }
            return hasEnded && machine.nextDeadline != nil ? "a deadline after the end" : nil
        }
        machine.receive(.ready, at: now)
        if let violation = drained() { return violation }
        while !input.isAtEnd {
            let step = input.byte()
            if step < 0x20 {
                now = now.advanced(by: Microseconds(rawValue: Int64(step) * 1_000_000))
                machine.advance(to: now)
            } else if step < 0x28 {
                machine.receive(.written, at: now)
            } else {
                machine.receive(.notified(input.counted()), at: now)
            }
            if let violation = drained() { return violation }
        }
        return nil
    }
}
