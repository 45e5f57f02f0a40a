import BLEDaemonProtocol

extension WireWantedOfRadio {
    /// Entries of a list, octets of data and characters of a name that an operator sees.
    private static let (longestList, longestData, longestName) = (16, 64, 64)

    /// Cuts long lists and data: programs ask for as much as they like, and the answer must still fit into a message.
    mutating func shorten() {
        switch wanted {
        case .scan(var scan):
            scan.services = Array(scan.services.prefix(Self.longestList))
            scan.solicitedServices = Array(scan.solicitedServices.prefix(Self.longestList))
            scan.acceptList = Array(scan.acceptList.prefix(Self.longestList))
            if scan.hasName { scan.name = Self.shortened(scan.name) }
            self.scan = scan
        case .advertise(var advertisement):
            switch advertisement.content {
            case .packed(var packed):
                packed.services = Array(packed.services.prefix(Self.longestList))
                if packed.hasLocalName { packed.localName = Self.shortened(packed.localName) }
                advertisement.packed = packed
            case .raw(var raw):
                raw.advertisement = raw.advertisement.prefix(Self.longestData)
                raw.scanResponse = raw.scanResponse.prefix(Self.longestData)
                advertisement.raw = raw
            case nil: break
            }
            advertise = advertisement
        case .set(var set):
            set.data = set.data.prefix(Self.longestData)
            set.scanResponse = set.scanResponse.prefix(Self.longestData)
            if set.hasTrain { set.train.data = set.train.data.prefix(Self.longestData) }
            self.set = set
        case .train(var train):
            train.advertisers = Array(train.advertisers.prefix(Self.longestList))
            self.train = train
        case .connect, .trainsOf, nil: break
        }
    }

    /// By scalars: one character may have any number of them.
    private static func shortened(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.prefix(longestName)))
    }
}
