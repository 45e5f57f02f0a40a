/// What commands ask for of which a controller, or the engine, has little: clients that share it have limits for each.
public enum ScarceResource: Hashable, Sendable {
    case scan, advertisement, set, train, service, channel
}

extension HostCommand {
    /// What the command occupies until it is undone; `nil` if there is enough of it. A new command gets its resource
    /// here.
    public var scarceResource: ScarceResource? {
        switch self {
        case .radio(.scan): .scan
        case .radio(.advertise): .advertisement
        case .radio(.advertiseSet): .set
        case .radio(.followPeriodicAdvertising), .radio(.receivePeriodicSyncs): .train
        case .server(.publish): .service
        case .channel(.listen), .channel(.open), .channel(.openEnhanced): .channel
        case .radio(.changeScan), .radio(.changeAdvertising), .radio(.connect), .radio(.changeAdvertisingSet),
            .radio(.transferPeriodicSync), .radio(.sendSubevents), .radio(.respondInPeriodicAdvertising),
            .radio(.classifyChannels),
            .server(.removeService), .server(.disableServices), .server(.setDeviceName), .server(.respond),
            .server(.updateValue), .channel(.stopListening), .channel(.reconfigure), .channel(.send),
            .channel(.consume), .channel(.close), .link, .security, .cancel, .withholdConfirmations, .sendHCICommand,
            .stop:
            nil
        }
    }
}
