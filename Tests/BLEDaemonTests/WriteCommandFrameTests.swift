import BLEDaemonProtocol
import BLEHost
import BLEPackets
import Testing

@Suite("Write commands are encoded by hand")
struct WriteCommandFrameTests {
    private static let frames: [WriteCommandFrame] = {
        var frames: [WriteCommandFrame] = []
        for operation: UInt64 in [1, 127, 128, 1 << 35, .max] {
            for handle: UInt16 in [1, 0x7F, 0x80, 0xFFFF] {
                for count in [1, 20, 127, 128, 512] {
                    frames.append(
                        WriteCommandFrame(
                            OperationID(rawValue: operation), LinkID(wire: 0x0123_4567_0040),
                            AttributeHandle(rawValue: handle),
                            value: (0..<count).map { UInt8(truncatingIfNeeded: $0) }))
                }
            }
        }
        return frames
    }()

    private func message(_ frame: [UInt8]) throws -> ArraySlice<UInt8> {
        var reader = FrameReader(limit: BledProtocol.requestLimit)
        reader.append(frame.span.bytes)
        let message = try #require(try reader.next())
        #expect(reader.waitingOctets == 0)
        return message
    }

    private func request(_ frame: WriteCommandFrame) -> WireFromClient {
        WireFromClient.with {
            $0.request.operation = frame.operation.rawValue
            $0.request.gatt.link = frame.link.wire
            $0.request.gatt.writeCommand.handle = UInt32(frame.handle.rawValue)
            $0.request.gatt.writeCommand.value = .init(frame.value)
        }
    }

    @Test("a request is what the schema's own encoder makes, and is read back")
    func requests() throws {
        for frame in Self.frames {
            #expect(frame.framed() == request(frame).framed())
            // Numbers of ten octets are left to the other decoder.
            let isLong = frame.operation.rawValue == .max
            #expect(WriteCommandFrame(message: try message(frame.framed())) == (isLong ? nil : frame))
        }
    }

    @Test("the end of one is what the schema's own encoder makes, and is read back")
    func ends() throws {
        for operation: UInt64 in [1, 127, 128, 1 << 35] {
            let number = OperationID(rawValue: operation)
            let frame = WriteCommandFrame.written(number)
            var expected = WireFromDaemon()
            expected.completed = WireCompleted(number, .success(.gatt(.written)))
            #expect(frame == expected.framed())
            #expect(WriteCommandFrame.writtenOperation(in: try message(frame)) == number)
        }
    }

    @Test("whatever octets it accepts mean the same to the schema's own decoder")
    func mutations() throws {
        var generator = Mutations(state: 5)
        var accepted = 0
        for round in 0..<20_000 * Mutations.repetitions {
            let frame = Self.frames[generator.next(Self.frames.count)]
            let isEnd = round % 2 == 1
            var octets = Array(try message(isEnd ? WriteCommandFrame.written(frame.operation) : frame.framed()))
            for _ in 0...generator.next(2) {
                switch generator.next(3) {
                case 0: octets[generator.next(min(40, octets.count))] = UInt8(truncatingIfNeeded: generator.next(256))
                case 1: octets.removeLast(generator.next(octets.count))
                default: octets.insert(UInt8(truncatingIfNeeded: generator.next(256)), at: generator.next(octets.count))
                }
            }
            if isEnd {
                guard let number = WriteCommandFrame.writtenOperation(in: octets[...]) else { continue }
                let decoded = try WireFromDaemon(octets: octets[...])
                #expect(decoded.completed == WireCompleted(number, .success(.gatt(.written))))
            } else {
                guard let own = WriteCommandFrame(message: octets[...]) else { continue }
                var decoded = try WireFromClient(octets: octets[...])
                // Links have fewer bits than their field.
                decoded.request.gatt.link = LinkID(wire: decoded.request.gatt.link).wire
                #expect(decoded == request(own))
            }
            accepted += 1
        }
        #expect(accepted > 1000)
    }
}
