import BLEJSON
import BLEPackets

/// Faults as members of an object: named as in Swift, times in seconds and without their unit.
extension SimulatedControllerFaults {
    typealias Change = @Sendable (inout SimulatedControllerFaults) -> Void
    private typealias Path<Value> = any WritableKeyPath<SimulatedControllerFaults, Value> & Sendable

    private static var switches: [(String, Path<Bool>)] {
        [
            ("answersResetTwice", \.answersResetTwice),
            ("resetClosesTransport", \.resetClosesTransport),
            ("returnsCreditsByNOP", \.returnsCreditsByNOP),
            ("sendsNOPAtBoot", \.sendsNOPAtBoot),
            ("pageTwoMutesEncryption", \.pageTwoMutesEncryption),
            ("needsLEHostSupport", \.needsLEHostSupport),
            ("hangs", \.hangs),
            ("hangsAfterReset", \.hangsAfterReset),
            ("addsStrayEvents", \.addsStrayEvents),
            ("silencesReports", \.silencesReports),
            ("refusesScanWithLinks", \.refusesScanWithLinks),
            ("refusesExtendedScanWithLinks", \.refusesExtendedScanWithLinks),
            ("codedScanIsDeaf", \.codedScanIsDeaf),
            ("emptiesReports", \.emptiesReports),
            ("reportsOwnAddress", \.reportsOwnAddress),
            ("reportsNoRSSI", \.reportsNoRSSI),
            ("fillsReservedBits", \.fillsReservedBits),
            ("cutsReports", \.cutsReports),
            ("strictDuplicates", \.strictDuplicates),
            ("losesLastFragment", \.losesLastFragment),
            ("interleavesFragments", \.interleavesFragments),
            ("initiatesNever", \.initiatesNever),
            ("reportsConnectionTwice", \.reportsConnectionTwice),
            ("sendsEnhancedOnly", \.sendsEnhancedOnly),
            ("marksIdentities", \.marksIdentities),
            ("reusesHandles", \.reusesHandles),
            ("keepsDisconnection", \.keepsDisconnection),
            ("reportsDisconnectionTwice", \.reportsDisconnectionTwice),
            ("keepsCompletedPackets", \.keepsCompletedPackets),
            ("overcountsCompletedPackets", \.overcountsCompletedPackets),
            ("refusesAdvertisingWhileScanning", \.refusesAdvertisingWhileScanning),
            ("resolvesNothing", \.resolvesNothing),
            ("forgetsAcceptedIdentities", \.forgetsAcceptedIdentities),
            ("latchesAdvertisingAddress", \.latchesAdvertisingAddress),
        ]
    }

    private static var delays: [(String, Path<Int64>)] {
        [
            ("resetDelay", \.resetDelayMicroseconds),
            ("connectionCompleteDelay", \.connectionCompleteDelayMicroseconds),
            ("eventDisorder", \.eventDisorderMicroseconds), ("eventLag", \.eventLagMicroseconds),
        ]
    }

    private static var limits: [(String, Path<Int64?>)] {
        [("hearsOnlyFor", \.hearsOnlyForMicroseconds), ("closesAfter", \.closesAfterMicroseconds)]
    }

    private static var counts: [(String, Path<Int?>)] {
        [
            ("greatestReportRate", \.greatestReportRate), ("crashingReportRate", \.crashingReportRate),
            ("stopsCompletedPacketsAfter", \.stopsCompletedPacketsAfter),
            ("losesDataLongerThan", \.losesDataLongerThan), ("losesMultiplesOf", \.losesMultiplesOf),
        ]
    }

    private static var statuses: [(String, Path<HCIStatus?>)] {
        [
            ("initiatingWhileScanningStatus", \.initiatingWhileScanningStatus),
            ("secondInitiationStatus", \.secondInitiationStatus), ("refusesDisconnect", \.refusesDisconnect),
        ]
    }

    /// The members of an object that are faults.
    static var keys: [String] {
        let names = switches.map(\.0) + delays.map(\.0) + limits.map(\.0) + counts.map(\.0) + statuses.map(\.0)
        return names + [
            "unanswered", "refused", "delayed", "crashes", "creditsOfFirstAnswer", "refusesUnknownMaskBits",
            "hearsAgainAfter", "failingConnections",
        ]
    }

