#if !hasFeature(Embedded)  // its only owner there, the C library, passes on results of every kind
import BLEPackets

/// A kind of answer, with its type: what `HostEvent.completed` reports has one type for all operations.
///
/// Each command ends with one kind of answer; `HostOperation` pairs the two.
public struct HostAnswer<Value>: Sendable {
    private let take: @Sendable (HostResult) -> Value?

    private init(_ take: @escaping @Sendable (HostResult) -> Value?) { self.take = take }

    /// The answer in a result; `nil` if this is the result of a command that ends with another kind.
    public func value(in result: HostResult) -> Value? { take(result) }

    /// Passes the answer in a result to `body`.
    ///
    /// The result must be that of a command with this kind of answer; otherwise `body` is not called.
    public func pass(_ result: HostResult, to body: (Value) -> Void) {
        if let value = take(result) { body(value) }
    }

    /// Passes the end of an operation to `body`, in the same way.
    public func pass(_ result: Result<HostResult, HostFailure>, to body: (Result<Value, HostFailure>) -> Void) {
        switch result {
        case .success(let result): pass(result) { body(.success($0)) }
        case .failure(let failure): body(.failure(failure))
        }
    }
}

extension HostAnswer where Value == LinkID {
    /// The link that was established.
    public static var link: Self { Self { if case .connected(let link) = $0 { link } else { nil } } }
}

// MARK: GATT

extension HostAnswer where Value == GATTResult {
    /// The result of any GATT operation.
    public static var gatt: Self { Self { if case .gatt(let result) = $0 { result } else { nil } } }
}

extension HostAnswer where Value == [DiscoveredService] {
    /// Services, in the order of their handles.
    public static var services: Self { Self { if case .gatt(.services(let found)) = $0 { found } else { nil } } }
}

extension HostAnswer where Value == [DiscoveredInclude] {
    /// Included services, in the order of their handles.
    public static var includedServices: Self {
        Self { if case .gatt(.includedServices(let found)) = $0 { found } else { nil } }
    }
}

extension HostAnswer where Value == [DiscoveredCharacteristic] {
    /// Characteristics, in the order of their handles.
    public static var characteristics: Self {
        Self { if case .gatt(.characteristics(let found)) = $0 { found } else { nil } }
    }
}

extension HostAnswer where Value == [DiscoveredDescriptor] {
    /// Descriptors, in the order of their handles.
    public static var descriptors: Self { Self { if case .gatt(.descriptors(let found)) = $0 { found } else { nil } } }
}

extension HostAnswer where Value == [AttributeValue] {
    /// All values with a type, in the order of their handles.
    public static var attributeValues: Self {
        Self { if case .gatt(.attributeValues(let values)) = $0 { values } else { nil } }
    }
}

extension HostAnswer where Value == [UInt8] {
    /// A value that was read.
    public static var value: Self { Self { if case .gatt(.value(let value)) = $0 { value } else { nil } } }
    /// What the controller answered to any HCI command.
    public static var hciAnswer: Self { Self { if case .hciAnswer(let octets) = $0 { octets } else { nil } } }
}

// MARK: Link layer

extension HostAnswer where Value == Int8 {
    /// An RSSI, in dBm.
    public static var rssi: Self { Self { if case .rssi(let rssi) = $0 { rssi } else { nil } } }
}

extension HostAnswer where Value == RemoteVersion {
    /// The version of the peer's controller.
    public static var remoteVersion: Self {
        Self { if case .remoteVersion(let version) = $0 { version } else { nil } }
    }
}

extension HostAnswer where Value == LEFeatures {
    /// The features of the peer's link layer.
    public static var remoteFeatures: Self {
        Self { if case .remoteFeatures(let features) = $0 { features } else { nil } }
    }
}

extension HostAnswer where Value == ConnectionParameters {
    /// The connection parameters in force.
    public static var connectionParameters: Self {
        Self { if case .connectionParameters(let parameters) = $0 { parameters } else { nil } }
    }
}

extension HostAnswer where Value == DataLength {
    /// The data length in force.
    public static var dataLength: Self { Self { if case .dataLength(let length) = $0 { length } else { nil } } }
}

extension HostAnswer where Value == (transmit: PHY, receive: PHY) {
    /// The PHYs in use.
    public static var phy: Self {
        Self { if case .phy(let transmit, let receive) = $0 { (transmit, receive) } else { nil } }
    }
}

extension HostAnswer where Value == TransmitPower {
    /// The power with which one side sends.
    public static var transmitPower: Self {
        Self { if case .transmitPower(let power) = $0 { power } else { nil } }
    }
}

extension HostAnswer where Value == LinkSubrate {
    /// The share of connection events in use.
    public static var subrate: Self { Self { if case .subrate(let subrate) = $0 { subrate } else { nil } } }
}

// MARK: Channels, server and security

extension HostAnswer where Value == ChannelInformation {
    /// A channel that was opened.
    public static var channel: Self { Self { if case .channel(let information) = $0 { information } else { nil } } }
}

extension HostAnswer where Value == [ChannelInformation] {
    /// The channels of an enhanced request that the peer accepted.
    public static var channels: Self { Self { if case .channels(let information) = $0 { information } else { nil } } }
}

extension HostAnswer where Value == UInt16 {
    /// The SPSM on which channels are accepted.
    public static var listening: Self { Self { if case .listening(let spsm) = $0 { spsm } else { nil } } }
}

extension HostAnswer where Value == GATTPublishedService {
    /// A service with its handles.
    public static var published: Self { Self { if case .published(let service) = $0 { service } else { nil } } }
}

extension HostAnswer where Value == Bool {
    /// Yes or no.
    public static var accepted: Self { Self { if case .accepted(let isAccepted) = $0 { isAccepted } else { nil } } }
}

extension HostAnswer where Value == PairingSummary {
    /// What a pairing led to.
    public static var paired: Self { Self { if case .paired(let summary) = $0 { summary } else { nil } } }
}

extension HostAnswer where Value == LocalOutOfBandData {
    /// Out-of-band data for a peer.
    public static var outOfBandData: Self { Self { if case .outOfBandData(let data) = $0 { data } else { nil } } }
}
#endif
