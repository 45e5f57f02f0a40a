import BLEPackets

/// What a client may ask of the radio: to scan, to advertise, to connect.
public enum RadioCommand: Equatable, Sendable {
    /// Scans until cancelled. A client may have several scans at the same time.
    case scan(ScanRequest)
    /// Changes the filter, the minimum RSSI or the foreground or background state of a running scan. Devices already
    /// reported are not reported again (SPEC BGC-3, BGC-4).
    case changeScan(OperationID, ScanRequest)
    /// Advertises until cancelled, or until a central connects if the request says so (SPEC PER-8, PER-12).
    case advertise(AdvertiseRequest)
    /// Changes the content or the foreground or background state of an active request. A request that comes to the
    /// foreground becomes the most recent there (SPEC BGP-5, 3.5).
    case changeAdvertising(OperationID, AdvertiseRequest)
    /// Waits for the device, without a time limit (SPEC CEN-9), and makes the client a holder of the link.
    case connect(ConnectRequest)
    /// Advertises a separate set until cancelled, until its duration is over, or until a central connects if the
    /// request says so. What happens to it is reported as `HostEvent.advertisingSet`. Fails with
    /// `HostFailure.limitReached` when the controller has no set left.
    case advertiseSet(AdvertisingSetRequest)
    /// Changes an active set. It keeps running if only data change, at most 251 octets each.
    case changeAdvertisingSet(OperationID, AdvertisingSetRequest)
    /// Follows periodic advertising until cancelled; what is received comes as `HostEvent.train`.
    case followPeriodicAdvertising(PeriodicSyncRequest)
    /// Follows the trains that the peer of a link transfers, until cancelled (Core 5.4, Vol 3, Part C, 9.5.5). They
    /// outlive the link. The controller knows one setting for each link: that of several requests is what satisfies all
    /// of them.
    case receivePeriodicSyncs(LinkID, PeriodicSyncSettings)
    /// Tells the peer of a link how to follow a train that this operation follows or sends, with a number for the
    /// peer's host.
    case transferPeriodicSync(OperationID, to: LinkID, serviceData: UInt16)
    /// Gives the data of subevents of a train with responses that an operation sends: at most 15 subevents, in at most
    /// 253 octets with four of each subevent. Each is sent once; give it when `AdvertisingSetEvent.dataRequested` asks
    /// for it.
    case sendSubevents([SubeventData], of: OperationID)
    /// Responds in the train with responses that an operation follows, once. A response does not name its train: it
    /// fails with `HostFailure.InvalidRequest.train` while the operation follows several of them, which a peer may have
    /// transferred.
    case respondInPeriodicAdvertising(PeriodicResponse, in: OperationID)
    /// Keeps links and trains off channels, for instance those of a nearby Wi-Fi network (Core 5.4, Vol 4, Part E,
    /// 7.8.19): at least two channels stay. In force until it is called again, through resets of the controller; on
    /// links as a central, which decides on the channels together with its own measurements.
    case classifyChannels(ChannelMap)
}
