import BLEJSON
import BLEPackets

/// A world from a file: a controller, devices, and what happens to them at which time; or one device, whose services are
/// the profile that `bletool gatt PEER discover --profile` writes and `bletool serve` serves.
///
/// The article ``BLESimulator`` describes the keys.
///
///     let scenario = try SimulatedScenario(json: bytes)
///     let (air, controller) = scenario.makeAir()
public struct SimulatedScenario: Sendable {
    /// What is wrong in a scenario.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// A line, or the path of a key such as `devices[0].address`.
        public var place: String
        /// What is wrong, and what would be right.
        public var message: String

        public var description: String { place.isEmpty ? message : "\(place): \(message)" }
    }

    /// The seed of everything that is random.
    public var seed: UInt64 = 1
    /// Loss, collisions, drift, jitter and sensitivity.
    public var air = SimulatedAirConfiguration()
    /// The controller that the host drives.
    public var controller = SimulatedControllerConfiguration()
    /// The faults that the controller has from the start.
    public var controllerFaults = SimulatedControllerFaults()
    var devices: [Device] = []
    var faults: [TimedFault] = []

    struct Device: Sendable {
        var name: String?
        var address: DeviceAddress
        var role: Role
        /// Metres; `nil` if the strength is given.
        var distance: Double?
        var comes: [Int64]
        var goes: [Int64]

        enum Role: Sendable {
            case peripheral(SimulatedPeripheral)
            case broadcaster(SimulatedBroadcaster)
            case managed(SimulatedManagedDevice)
            case nordic(SimulatedNordicDevice)
        }
    }

    struct TimedFault: Sendable {
        var time: Int64
        var fault: Fault
        /// What ends it; `nil` for nothing.
        var remedy: SimulatedControllerRemedy?
    }

    enum Fault: Sendable {
        case hardwareError(UInt8)
        case transportClosed
        case powerCycle
        case forgetsEverything
        case disconnect(DeviceAddress, HCIStatus)
        case allClear
        case change(@Sendable (inout SimulatedControllerFaults) -> Void)
    }

    /// - Parameter json: the whole file.
    /// - Throws: `Problem` with the place and what would be right there.
    public init(json: [UInt8]) throws(Problem) {
        let keys = [
            "seed", "lossPerMille", "signalJitter", "sensitivity", "collisions", "clockDrift", "controller", "devices",
            "faults",
        ]
        let value = try Self.value(in: json)
        if case .object(let members) = value, members.contains(where: { $0.key == "services" }) {
            devices = [try Self.device(ofProfile: try ScenarioObject(value, path: "", keys: ["name", "services"]))]
            return
        }
        let file = try ScenarioObject(value, path: "", keys: keys)
        seed = UInt64(try file.integer("seed", in: 0...Int(Int32.max), "a seed") ?? 1)
        air.lossPerMille = try file.integer("lossPerMille", in: 0...1000, "lost packets per thousand") ?? 0
        air.signalJitter = Int8(try file.integer("signalJitter", in: 0...40, "dB") ?? 0)
        air.sensitivity = Int8(try file.integer("sensitivity", in: -127...20, "dBm") ?? -100)
        air.advertisementsCollide = try file.boolean("collisions") ?? false
        air.clockDriftPartsPerMillion =
            try file.integer(
                "clockDrift", in: 0...SimulatedAirConfiguration.greatestDrift, "parts per million") ?? 0
        if let value = file["controller"] { (controller, controllerFaults) = try Self.controller(value) }
        for object in try file.objects("devices", keys: Self.deviceKeys) { devices.append(try Self.device(object)) }
        for object in try file.objects("faults", keys: Self.faultKeys) { faults.append(try fault(object)) }
    }

    private static func value(in json: [UInt8]) throws(Problem) -> JSONValue {
        do throws(JSONProblem) {
            return try JSONReader.value(in: json)
        } catch {
            throw Problem(place: "line \(error.line)", message: error.message)
        }
    }

    /// Creates a new air with the whole scenario.
    public func makeAir() -> (air: SimulatedAir, controller: SimulatedControllerID) {
        let air = SimulatedAir(seed: seed, configuration: air)
        let controller = air.addController(controller, faults: controllerFaults)
        var identifiers: [(DeviceAddress, SimulatedDeviceID)] = []
        for device in devices {
            let identifier =
                switch device.role {
                case .peripheral(let peripheral): air.addPeripheral(peripheral)
                case .broadcaster(let broadcaster): air.addBroadcaster(broadcaster)
                case .managed(let device): air.addManagedDevice(device)
                case .nordic(let device): air.addNordicDevice(device)
                }
            identifiers.append((device.address, identifier))
            if let distance = device.distance { air.setDistance(metres: distance, of: identifier) }
            if let first = device.comes.min(), first > 0, !device.goes.contains(where: { $0 < first }) {
                air.setInRange(false, identifier)
            }
            for time in device.comes { air.schedule(at: time) { $0.setInRange(true, identifier) } }
            for time in device.goes { air.schedule(at: time) { $0.setInRange(false, identifier) } }
        }
        for fault in faults {
            air.schedule(at: fault.time) { Self.begin(fault, on: $0, controller, identifiers) }
        }
        return (air, controller)
    }

    private static func begin(
        _ timed: TimedFault, on air: SimulatedAir, _ controller: SimulatedControllerID,
        _ devices: [(DeviceAddress, SimulatedDeviceID)]
    ) {
        switch timed.fault {
        case .hardwareError(let code): air.sendHardwareError(code, from: controller)
        case .transportClosed: air.closeTransport(of: controller)
        case .powerCycle: air.powerCycle(controller)
        case .forgetsEverything: air.forgetEverything(controller)
        case .disconnect(let address, let reason):
            if let device = devices.first(where: { $0.0 == address })?.1 { air.disconnect(device, reason: reason) }
        case .allClear: air.clearFaults(of: controller)
        case .change(let change):
            if let remedy = timed.remedy {
                air.changeFaults(of: controller, until: remedy, change)
            } else {
                air.changeFaults(of: controller, change)
            }
        }
    }
}
