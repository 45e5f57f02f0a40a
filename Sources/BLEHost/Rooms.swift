/// The parts of the engine that links work with, apart from the radio and the effects.
///
/// One value, so that a function of `Link` gets one pointer in place of four.
struct Rooms: ~Copyable {
    var pairings: Pairings
    var server: GATTServer
    var listeners = ChannelListeners()
    var links: LinkTable

    /// Always inlined, like `Host.init`: the parts are made where they stay.
    @inline(__always)
    init(configuration: HostConfiguration) {
        pairings = Pairings(configuration: configuration)
        server = Self.server(configuration)
        links = LinkTable(limit: configuration.limits.links)
    }

    /// A server with the services that every device has. Apart from `init`, so that its memory is not needed twice
    /// there.
    @inline(never)
    private static func server(_ configuration: HostConfiguration) -> GATTServer {
        var settings = GATTServerSettings()
        settings.sharesNotifications = configuration.usedEnhancedBearers != nil
        var server = GATTServer(settings: settings)
        guard Features.server else { return server }
        // An empty table always has room for these.
        do throws(GATTPublishError) {
            try server.publishGenericServices(
                deviceName: configuration.deviceName, hasDatabaseHash: configuration.usesCryptoProvider,
                hasEnhancedBearers: configuration.usedEnhancedBearers != nil,
                reportsAddressResolution: configuration.reportsAddressResolution, at: .zero)
        } catch {}
        return server
    }
}
