import BLEPackets

/// The first octet chooses the decoder, the rest is the packet.
enum PacketBody {
    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let choice = input.byte()
        let rest = input.rest()
        switch choice % 9 {
        case 0: return event(rest)
        case 1: return attribute(rest)
        case 2: return signalling(rest)
        case 3: return frame(rest)
        case 4: return command(rest)
        case 5: return reports(rest)
        case 6: return framer(rest)
        case 7: return data(rest)
        default: return pairing(rest)
        }
    }

    private static func event(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let event = try HCIEventPacket(decoding: bytes.span.bytes)
            var packet = PacketWriter()
            event.encode(into: &packet)
            let again: HCIEventPacket
            do throws(DecodingError) { again = try HCIEventPacket(decoding: packet.bytes.span.bytes) } catch {
                return "an event that was decoded does not decode again: \(event): \(error)"
            }
            return again == event ? nil : "an event changes when it is encoded: \(event) becomes \(again)"
        } catch {
            return nil
        }
    }

    private static func attribute(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let packet = try ATTPacket(bytes.span.bytes)
            var writer = PacketWriter()
            packet.encode(into: &writer)
            guard writer.bytes == bytes else { return "an ATT PDU changes: \(bytes) becomes \(writer.bytes)" }
            return nil
        } catch {
            return nil
        }
    }

    private static func pairing(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let packet = try SMPPacket(bytes.span.bytes)
            let octets = packet.encoded()
            guard octets.count == bytes.count else { return "a pairing PDU changes its length: \(bytes)" }
            let again: SMPPacket
            do throws(DecodingError) { again = try SMPPacket(octets.span.bytes) } catch {
                return "a pairing PDU does not decode again: \(bytes): \(error)"
            }
            return again == packet ? nil : "a pairing PDU changes: \(bytes) becomes \(octets)"
        } catch {
            return nil
        }
    }

    private static func signalling(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let packet = try L2CAPSignallingPacket(decoding: bytes.span.bytes)
            let identifier = packet.identifier
            let command = try LESignallingCommand(decoding: packet)
            var writer = PacketWriter()
            command.encodePacket(identifier: identifier, into: &writer)
            do throws(DecodingError) {
                let packet = try L2CAPSignallingPacket(decoding: writer.bytes.span.bytes)
                let again = try LESignallingCommand(decoding: packet)
                var second = PacketWriter()
                again.encodePacket(identifier: identifier, into: &second)
                return second.bytes == writer.bytes ? nil : "a signalling command changes: \(bytes)"
            } catch {
                return "a signalling command does not decode again: \(bytes): \(error)"
            }
        } catch {
            return nil
        }
    }

    private static func frame(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let frame = try L2CAPBasicFrame(decoding: bytes.span.bytes)
            return frame.payload.byteCount <= bytes.count ? nil : "a frame is longer than its octets"
        } catch {}
        do throws(DecodingError) {
            let start = try L2CAPServiceDataUnitStart(decoding: bytes.span.bytes)
            _ = L2CAPServiceDataUnitStart.frameCount(unitLength: start.unitLength, maximumPayloadSize: 23)
        } catch {}
        return nil
    }

    private static func command(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let command = try HCICommandPacket(decoding: bytes.span.bytes)
            var writer = PacketWriter()
            command.encode(into: &writer)
            return writer.bytes == bytes ? nil : "a command changes: \(bytes) becomes \(writer.bytes)"
        } catch {
            return nil
        }
    }

    private static func reports(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            var reports = try LEAdvertisingReports(decoding: bytes.span.bytes)
            while let report = try reports.next() { _ = report.data.contentHash() }
        } catch {}
        do throws(DecodingError) {
            var reports = try LEExtendedAdvertisingReports(decoding: bytes.span.bytes)
            while let report = try reports.next() { _ = report.data.contentHash() }
        } catch {}
        return nil
    }

    /// The same octets in one chunk and octet by octet give the same packets.
    private static func framer(_ bytes: [UInt8]) -> String? {
        func packets(chunk: Int) -> ([[UInt8]], Bool) {
            var framer = H4Framer()
            var packets: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let piece = Array(bytes[start..<min(bytes.count, start + chunk)])
                start += chunk
                do throws(DecodingError) {
                    try framer.receive(piece.span.bytes) { packets.append($0.copied()) }
                } catch {
                    return (packets, false)
                }
            }
            return (packets, true)
        }
        let whole = packets(chunk: max(1, bytes.count))
        let pieces = packets(chunk: 1)
        return whole == pieces ? nil : "a stream gives other packets in pieces: \(bytes)"
    }

    private static func data(_ bytes: [UInt8]) -> String? {
        do throws(DecodingError) { _ = try ACLDataPacket(decoding: bytes.span.bytes) } catch {}
        do throws(DecodingError) { _ = try SynchronousDataPacket(decoding: bytes.span.bytes) } catch {}
        do throws(DecodingError) { _ = try IsochronousDataPacket(decoding: bytes.span.bytes) } catch {}
        do throws(DecodingError) { _ = try H4PacketView(decoding: bytes.span.bytes) } catch {}
        return nil
    }
}
