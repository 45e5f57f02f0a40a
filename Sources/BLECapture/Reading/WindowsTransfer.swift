// A record of USBPcap has a header (`USBPCAP_BUFFER_PACKET_HEADER`), all of it little-endian: its length (16 bits), request
// (64), status (32), function (16), completion (8), bus (16), device (16), endpoint (8), kind of transfer (8), length of the
// data (32); of control transfers also the stage (8).
extension CaptureReader {
    /// The transfer in a record, and where its data begins; `nil` for a record that ends within its header.
    mutating func windowsTransfer(
        at position: Int, count: Int, originalByteCount: Int
    ) -> (transfer: USBTransfer, data: Int)? {
        func octet(_ place: Int) -> UInt8 { buffer.load(at: position + place, bigEndian: false) }
        func number(_ place: Int) -> UInt16 { buffer.load(at: position + place, bigEndian: false) }
        let header = Int(number(0))
        guard header >= 27, header <= count else { return nil }
        let address = USBControllers.Address(bus: number(17), number: UInt8(truncatingIfNeeded: number(19)))
        var start = header
        let kind: USBTransfer.Kind? =
            switch octet(22) {
            case 0: .isochronous
            case 1: .interrupt
            case 2: .control
            case 3: .bulk
            default: nil
            }
        var isCommand = false
        if kind == .control, header >= 28 {
            switch octet(27) {
            case 0:
                // The setup packet; data follows it, or comes in a record of its own.
                let isSetUp = count >= header + 8 && octet(header) == 0x20
                let isRequest = isSetUp && (octet(header + 1) == 0x00 || octet(header + 1) == 0xE0)
                start = min(header + 8, count)
                isCommand = isRequest && count > start
                controllers.announced = isRequest && count == start ? address : nil
            case 1:
                isCommand = controllers.announced == address
                controllers.announced = nil
            default: break
            }
        }
        let isCompletion = octet(16) & 1 == 1
        let transfer = USBTransfer(
            device: address, kind: kind, isSubmission: !isCompletion, isCompletion: isCompletion,
            isToHost: octet(21) & 0x80 != 0, isSuccess: number(10) == 0 && number(12) == 0,
            isCommand: isCommand && !isCompletion, count: count - start, missing: max(0, originalByteCount - count))
        return (transfer, position + start)
    }
}
