import BLEHost

/// The scans, the advertising sets and the requests for periodic trains of a tool, by its own numbers.
struct ToolRadio {
    /// The most advertisers that one request for a train may name: the controller has one list of them for all.
    static let advertisersOfTrain = 16

    private(set) var scans: [OperationID] = []
    private(set) var sets: [OperationID] = []
    private(set) var trains: [OperationID] = []
    /// Reports of each train, and responses of each set, that found no room since the last one that did. Only for
    /// lookup.
    private var dropped: [OperationID: UInt32] = [:]

    mutating func scans(_ number: OperationID) { scans.append(number) }
    mutating func advertisesSet(_ number: OperationID) { sets.append(number) }
    mutating func follows(_ number: OperationID) { trains.append(number) }

    mutating func completed(_ number: OperationID) {
        scans.removeAll { $0 == number }
        sets.removeAll { $0 == number }
        trains.removeAll { $0 == number }
        dropped[number] = nil
    }

    mutating func drop(of number: OperationID) {
        dropped[number, default: 0] = dropped[number, default: 0].addingReportingOverflow(1).partialValue
    }

    mutating func takeDropped(of number: OperationID) -> UInt32 { dropped.removeValue(forKey: number) ?? 0 }
}
