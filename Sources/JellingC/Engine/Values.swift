import BLEHost
import BLEPackets
import CJelling

extension LinkID {
    init(_ link: jelling_link) {
        self.init(
            handle: ConnectionHandle(rawValue: UInt16(truncatingIfNeeded: link)),
            generation: UInt32(truncatingIfNeeded: link >> 16))
    }

    var number: jelling_link { UInt64(generation) << 16 | UInt64(handle.rawValue) }
}

extension DeviceAddress {
    init(_ address: jelling_address) {
        let octets = address.octets
        var value: UInt64 = 0
        for octet in [octets.0, octets.1, octets.2, octets.3, octets.4, octets.5] { value = value << 8 | UInt64(octet) }
        self.init(value: value, kind: address.is_random != 0 ? .random : .public)
    }
}

extension jelling_address {
    init(_ address: DeviceAddress) {
        func octet(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: address.value >> (8 * index)) }
        self.init(
            octets: (octet(5), octet(4), octet(3), octet(2), octet(1), octet(0)), is_random: address.isRandom ? 1 : 0,
            reserved: 0)
    }

    init(_ address: DeviceAddress?) {
        if let address { self.init(address) } else { self.init() }
    }
}

extension BluetoothUUID {
    init?(_ uuid: jelling_uuid) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        unsafe withUnsafeBytes(of: uuid.octets) { octets in
            for index in 0..<8 {
                high = unsafe high << 8 | UInt64(octets[index])
                low = unsafe low << 8 | UInt64(octets[index + 8])
            }
        }
        let whole = BluetoothUUID(high: high, low: low)
        switch uuid.width {
        case 0: self = whole.shortened
        case 2:
            guard let short = whole.shortValue else { return nil }
            self.init(short)
        case 4:
            guard whole.isOnBase else { return nil }
            self.init(UInt32(truncatingIfNeeded: high >> 32))
        case 16: self = whole
        default: return nil
        }
    }
}

extension jelling_uuid {
    init(_ uuid: BluetoothUUID) {
        self.init()
        var octets = self.octets
        unsafe withUnsafeMutableBytes(of: &octets) { octets in
            for index in 0..<8 {
                unsafe octets[index] = UInt8(truncatingIfNeeded: uuid.high >> (8 * UInt64(7 - index)))
                unsafe octets[index + 8] = UInt8(truncatingIfNeeded: uuid.low >> (8 * UInt64(7 - index)))
            }
        }
        self.octets = octets
        width = uuid.width.rawValue
    }
}

extension AttributeHandleRange {
    init(_ first: UInt16, _ last: UInt16) {
        self.init(AttributeHandle(rawValue: first), AttributeHandle(rawValue: last))
    }
}

extension jelling_connection_parameters {
    init(_ parameters: ConnectionParameters) {
        self.init(
            interval: parameters.interval.rawValue, latency: parameters.peripheralLatency,
            supervision_timeout: parameters.supervisionTimeout.rawValue, reserved: 0)
    }
}

extension jelling_data_length {
    init(_ length: DataLength) {
        self.init(
            transmit_octets: length.maxTransmitOctets, transmit_microseconds: length.maxTransmitMicroseconds,
            receive_octets: length.maxReceiveOctets, receive_microseconds: length.maxReceiveMicroseconds)
    }
}

extension jelling_pairing_summary {
    init(_ summary: PairingSummary) {
        self.init()
        identity = jelling_address(summary.identity)
        is_secure_connections = summary.isSecureConnections ? 1 : 0
        is_authenticated = summary.isAuthenticated ? 1 : 0
        key_size = summary.keySize
        is_bonded = summary.isBonded ? 1 : 0
        was_bonded = summary.wasBonded ? 1 : 0
    }
}

extension jelling_channel {
    init(_ channel: ChannelInformation) {
        self.init(
            link: channel.id.link.number, number: channel.id.number, spsm: channel.spsm, send_mtu: channel.sendMTU,
            receive_mtu: channel.receiveMTU, reserved: 0)
    }
}
