import BLE
import BLEGateway
import BLESecurity
import Logging

/// What the adapters of the gateway are used for.
struct GatewayRadio: Sendable {
    let core: GatewayCore
    /// `nil`: the gateway only listens.
    let links: GatewayLinks?
    /// Where the bonds are that links use.
    private let bonds: BondedDevices
    /// Whether requesters may pair.
    private let allowsPairing: Bool
    private let logger: Logger
    /// `nil`: there is none.
    let proxy: ProxyService?
    /// `nil`: the gateway is no client of a matter-server.
    let matter: MatterService?

    init(core: GatewayCore, settings: GatewaySettings, bonds: BondedDevices, logger: Logger) {
        self.core = core
        let links = settings.linkLimits.map { GatewayLinks($0) }
        self.links = links
        proxy = links.flatMap { ProxyService(settings, links: $0, logger: logger) }
        matter = links.flatMap { MatterService(settings, links: $0, logger: logger) }
        self.bonds = bonds
        allowsPairing = proxy?.allowsPairing ?? true
        self.logger = logger
    }

    func index(ofAdapter name: String) -> Int { core.index(ofAdapter: name) }

    func receive(_ discovery: Discovery, adapter: Int) {
        core.receive(discovery, adapter: adapter)
        links?.heard(discovery, adapter: adapter)
        proxy?.heard(discovery)
        matter?.heard(discovery)
    }

    /// An adapter that only listens needs no bonds. With links, its requesters decide when to pair.
    func prepare(_ configuration: inout AdapterConfiguration) {
        guard links != nil else { return }
        configuration.bondStore = FileBondStore(path: bonds.folder) { [logger] in logger.warning("\($0)") }
        configuration.security.pairsOnDemand = false
        configuration.security.acceptsPairing = false
        configuration.security.followsSecurityRequests = allowsPairing
    }
}
