import BLEMessages

extension DaemonStatus.Wanted.Work {
    /// Entries of a list, octets of data and characters of a name that an operator sees.
    private static let (longestList, longestData, longestName) = (16, 64, 64)

    /// The same with long lists and data cut: programs ask for as much as they like, and the answer must still fit into a
    /// message.
    package var shortened: Self {
        switch self {
        case .scan(var scan):
            scan.serviceUUIDs = Self.start(of: scan.serviceUUIDs)
            scan.solicitedServiceUUIDs = scan.solicitedServiceUUIDs.map { Self.start(of: $0) }
            scan.acceptList = Self.start(of: scan.acceptList)
            scan.name = scan.name.map { Self.start(of: $0) }
            return .scan(scan)
        case .advertise(var advertisement):
            switch advertisement.content {
            case .packed(let name, let services):
                advertisement.content = .packed(
                    localName: name.map { Self.start(of: $0) }, serviceUUIDs: Self.start(of: services))
            case .raw(let data, let response):
                advertisement.content = .raw(advertisement: Self.data(of: data), scanResponse: Self.data(of: response))
            }
            return .advertise(advertisement)
        case .advertiseSet(var set):
            set.data = Self.data(of: set.data)
            set.scanResponse = Self.data(of: set.scanResponse)
            if let train = set.train { set.train?.data = Self.data(of: train.data) }
            return .advertiseSet(set)
        case .followPeriodicAdvertising(var train):
            train.advertisers = Self.start(of: train.advertisers)
            return .followPeriodicAdvertising(train)
        case .connect, .receivePeriodicSyncs: return self
        }
    }

    private static func start<Element>(of list: [Element]) -> [Element] { Array(list.prefix(longestList)) }
    private static func data(of octets: [UInt8]) -> [UInt8] { Array(octets.prefix(longestData)) }

    /// By scalars: one character may have any number of them.
    private static func start(of name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.prefix(longestName)))
    }
}
