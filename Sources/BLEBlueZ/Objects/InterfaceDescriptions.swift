extension InterfaceDescription {
    /// The interfaces that objects of this service have, by their names; only for lookup.
    static let all: [String: InterfaceDescription] = {
        var all: [String: InterfaceDescription] = [:]
        for interface in standard + bluez { all[interface.name] = interface }
        return all
    }()

    private static let standard = [
        InterfaceDescription(name: InterfaceName.introspectable, methods: [Method("Introspect", returns: ["xml s"])]),
        InterfaceDescription(
            name: InterfaceName.properties,
            methods: [
                Method("Get", ["interface s", "name s"], returns: ["value v"]),
                Method("Set", ["interface s", "name s", "value v"]),
                Method("GetAll", ["interface s"], returns: ["properties a{sv}"]),
            ],
            signals: [
                Method(
                    "PropertiesChanged",
                    ["interface s", "changed_properties a{sv}", "invalidated_properties as"])
            ]),
        InterfaceDescription(
            name: InterfaceName.objectManager,
            methods: [Method("GetManagedObjects", returns: ["objects a{oa{sa{sv}}}"])],
            signals: [
                Method("InterfacesAdded", ["object o", "interfaces a{sa{sv}}"]),
                Method("InterfacesRemoved", ["object o", "interfaces as"]),
            ]),
    ]

    private static let bluez = [
        InterfaceDescription(
            name: InterfaceName.agentManager,
            methods: [
                Method("RegisterAgent", ["agent o", "capability s"]), Method("UnregisterAgent", ["agent o"]),
                Method("RequestDefaultAgent", ["agent o"]),
            ]),
        InterfaceDescription(
            name: InterfaceName.adapter,
            methods: [
                Method("StartDiscovery"), Method("SetDiscoveryFilter", ["properties a{sv}"]),
                Method("StopDiscovery"), Method("RemoveDevice", ["device o"]),
                Method("GetDiscoveryFilters", returns: ["filters as"]),
                Method("ConnectDevice", ["properties a{sv}"], returns: ["device o"]),
            ],
            properties: [
                Property("Address s"), Property("AddressType s"), Property("Name s"),
                Property("Alias s", isWritable: true), Property("Class u"), Property("Powered b", isWritable: true),
                Property("PowerState s"), Property("Discoverable b", isWritable: true),
                Property("DiscoverableTimeout u", isWritable: true), Property("Pairable b", isWritable: true),
                Property("PairableTimeout u", isWritable: true), Property("Discovering b"), Property("UUIDs as"),
                Property("Modalias s"), Property("Roles as"), Property("ExperimentalFeatures as"),
                Property("Manufacturer q"), Property("Version y"),
            ]),
        InterfaceDescription(
            name: InterfaceName.device,
            methods: [
                Method("Disconnect"), Method("Connect"), Method("ConnectProfile", ["UUID s"]),
                Method("DisconnectProfile", ["UUID s"]), Method("Pair"), Method("CancelPairing"),
            ],
            properties: [
                Property("Address s"), Property("AddressType s"), Property("Name s"),
                Property("Alias s", isWritable: true), Property("Class u"), Property("Appearance q"),
                Property("Icon s"), Property("Paired b"), Property("Bonded b"),
                Property("Trusted b", isWritable: true), Property("Blocked b", isWritable: true),
                Property("LegacyPairing b"), Property("RSSI n"), Property("Connected b"), Property("UUIDs as"),
                Property("Modalias s"), Property("Adapter o"), Property("ManufacturerData a{qv}"),
                Property("ServiceData a{sv}"), Property("TxPower n"), Property("ServicesResolved b"),
                Property("AdvertisingFlags ay"), Property("AdvertisingData a{yv}"),
                Property("WakeAllowed b", isWritable: true),
            ]),
        InterfaceDescription(
            name: InterfaceName.bearer, methods: [Method("Connect"), Method("Disconnect")],
            signals: [Method("Disconnected", ["name s", "message s"])],
            properties: [
                Property("Adapter o"), Property("Paired b"), Property("Bonded b"), Property("Connected b"),
            ]),
        InterfaceDescription(
            name: InterfaceName.battery, properties: [Property("Percentage y"), Property("Source s")]),
        InterfaceDescription(
            name: InterfaceName.service,
            properties: [
                Property("UUID s"), Property("Device o"), Property("Primary b"), Property("Includes ao"),
            ]),
        InterfaceDescription(
            name: InterfaceName.characteristic,
            methods: [
                Method("ReadValue", ["options a{sv}"], returns: ["value ay"]),
                Method("WriteValue", ["value ay", "options a{sv}"]),
                Method("AcquireWrite", ["options a{sv}"], returns: ["fd h", "mtu q"]),
                Method("AcquireNotify", ["options a{sv}"], returns: ["fd h", "mtu q"]),
                Method("StartNotify"), Method("StopNotify"),
            ],
            properties: [
                Property("UUID s"), Property("Service o"), Property("Value ay"), Property("Notifying b"),
                Property("Flags as"), Property("WriteAcquired b"), Property("NotifyAcquired b"), Property("MTU q"),
            ]),
        InterfaceDescription(
            name: InterfaceName.descriptor,
            methods: [
                Method("ReadValue", ["options a{sv}"], returns: ["value ay"]),
                Method("WriteValue", ["value ay", "options a{sv}"]),
            ],
            properties: [Property("UUID s"), Property("Characteristic o"), Property("Value ay")]),
        InterfaceDescription(
            name: InterfaceName.gattManager,
            methods: [
                Method("RegisterApplication", ["application o", "options a{sv}"]),
                Method("UnregisterApplication", ["application o"]),
            ]),
        InterfaceDescription(
            name: InterfaceName.advertisingManager,
            methods: [
                Method("RegisterAdvertisement", ["advertisement o", "options a{sv}"]),
                Method("UnregisterAdvertisement", ["service o"]),
            ],
            properties: [
                Property("ActiveInstances y"), Property("SupportedInstances y"), Property("SupportedIncludes as"),
                Property("SupportedSecondaryChannels as"), Property("SupportedCapabilities a{sv}"),
                Property("SupportedFeatures as"),
            ]),
        InterfaceDescription(
            name: InterfaceName.monitorManager,
            methods: [
                Method("RegisterMonitor", ["application o"]), Method("UnregisterMonitor", ["application o"]),
            ],
            properties: [Property("SupportedMonitorTypes as"), Property("SupportedFeatures as")]),
    ]
}
