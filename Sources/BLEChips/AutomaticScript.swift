import BLEPackets

/// Asks the chip for its manufacturer and goes on with the script of the family.
struct AutomaticScript: ChipScript {
    private enum State { case begin, reset, version, family, over }

    private let settings: ChipSettings
    private var own = ChipInformation()
    private var state = State.begin
    private var script: (any ChipScript)?

    init(settings: ChipSettings) { self.settings = settings }

    var information: ChipInformation { script?.information ?? own }

    mutating func next(_ result: ChipResult) throws(ChipFailure) -> ChipStep {
        switch state {
        case .begin:
            state = .reset
            return .command(.reset, [])
        case .reset:
            _ = try result.parameters(of: .reset)
            state = .version
            return .command(.readLocalVersion, [])
        case .version:
            try own.read(result)
            guard let family = ChipFamily(manufacturer: own.manufacturer) else {
                state = .over
                return .done
            }
            own.family = family
            var found = settings
            found.family = family
            script = try ChipBringUp.makeScript(found)
            state = .family
            return try script?.next(.nothing) ?? .done
        case .family: return try script?.next(result) ?? .done
        case .over: return .done
        }
    }
}
