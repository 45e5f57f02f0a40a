import BLESensors
import BLEText

/// An address of the web.
struct EddystoneURLArgument: BeaconArgument {
    let frame: EddystoneFrame

    static func read(_ text: String) throws(BeaconMistake) -> EddystoneURLArgument {
        do throws(EddystoneURL.Mistake) {
            return EddystoneURLArgument(frame: .url(try EddystoneURL(text), power: EddystoneFrame.ordinaryPower))
        } catch {
            throw BeaconMistake(Self.text(error))
        }
    }

    private static func text(_ mistake: EddystoneURL.Mistake) -> String {
        switch mistake {
        case .scheme:
            return "it begins with neither http:// nor https://; use a whole address, such as https://example.com"
        case .empty: return "nothing follows the beginning; use a whole address, such as https://example.com"
        case .character(let character):
            return "‘\(String(character).printable)’ cannot be in an address as it is; write it as %XX, or a name with "
                + "other letters as xn--…"
        case .tooLong(let count):
            let room = EddystoneURL.greatestByteCount
            return "the address takes \(count) octets, and \(room) are left behind https:// or https://www.: make it "
                + "\(count - room) shorter, with an address that leads on to it (endings such as .com/ take one octet)"
        }
    }
}
