import BLEJSON
import BLEPackets

/// Reads the controller of a scenario, and what happens to it.
extension SimulatedScenario {
    private static let configurationKeys = [
        "preset", "address", "version", "aclLength", "aclCount", "latency", "links", "acceptList", "unserved",
        "falselyClaimed", "lowEnergy",
    ]
    static let faultKeys = [
        "at", "kind", "opcode", "status", "count", "code", "delay", "device", "reason", "until", "faults",
    ]

    static func controller(
        _ value: JSONValue
    ) throws(Problem) -> (SimulatedControllerConfiguration, SimulatedControllerFaults) {
        let object = try ScenarioObject(
            value, path: "controller", keys: configurationKeys + SimulatedControllerFaults.keys)
        var configuration: SimulatedControllerConfiguration
        var faults = SimulatedControllerFaults()
        if let name = try object.text("preset") {
            guard let preset = SimulatedControllerPreset(name: name) else {
                let names = SimulatedControllerPreset.allCases.map(\.name).joined(separator: ", ")
                throw object.problem("preset", "‘\(name)’ is not one of \(names)")
            }
            guard object["version"] == nil else { throw object.problem("version", "a preset has its own version") }
            (configuration, faults) = (preset.configuration(), preset.faults)
        } else {
            configuration = try self.configuration(object)
        }
        if let address = try object.address("address") { configuration.publicAddress = address }
        if let length = try object.integer("aclLength", in: 27...1021, "octets") {
            configuration.aclDataLength = UInt16(length)
        }
        if let count = try object.integer("aclCount", in: 1...255, "packets") {
            configuration.aclDataCount = UInt8(count)
        }
        if let latency = try object.number("latency", in: 0...10, "seconds") {
            configuration.latencyMicroseconds = Int64(latency * 1e6)
        }
        if let links = try object.integer("links", in: 1...64, "links") { configuration.maximumLinks = links }
        if let size = try object.integer("acceptList", in: 1...255, "entries") {
            configuration.acceptListSize = UInt8(size)
        }
        configuration.unservedCommands += try object.opcodes("unserved")
        configuration.falselyClaimedCommands += try object.opcodes("falselyClaimed")
        try faults.read(object)
        return (configuration, faults)
    }

    private static func configuration(
        _ object: ScenarioObject
    ) throws(Problem) -> SimulatedControllerConfiguration {
        guard try object.boolean("lowEnergy") ?? true else { return .withoutLowEnergy() }
        switch try object.text("version") ?? "5.4" {
        case "4.0": return .core40()
        case "4.2": return .core42()
        case "5.4": return .init()
        case let other: throw object.problem("version", "‘\(other)’ is not one of 4.0, 4.2 and 5.4")
        }
    }

    // MARK: At a time

    func fault(_ object: ScenarioObject) throws(Problem) -> TimedFault {
        let time = try object.time("at") ?? 0
        var remedy: SimulatedControllerRemedy?
        if let text = try object.text("until") {
            guard let known = Self.remedies.first(where: { $0.0 == text }) else {
                throw object.problem(
                    "until", "‘\(text)’ is not one of \(Self.remedies.map(\.0).joined(separator: ", "))")
            }
            remedy = known.1
        }
        let fault = try self.kind(object)
        if case .change = fault {
        } else if remedy != nil {
            throw object.problem("until", "this kind of fault has no end")
        }
        return TimedFault(time: time, fault: fault, remedy: remedy)
    }

    static let remedies: [(String, SimulatedControllerRemedy)] = [
        ("scanRestart", .scanRestart), ("reset", .reset), ("reopening", .reopening), ("powerCycle", .powerCycle),
    ]

    private func kind(_ object: ScenarioObject) throws(Problem) -> Fault {
        let status = HCIStatus(rawValue: UInt8(try object.integer("status", in: 1...255, "a status") ?? 0x0C))
        let kind = try object.required("kind", try object.text("kind"))
        switch kind {
        case "unanswered":
            let opcode = try object.requiredOpcode("opcode")
            return .change { $0.unansweredCommands.append(opcode) }
        case "refused":
            let count = try object.integer("count", in: 1...1_000_000, "times")
            let refusal = SimulatedControllerFaults.Refusal(
                try object.requiredOpcode("opcode"), status: status, count: count)
            return .change { $0.refusals.append(refusal) }
        case "hardwareError":
            return .hardwareError(UInt8(try object.integer("code", in: 0...255, "a code") ?? 0))
        case "keepsBuffers": return .change { $0.keepsCompletedPackets = true }
        case "disorder":
            let time = Int64((try object.number("delay", in: 0...10, "seconds") ?? 0.05) * 1e6)
            return .change { $0.eventDisorderMicroseconds = time }
        case "failingConnections":
            let count = try object.integer("count", in: 1...1_000_000, "connections") ?? 1
            return .change { $0.failingConnections = count }
        case "silence": return .change { $0.silencesReports = true }
        case "hang": return .change { $0.hangs = true }
        case "hangAfterReset": return .change { $0.hangsAfterReset = true }
        case "transportClosed": return .transportClosed
        case "powerCycle": return .powerCycle
        case "forget": return .forgetsEverything
        case "disconnect":
            let address = try object.required("device", try object.address("device"))
            guard devices.contains(where: { $0.address == address }) else {
                throw object.problem("device", "no device has the address \(address)")
            }
            let reason = try object.integer("reason", in: 1...255, "a reason") ?? 0x13
            return .disconnect(address, HCIStatus(rawValue: UInt8(reason)))
        case "allClear": return .allClear
        case "change":
            let value = try object.required("faults", object["faults"])
            let inner = try ScenarioObject(
                value, path: object.place("faults"), keys: SimulatedControllerFaults.keys)
            let changes = try SimulatedControllerFaults.changes(inner)
            return .change { faults in for change in changes { change(&faults) } }
        default:
            throw object.problem(
                "kind",
                "‘\(kind)’ is not one of unanswered, refused, hardwareError, keepsBuffers, disorder, failingConnections, "
                    + "silence, hang, hangAfterReset, transportClosed, powerCycle, forget, disconnect, allClear, change"
            )
        }
    }
}

extension ScenarioObject {
    /// An opcode as a number or as hexadecimal with 0x; `nil` without the key.
    func opcode(_ key: String) throws(SimulatedScenario.Problem) -> HCIOpcode? {
        guard let value = self[key] else { return nil }
        return try opcode(value, key)
    }

    func requiredOpcode(_ key: String) throws(SimulatedScenario.Problem) -> HCIOpcode {
        guard let opcode = try opcode(key) else { throw problem(key, "expected an opcode such as \"0x200C\"") }
        return opcode
    }

    func opcodes(_ key: String) throws(SimulatedScenario.Problem) -> [HCIOpcode] {
        var opcodes: [HCIOpcode] = []
        for value in try list(key) { opcodes.append(try opcode(value, key)) }
        return opcodes
    }

    private func opcode(_ value: JSONValue, _ key: String) throws(SimulatedScenario.Problem) -> HCIOpcode {
        switch value {
        case .integer(let number) where 0...65535 ~= number: return HCIOpcode(rawValue: UInt16(number))
        case .string(let text) where text.hasPrefix("0x"):
            if let value = UInt16(text.dropFirst(2), radix: 16) { return HCIOpcode(rawValue: value) }
        default: break
        }
        throw problem(key, "expected an opcode such as \"0x200C\"")
    }
}
