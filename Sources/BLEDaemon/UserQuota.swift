import BLEAppLifecycle
import BLEHost

/// What all tools of one user, and those of its apps that are not installed, have together, so that a user with many
/// connections does not get many times what one may have. Installed apps have their own limits: an operator has
/// admitted each of them.
struct UserQuota: Equatable {
    /// Only apps have managers; only what tools have counts for advertisements, sets and trains.
    var managers = 0
    /// Every packet of a device is compared with all of them.
    var scans = 0
    var advertisements = 0
    var services = 0
    var attributes = 0
    var channels = 0
    var sets = 0
    var trains = 0

    mutating func add(_ tool: ToolSession) {
        scans += tool.radio.scans.count
        advertisements += tool.serving.advertisements.count
        services += tool.serving.serviceCount
        attributes += tool.serving.attributeCount
        channels += tool.serving.channelCount
        sets += tool.radio.sets.count
        trains += tool.radio.trains.count
    }

    mutating func add(_ apps: AppUse) {
        managers += apps.managers
        scans += apps.scans
        services += apps.services
        attributes += apps.attributes
        channels += apps.channels
    }

    /// What is limited.
    enum Part {
        case manager, scan, advertisement, set, train, service, channel

        /// What a command asks for; `nil` if nothing of it is limited.
        init?(of command: HostCommand) {
            switch command.scarceResource {
            case .scan: self = .scan
            case .advertisement: self = .advertisement
            case .set: self = .set
            case .train: self = .train
            case .service: self = .service
            case .channel: self = .channel
            case nil: return nil
            }
        }

        /// What an app's request asks for; `nil` if nothing of it is limited for all programs of a user together.
        init?(of request: ClientRequest) {
            switch request {
            case .createCentral, .createPeripheral: self = .manager
            case .central(.scan): self = .scan
            case .peripheral(.addService): self = .service
            case .peripheral(.publishChannel), .central(.peripheral(_, .openChannel)): self = .channel
            case .central, .peripheral, .channel, .release: return nil
            }
        }
    }

    private func count(of part: Part) -> Int {
        switch part {
        case .manager: managers
        case .scan: scans
        case .advertisement: advertisements
        case .set: sets
        case .train: trains
        case .service: services
        case .channel: channels
        }
    }

    private static func limit(of part: Part, _ limits: ClientLimits) -> Int {
        switch part {
        case .manager: limits.managers
        case .scan: limits.scans
        case .advertisement: limits.advertisements
        case .set: limits.sets
        case .train: limits.trains
        case .service: limits.services
        case .channel: limits.channels
        }
    }

    /// Whether this is more than the programs of one user may have of one part. Of others there may be too much:
    /// devices open channels, and limits change.
    ///
    /// A program that has none may always have one, so that one program cannot keep another of the same user from what
    /// it needs: a user has few programs (`ClientLimits.clientsOfUser`, `appsOfUser`). Attributes are not given so: one
    /// service can have very many.
    /// - Parameter program: what the program that asks has itself. As here, what it asks for is counted already.
    func exceeds(_ limits: ClientLimits, in part: Part, for program: UserQuota) -> Bool {
        if part == .service, attributes > ClientLimits.factorOfUser * limits.attributes { return true }
        return program.count(of: part) > 1
            && count(of: part) > ClientLimits.factorOfUser * Self.limit(of: part, limits)
    }

    /// Whether a user who has `own` advertising sets may have another one: the last one that is free is for a user who
    /// has none.
    /// - Parameters:
    ///   - own: with the one that is asked for.
    ///   - all: those of all users, likewise.
    ///   - capacity: how many the controller has for them; `nil`: not known.
    static func mayHaveSet(own: Int, all: Int, of capacity: Int?) -> Bool {
        guard let capacity, own > 1 else { return true }
        return all < capacity
    }
}
