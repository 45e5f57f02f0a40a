import BLEPackets

/// What a GATT client does with what its peer sends.
enum AttributeMeasurements {
    static let all: [Measurement] = [
        Measurement("notification (20 B), decode and encode", nanoseconds: 50, allocations: 0) { count in
            var packet = PacketWriter(reservingCapacity: 64)
            return turns(count, over: Samples.notifications) { pdu in
                do throws(DecodingError) {
                    let notification = try ATTHandleValueNotification(pdu.span.bytes)
                    packet.removeAll()
                    notification.encode(into: &packet)
                    return UInt64(notification.handle.rawValue) &+ UInt64(packet.count)
                } catch {
                    return 0
                }
            }
        },
        Measurement("notification (20 B), decode alone", allocations: 0) { count in
            turns(count, over: Samples.notifications) { pdu in
                do throws(DecodingError) {
                    let notification = try ATTHandleValueNotification(pdu.span.bytes)
                    return UInt64(notification.handle.rawValue) &+ UInt64(notification.value.byte(at: 0) ?? 0)
                } catch {
                    return 0
                }
            }
        },
        Measurement("notification (20 B) in its ACL packet (H4), decode", allocations: 0) { count in
            turns(count, over: Samples.notificationPackets) { packet in
                do throws(DecodingError) {
                    let data = try ACLDataPacket(decoding: packet.span.bytes.extracting(droppingFirst: 1))
                    let frame = try L2CAPBasicFrame(decoding: data.data)
                    guard frame.channelIdentifier == .attributeProtocol else { return 0 }
                    let notification = try ATTHandleValueNotification(frame.payload)
                    return UInt64(notification.handle.rawValue) &+ UInt64(data.connectionHandle.rawValue)
                } catch {
                    return 0
                }
            }
        },
        Measurement("notification (20 B) in its ACL packet (H4), encode", allocations: 0) { count in
            var packet = PacketWriter(reservingCapacity: 64)
            return turns(count, over: Samples.notifications) { pdu in
                let length = L2CAPBasicFrame.Header.byteCount + pdu.count
                packet.removeAll()
                ACLDataPacket.encodePacketHeader(
                    into: &packet, handle: ConnectionHandle(rawValue: 0x40), boundary: .firstNonFlushable,
                    length: length)
                L2CAPBasicFrame.encode(on: .attributeProtocol, into: &packet) { $0.write(bytes: pdu.span.bytes) }
                return UInt64(packet.count)
            }
        },
        Measurement("Read By Type Response (3 characteristics) to all elements", allocations: 0) { count in
            turns(count, over: Samples.characteristicDeclarations) { pdu in
                var checksum: UInt64 = 0
                do throws(DecodingError) {
                    var response = try ATTReadByTypeResponse(pdu.span.bytes)
                    while let element = response.next() {
                        var reader = PacketReader(element.value)
                        let properties = try reader.read(UInt8.self)
                        let valueHandle = try reader.read(UInt16.self)
                        let uuid = try BluetoothUUID(decoding: &reader, width: .bits16)
                        checksum &+= UInt64(element.handle.rawValue) &+ UInt64(properties) &+ UInt64(valueHandle)
                        checksum &+= uuid.high
                    }
                } catch {
                    return 0
                }
                return checksum
            }
        },
    ]
}
