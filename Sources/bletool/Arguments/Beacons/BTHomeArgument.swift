import BLESensors
import BLEText

/// `NAME=VALUE`, or several with commas between them.
struct BTHomeArgument: BeaconArgument {
    let measurements: [BTHomeMeasurement]

    static func read(_ text: String) throws(BeaconMistake) -> BTHomeArgument {
        var measurements: [BTHomeMeasurement] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0].drop { $0 == " " })
            guard pair.count == 2, !name.isEmpty else {
                throw BeaconMistake(
                    "‘\(String(part).printable)’ is not a measurement; use NAME=VALUE, such as temperature=21.5,humidity=50"
                )
            }
            do throws(BTHomeMeasurement.Mistake) {
                measurements.append(try BTHomeMeasurement(name, String(pair[1])))
            } catch {
                throw BeaconMistake(Self.text(error, name, String(pair[1])))
            }
        }
        return BTHomeArgument(measurements: measurements)
    }

    private static func text(_ mistake: BTHomeMeasurement.Mistake, _ name: String, _ value: String) -> String {
        switch mistake {
        case .unknown:
            let names = BTHomeMeasurement.names
            return "‘\(name.printable)’ is unknown\(Suggestion(for: name, among: names).text); known: "
                + names.joined(separator: ", ")
        case .value(let wanted): return "\(name) is \(wanted), not ‘\(value.printable)’"
        }
    }
}