    /// Changes what an object has; lists are added to those that are there.
    mutating func read(_ object: ScenarioObject) throws(SimulatedScenario.Problem) {
        for change in try Self.changes(object) { change(&self) }
    }

    static func changes(_ object: ScenarioObject) throws(SimulatedScenario.Problem) -> [Change] {
        var changes: [Change] = []
        for (key, path) in switches {
            if let isOn = try object.boolean(key) { changes.append { $0[keyPath: path] = isOn } }
        }
        for (key, path) in delays {
            if let time = try microseconds(object, key) { changes.append { $0[keyPath: path] = time } }
        }
        for (key, path) in limits {
            if let time = try microseconds(object, key) { changes.append { $0[keyPath: path] = time } }
        }
        for (key, path) in counts {
            if let count = try object.integer(key, in: 1...1_000_000, "a count") {
                changes.append { $0[keyPath: path] = count }
            }
        }
        for (key, path) in statuses {
            if let status = try status(object, key) { changes.append { $0[keyPath: path] = status } }
        }
        return try changes + commandChanges(object) + otherChanges(object)
    }

    private static func commandChanges(_ object: ScenarioObject) throws(SimulatedScenario.Problem) -> [Change] {
        let unanswered = try object.opcodes("unanswered")
        var refusals: [Refusal] = []
        for entry in try object.objects("refused", keys: ["opcode", "status", "count"]) {
            refusals.append(
                Refusal(
                    try entry.requiredOpcode("opcode"), status: try status(entry, "status") ?? .commandDisallowed,
                    count: try entry.integer("count", in: 1...1_000_000, "times")))
        }
        var delays: [AnswerDelay] = []
        for entry in try object.objects("delayed", keys: ["opcode", "delay"]) {
            delays.append(
                AnswerDelay(
                    try entry.requiredOpcode("opcode"),
                    microseconds: try entry.required("delay", try microseconds(entry, "delay"))))
        }
        var crashes: [Crash] = []
        for entry in try object.objects("crashes", keys: ["opcode", "whileScanning", "silence", "code"]) {
            crashes.append(
                Crash(
                    try entry.requiredOpcode("opcode"), whileScanning: try entry.boolean("whileScanning") ?? false,
                    silenceMicroseconds: try microseconds(entry, "silence") ?? 1_000_000,
                    code: UInt8(try entry.integer("code", in: 0...255, "a code") ?? 0x03)))
        }
        let made = (refusals, delays, crashes)
        return [
            {
                $0.unansweredCommands += unanswered
                $0.refusals += made.0
                $0.answerDelays += made.1
                $0.crashes += made.2
            }
        ]
    }

    private static func otherChanges(_ object: ScenarioObject) throws(SimulatedScenario.Problem) -> [Change] {
        var changes: [Change] = []
        if let credits = try object.integer("creditsOfFirstAnswer", in: 0...255, "credits") {
            changes.append { $0.creditsOfFirstAnswer = UInt8(credits) }
        }
        if let mask = try object.integer("refusesUnknownMaskBits", in: 0...Int(Int32.max), "a mask of known bits") {
            changes.append { $0.refusesUnknownMaskBits = LEEventMask(rawValue: UInt64(mask)) }
        }
        if let text = try object.text("hearsAgainAfter") {
            guard let remedy = SimulatedScenario.remedies.first(where: { $0.0 == text })?.1 else {
                let known = SimulatedScenario.remedies.map(\.0).joined(separator: ", ")
                throw object.problem("hearsAgainAfter", "‘\(text)’ is not one of \(known)")
            }
            changes.append { $0.hearsAgainAfter = remedy }
        }
        if let count = try object.integer("failingConnections", in: 0...1_000_000, "connections") {
            changes.append { $0.failingConnections = count }
        }
        return changes
    }

    private static func microseconds(
        _ object: ScenarioObject, _ key: String
    ) throws(SimulatedScenario.Problem) -> Int64? {
        try object.number(key, in: 0...3600, "seconds").map { Int64($0 * 1e6) }
    }

    private static func status(
        _ object: ScenarioObject, _ key: String
    ) throws(SimulatedScenario.Problem) -> HCIStatus? {
        try object.integer(key, in: 1...255, "a status").map { HCIStatus(rawValue: UInt8($0)) }
    }
}
