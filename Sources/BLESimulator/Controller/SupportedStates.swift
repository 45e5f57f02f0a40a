/// Activities that a link layer may combine (Core 5.4, Vol 4, Part E, 7.8.27).
enum LinkLayerActivity: Int, CaseIterable {
    case nonConnectableAdvertising, scannableAdvertising, connectableAdvertising
    case highDutyCycleDirectedAdvertising, lowDutyCycleDirectedAdvertising
    case passiveScanning, activeScanning, initiating, central, peripheral

    /// The bit for one activity; `nil` if the specification has none.
    var bit: Int? {
        switch self {
        case .nonConnectableAdvertising: 0
        case .scannableAdvertising: 1
        case .connectableAdvertising: 2
        case .highDutyCycleDirectedAdvertising: 3
        case .passiveScanning: 4
        case .activeScanning: 5
        case .initiating: 6
        case .peripheral: 7
        case .lowDutyCycleDirectedAdvertising: 29
        case .central: nil
        }
    }

    /// The bit for two activities at once; `nil` if the specification has none.
    static func bit(_ a: Self, _ b: Self) -> Int? {
        let (first, second) = a.rawValue <= b.rawValue ? (a, b) : (b, a)
        switch (first, second) {
        case (.nonConnectableAdvertising, .passiveScanning): return 8
        case (.scannableAdvertising, .passiveScanning): return 9
        case (.connectableAdvertising, .passiveScanning): return 10
        case (.highDutyCycleDirectedAdvertising, .passiveScanning): return 11
        case (.nonConnectableAdvertising, .activeScanning): return 12
        case (.scannableAdvertising, .activeScanning): return 13
        case (.connectableAdvertising, .activeScanning): return 14
        case (.highDutyCycleDirectedAdvertising, .activeScanning): return 15
        case (.nonConnectableAdvertising, .initiating): return 16
        case (.scannableAdvertising, .initiating): return 17
        case (.nonConnectableAdvertising, .central): return 18
        case (.scannableAdvertising, .central): return 19
        case (.nonConnectableAdvertising, .peripheral): return 20
        case (.scannableAdvertising, .peripheral): return 21
        case (.passiveScanning, .initiating): return 22
        case (.activeScanning, .initiating): return 23
        case (.passiveScanning, .central): return 24
        case (.activeScanning, .central): return 25
        case (.passiveScanning, .peripheral): return 26
        case (.activeScanning, .peripheral): return 27
        case (.initiating, .central): return 28
        case (.lowDutyCycleDirectedAdvertising, .passiveScanning): return 30
        case (.lowDutyCycleDirectedAdvertising, .activeScanning): return 31
        case (.connectableAdvertising, .initiating): return 32
        case (.highDutyCycleDirectedAdvertising, .initiating): return 33
        case (.lowDutyCycleDirectedAdvertising, .initiating): return 34
        case (.connectableAdvertising, .central): return 35
        case (.highDutyCycleDirectedAdvertising, .central): return 36
        case (.lowDutyCycleDirectedAdvertising, .central): return 37
        case (.connectableAdvertising, .peripheral): return 38
        case (.highDutyCycleDirectedAdvertising, .peripheral): return 39
        case (.lowDutyCycleDirectedAdvertising, .peripheral): return 40
        case (.initiating, .peripheral): return 41
        default: return nil
        }
    }
}

extension SimulatedController {
    /// The current activities of the link layer.
    var activities: [LinkLayerActivity] {
        var activities: [LinkLayerActivity] = []
        for set in allAdvertisingSets where set.isEnabled { activities.append(set.activity) }
        if settings.scan.isEnabled { activities.append(settings.scan.isActive ? .activeScanning : .passiveScanning) }
        if settings.initiating != nil { activities.append(.initiating) }
        for end in ends { activities.append(end.side == .central ? .central : .peripheral) }
        return activities
    }

    /// Whether the controller's supported states allow another activity.
    func canBegin(_ activity: LinkLayerActivity) -> Bool {
        func isSet(_ bit: Int?) -> Bool { bit.map { configuration.supportedStates >> UInt64($0) & 1 == 1 } ?? true }
        return isSet(activity.bit) && activities.allSatisfy { isSet(LinkLayerActivity.bit(activity, $0)) }
    }
}
