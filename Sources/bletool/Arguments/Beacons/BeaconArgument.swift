import BLE
import BLEScripts
import BLEText

/// An argument with the content of a beacon: it is read once, with the mistake if it is wrong.
protocol BeaconArgument: ExplainedArgument, Sendable {
    /// - Throws: `BeaconMistake`.
    static func read(_ text: String) throws(BeaconMistake) -> Self
}

extension BeaconArgument {
    init?(argument: String) {
        do throws(BeaconMistake) { self = try Self.read(argument) } catch { return nil }
    }

    static func mistake(in text: String) -> String {
        do throws(BeaconMistake) {
            _ = try read(text)
            return "it is wrong"
        } catch {
            return error.text
        }
    }
}

/// What is wrong with the content of a beacon, and what is right.
struct BeaconMistake: Error, Equatable {
    var text: String

    init(_ text: String) { self.text = text }

    /// - Throws: `BeaconMistake` unless the text has one of these numbers of parts.
    static func parts(
        of text: String, _ counts: ClosedRange<Int>, _ form: String
    ) throws(BeaconMistake) -> [String] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.drop { $0 == " " })
        }
        guard counts.contains(parts.count) else {
            throw BeaconMistake("it has \(parts.count == 1 ? "one part" : "\(parts.count) parts"); use \(form)")
        }
        return parts
    }

    static func uuid(_ text: String) throws(BeaconMistake) -> BluetoothUUID {
        guard let uuid = BluetoothUUID(text), uuid.width == .bits128 else {
            throw BeaconMistake(
                "‘\(text.printable)’ is not a UUID of 32 hexadecimal digits, such as "
                    + "e2c56db5-dffb-48d2-b060-d0f5a71096e0")
        }
        return uuid
    }

    static func number(_ text: String, _ name: String) throws(BeaconMistake) -> UInt16 {
        guard let number = Number16(argument: text) else {
            throw BeaconMistake("\(name) is 0 to 65535, or in hexadecimal 0x0000 to 0xffff, not ‘\(text.printable)’")
        }
        return number.value
    }

    static func power(_ text: String, _ place: String) throws(BeaconMistake) -> Int8 {
        guard let power = Int8(text), (-100...20).contains(power) else {
            throw BeaconMistake("the power at \(place) is -100 to 20 dBm, not ‘\(text.printable)’")
        }
        return power
    }

    static func octets(_ text: String, _ count: Int, _ name: String) throws(BeaconMistake) -> [UInt8] {
        guard let octets = Hexadecimal.bytes(text), octets.count == count else {
            throw BeaconMistake("\(name) has \(2 * count) hexadecimal digits, and ‘\(text.printable)’ has not")
        }
        return octets
    }
}
