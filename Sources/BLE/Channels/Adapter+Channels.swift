import BLEHost

extension Adapter {
    /// Accepts channels that peers open, until the loop over the sequence ends.
    ///
    ///     for try await channel in try await adapter.acceptChannels(on: 0x0080) {
    ///         Task { for try await message in channel { try await channel.send(message) } }
    ///     }
    /// - Parameters:
    ///   - spsm: 0x0001 to 0x00FF; `nil` takes a free one from 0x0080 on.
    ///   - requiresEncryption: whether peers must be paired.
    /// - Throws: `BLEError.channel` if the SPSM is taken or invalid.
    public func acceptChannels(
        on spsm: UInt16? = nil, _ settings: ChannelSettings = ChannelSettings(), requiresEncryption: Bool = false
    ) async throws -> IncomingChannels {
        let chosen = try await answer(
            to: .listen(spsm: spsm, settings, requiresEncryption: requiresEncryption))
        guard let arrivals = channels.arrivals(on: chosen) else { throw BLEError.closed }
        channels.onEnd(of: chosen) { Task { await self.stopAccepting(on: chosen) } }
        return IncomingChannels(spsm: chosen, channels: arrivals)
    }

    private func stopAccepting(on spsm: UInt16) async {
        channels.stopListening(spsm)
        _ = await perform(.channel(.stopListening(spsm: spsm)))
    }

    /// A message was taken: the peer may send another.
    func consume(on channel: ChannelID) async { _ = await perform(.channel(.consume(channel, units: 1))) }
}

extension Peripheral {
    /// Opens a channel to one of the device's SPSMs.
    /// - Throws: `BLEError.channel` with the device's refusal.
    public func openChannel(
        _ spsm: UInt16, _ settings: ChannelSettings = ChannelSettings()
    ) async throws -> Channel {
        let information = try await adapter.answer(to: .openChannel(spsm, settings, on: link))
        guard let channel = await adapter.channels.channel(information, of: adapter) else {
            throw BLEError.channel(.notOpen)
        }
        return channel
    }

    /// Opens up to five channels by one request of the enhanced form (Core 5.4, Vol 3, Part A, 4.25).
    /// - Parameters:
    ///   - settings: for each of them; MTU and MPS are raised to 64.
    ///   - count: how many channels to ask for, 1 to 5.
    /// - Returns: the channels that the device accepted, at least one.
    /// - Throws: `BLEError.channel` with the device's refusal.
    public func openEnhancedChannels(
        _ spsm: UInt16, _ settings: ChannelSettings = ChannelSettings(), count: Int
    ) async throws -> [Channel] {
        let opened = try await adapter.answer(to: .openEnhancedChannels(spsm, settings, count: count, on: link))
        var channels: [Channel] = []
        for information in opened {
            if let channel = await adapter.channels.channel(information, of: adapter) { channels.append(channel) }
        }
        guard !channels.isEmpty else { throw BLEError.channel(.notOpen) }
        return channels
    }
}
