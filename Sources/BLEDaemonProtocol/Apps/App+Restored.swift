import BLEAppLifecycle
import FoundationEssentials

extension WireAppRestoredCentral {
    init(_ restored: RestoredCentral) {
        self.init()
        peripherals = restored.peripherals.map { remote in
            WireAppRestoredRemote.with {
                $0.peripheral = WireAppPeripheral(remote.description)
                if let services = remote.services { $0.services.services = services.map { WireAppRemoteService($0) } }
                $0.limits = WireAppWriteLimits(remote.writeLimits)
            }
        }
        if let scan = restored.scan { self.scan = WireAppScan(scan) }
    }
}

extension RestoredCentral {
    init(_ wire: WireAppRestoredCentral) throws(WireError) {
        self.init()
        for remote in wire.peripherals {
            peripherals.append(
                RestoredRemotePeripheral(
                    description: try PeripheralDescription(remote.peripheral),
                    services: remote.hasServices ? try RemoteService.list(remote.services.services) : nil,
                    writeLimits: WriteLimits(remote.limits)))
        }
        if wire.hasScan { scan = try ScanOptions(wire.scan) }
    }
}

extension WireAppRestoredPeripheral {
    init(_ restored: RestoredPeripheral) {
        self.init()
        services = restored.services.map { WireAppService($0) }
        subscriptions = restored.subscriptions.map { subscription in
            WireAppRestoredSubscription.with {
                $0.characteristic = subscription.characteristic.rawValue
                $0.centrals = subscription.centrals.map { WireAppCentral($0) }
            }
        }
        if let advertisement = restored.advertisement {
            self.advertisement = WireAppAdvertisement(advertisement)
        }
    }
}

extension RestoredPeripheral {
    init(_ wire: WireAppRestoredPeripheral) throws(WireError) {
        var services: [LocalService] = []
        for service in wire.services { services.append(try LocalService(service)) }
        var subscriptions: [Subscription] = []
        for subscription in wire.subscriptions {
            var centrals: [CentralDescription] = []
            for central in subscription.centrals { centrals.append(try CentralDescription(central)) }
            subscriptions.append(
                Subscription(characteristic: LocalAttributeID(wire: subscription.characteristic), centrals: centrals))
        }
        self.init(
            services: services, subscriptions: subscriptions,
            advertisement: wire.hasAdvertisement ? try AdvertisementRequest(wire.advertisement) : nil)
    }
}
