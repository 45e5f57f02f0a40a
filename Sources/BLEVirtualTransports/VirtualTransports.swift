import BLECapture
import BLESimulator
import BLEText
import BLETransport
import Glibc

/// Transports whose controller is a program: `sim`, `sim:PRESET`, `sim:FILE` and `replay:FILE`.
///
/// `sim:realtek-8761` has the devices of `sim` and a controller of that family; a file of that name needs `sim:./NAME`.
///
/// They are in a separate module, so that an image for a device does not contain a simulator:
///
///     var configuration = AdapterConfiguration()
///     configuration.makeVirtualTransport = VirtualTransports.open
///     let adapter = try await Adapter.open("sim", configuration: configuration)
public enum VirtualTransports {
    /// - Throws: `TransportError.notOffered` for an address of another kind, `unknownPreset` for a word that is neither a
    ///   preset nor a file, `unusableFile` for a scenario or a capture that cannot be played, with the reason.
    @Sendable
    public static func open(_ address: TransportAddress) throws(TransportError) -> sending any HCITransport {
        let (air, controller) = try makeAir(address)
        return SimulatedTransport(air: air, controller: controller, address: address)
    }

    /// The air of a virtual transport, and the controller on it that is ours.
    static func makeAir(
        _ address: TransportAddress, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(TransportError) -> sending (air: SimulatedAir, controller: SimulatedControllerID) {
        switch address {
        case .simulator(nil):
            let air = SimulatedAir.demoWorld()
            return (air, air.addController())
        case .simulator(let text?):
            if let preset = SimulatedControllerPreset(name: text) {
                let air = SimulatedAir.demoWorld()
                return (air, air.addController(preset))
            }
            do throws(TransportError) { return try scenario(text).makeAir() } catch {
                guard case .pathNotFound = error, isWord(text) else { throw error }
                throw unknownPreset(text)
            }
        case .replay(let text):
            let (path, rate) = try PlayedCapture.pathAndRate(text)
            let capture: PlayedCapture
            do throws(CaptureError) { capture = try PlayedCapture(path: path) } catch {
                throw .unusableFile(path, reason: "\(error)")
            }
            return capture.makeAir(rate: rate, report: report)
        default:
            throw .notOffered(address)
        }
    }

    /// The names in `sim:PRESET`.
    package static var presetNames: [String] { SimulatedControllerPreset.allCases.map(\.name) }

    /// Why this names no preset.
    package static func unknownPreset(_ name: String) -> TransportError {
        .unknownPreset(name, nearest: Suggestion(for: name, among: presetNames).word, known: presetNames)
    }

    /// Whether somebody who writes this means a preset: files have a place or an ending.
    static func isWord(_ text: String) -> Bool { !text.contains("/") && !text.contains(".") }

    /// Reads a scenario.
    /// - Throws: `TransportError.pathNotFound`, `pathForbidden`, `system`, `unusableFile` with the place and the reason.
    public static func scenario(_ path: String) throws(TransportError) -> SimulatedScenario {
        let bytes = try contents(of: path)
        do throws(SimulatedScenario.Problem) { return try SimulatedScenario(json: bytes) } catch {
            throw .unusableFile(path, reason: error.description)
        }
    }

    /// The maximum length of a scenario, far above any real one.
    private static let greatestScenario = 16 << 20

    private static func contents(of path: String) throws(TransportError) -> [UInt8] {
        guard let file = unsafe fopen(path, "re") else {
            if errno == ENOENT { throw .pathNotFound(path) }
            throw errno == EACCES ? .pathForbidden(path) : .system(call: "fopen", code: errno)
        }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= greatestScenario else { throw .unusableFile(path, reason: "the scenario is too long") }
        }
    }
}
