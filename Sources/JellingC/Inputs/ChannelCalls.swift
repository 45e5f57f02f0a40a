// The names are those of jelling.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEHost
import BLEPackets
import CJelling

/// What a caller wants of a channel, or of those that a listener accepts.
private struct ChannelWish {
    var settings = ChannelSettings()
    var requiresEncryption = false
    var demand: ChannelSecurity?

    init?(_ pointer: UnsafePointer<jelling_channel_settings>?) {
        guard let pointer = unsafe pointer else { return }
        var wished = jelling_channel_settings()
        guard unsafe read(&wished, from: pointer) else { return nil }
        func number(_ value: UInt32, _ usual: UInt16, _ range: ClosedRange<UInt32>) -> UInt16? {
            if value == 0 { return usual }
            return range.contains(value) ? UInt16(exactly: value) : nil
        }
        guard let mtu = number(wished.mtu, settings.maximumTransmissionUnit, 23...65535),
            let mps = number(wished.mps, settings.maximumPayloadSize, 23...2044),
            let credits = number(wished.credits, settings.credits, 1...65535)
        else { return nil }
        settings = ChannelSettings(maximumTransmissionUnit: mtu, maximumPayloadSize: mps, credits: credits)
        requiresEncryption = wished.requires_encryption != 0 || wished.requires_authentication != 0
        if wished.requires_authentication != 0 { demand = ChannelSecurity(requiresAuthentication: true) }
    }
}

extension ChannelID {
    init(_ link: jelling_link, _ number: UInt32) { self.init(link: LinkID(link), number: number) }
}

private func listening(_ spsm: UInt16, _ settings: UnsafePointer<jelling_channel_settings>?) -> HostCommand? {
    guard spsm <= 0xFF, let wish = unsafe ChannelWish(settings) else { return nil }
    return .channel(
        .listen(
            spsm: spsm == 0 ? nil : spsm, wish.settings, requiresEncryption: wish.requiresEncryption,
            demanding: wish.demand))
}

private func opening(
    _ link: jelling_link, _ spsm: UInt16, _ settings: UnsafePointer<jelling_channel_settings>?
) -> HostCommand? {
    guard (1...0xFF).contains(spsm), let wish = unsafe ChannelWish(settings) else { return nil }
    return .channel(.open(LinkID(link), spsm: spsm, wish.settings))
}

private func opening(
    _ link: jelling_link, _ spsm: UInt16, _ settings: UnsafePointer<jelling_channel_settings>?, _ count: UInt32
) -> HostCommand? {
    guard (1...0xFF).contains(spsm), (1...5).contains(count), let wish = unsafe ChannelWish(settings) else {
        return nil
    }
    return .channel(.openEnhanced(LinkID(link), spsm: spsm, wish.settings, count: Int(count)))
}

private func reconfiguring(
    _ link: jelling_link, _ channels: UnsafePointer<UInt32>?, _ count: Int, _ mtu: UInt16, _ mps: UInt16
) -> HostCommand? {
    guard (1...5).contains(count), mtu >= 64, (64...2044).contains(mps),
        let channels = unsafe readValues(channels, count, { ChannelID(link, $0) })
    else { return nil }
    return .channel(.reconfigure(channels, maximumTransmissionUnit: mtu, maximumPayloadSize: mps))
}

private func consuming(_ link: jelling_link, _ channel: UInt32, _ units: UInt32) -> HostCommand? {
    guard (1...65535).contains(units) else { return nil }
    return .channel(.consume(ChannelID(link, channel), units: Int(units)))
}

@c @implementation
public func jelling_listen(
    _ engine: Handle, _ spsm: UInt16, _ settings: UnsafePointer<jelling_channel_settings>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.channels, listening(spsm, settings), now, operation)
}

@c @implementation
public func jelling_stop_listening(_ engine: Handle, _ spsm: UInt16, _ now: Int64, _ operation: Number) -> Status {
    unsafe submit(engine, to: Features.channels, .channel(.stopListening(spsm: spsm)), now, operation)
}

@c @implementation
public func jelling_open_channel(
    _ engine: Handle, _ link: Link, _ spsm: UInt16, _ settings: UnsafePointer<jelling_channel_settings>?, _ now: Int64,
    _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.channels, opening(link, spsm, settings), now, operation)
}

@c @implementation
public func jelling_open_enhanced_channels(
    _ engine: Handle, _ link: Link, _ spsm: UInt16, _ settings: UnsafePointer<jelling_channel_settings>?,
    _ count: UInt32, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.channels, opening(link, spsm, settings, count), now, operation)
}

@c @implementation
public func jelling_reconfigure_channels(
    _ engine: Handle, _ link: Link, _ channels: UnsafePointer<UInt32>?, _ count: Int, _ mtu: UInt16, _ mps: UInt16,
    _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.channels, reconfiguring(link, channels, count, mtu, mps), now, operation)
}

@c @implementation
public func jelling_channel_send(
    _ engine: Handle, _ link: Link, _ channel: UInt32, _ data: Octets, _ length: Int, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(
        engine, to: Features.channels,
        octets(data, length, limit: 65535).map { .channel(.send(ChannelID(link, channel), $0)) }, now, operation
    )
}

@c @implementation
public func jelling_channel_consume(
    _ engine: Handle, _ link: Link, _ channel: UInt32, _ units: UInt32, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.channels, consuming(link, channel, units), now, operation)
}

@c @implementation
public func jelling_close_channel(
    _ engine: Handle, _ link: Link, _ channel: UInt32, _ now: Int64, _ operation: Number
) -> Status {
    unsafe submit(engine, to: Features.channels, .channel(.close(ChannelID(link, channel))), now, operation)
}
