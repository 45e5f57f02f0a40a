import BLEPackets

/// One object of BTHome: a quantity by its name, and its value.
public struct BTHomeMeasurement: Hashable, Sendable {
    /// The number of the object, by which the objects of a packet are ordered.
    let number: UInt8
    /// The octets behind the number.
    let octets: [UInt8]

    /// Whether it tells of an event, not of a state.
    var isEvent: Bool { number == 0x3A || number == 0x3C }

    /// Why there is no such object.
    public enum Mistake: Error, Hashable, Sendable {
        /// BTHome has no quantity of this name.
        case unknown
        /// What the value has to be, in words.
        case value(String)
    }

    /// The names of all quantities, in order.
    public static let names: [String] = {
        var names = Set(BTHome.objects.compactMap { $0?.name })
        names.formUnion(["button", "dimmer"])
        return names.sorted()
    }()

    /// - Parameters:
    ///   - name: one of `names`; a hyphen or a space means the same as `_`.
    ///   - value: a number in the unit of the quantity, which may follow it (`2m`); yes or no; a text; octets in
    ///     hexadecimal; for `timestamp` seconds since 1970. It is rounded to the steps of the quantity.
    /// - Throws: `Mistake`.
    public init(_ name: String, _ value: String) throws(Mistake) {
        let name = String(name.lowercased().map { $0 == "-" || $0 == " " ? "_" : $0 })
        if name == "button" {
            guard let event = BTHome.buttonEvents.first(where: { $0.value == value.lowercased() }) else {
                throw .value(BTHome.buttonEvents.sorted { $0.key < $1.key }.map(\.value).joined(separator: ", "))
            }
            (number, octets) = (0x3A, [event.key])
            return
        }
        if name == "dimmer" {
            guard let steps = Int(value), steps.magnitude <= 255 else {
                throw .value("the steps: 1 to 255 to the right, -1 to -255 to the left, or 0")
            }
            (number, octets) = (0x3C, [steps == 0 ? 0 : steps < 0 ? 1 : 2, UInt8(steps.magnitude)])
            return
        }
        let objects = BTHome.objects.enumerated().compactMap { index, field in
            field.flatMap { $0.name == name ? (number: UInt8(index), field: $0) : nil }
        }
        guard let first = objects.first else { throw .unknown }
        if case .integer = first.field.kind {
            (number, octets) = try Self.integer(value, objects)
        } else {
            (number, octets) = (first.number, try Self.octets(value, first.field.kind))
        }
    }

    // MARK: Values that are no numbers

    private static func octets(_ value: String, _ kind: OctetField.Kind) throws(Mistake) -> [UInt8] {
        switch kind {
        case .boolean:
            switch value.lowercased() {
            case "yes", "on", "true", "1", "open": return [1]
            case "no", "off", "false", "0", "closed": return [0]
            default: throw .value("yes or no")
            }
        case .text:
            guard value.utf8.count <= 255 else { throw .value("a text of at most 255 octets") }
            return [UInt8(value.utf8.count)] + Array(value.utf8)
        case .seconds:
            guard let seconds = UInt32(value) else { throw .value("seconds since 1970, 0 to \(UInt32.max)") }
            return Self.octets(Int64(seconds), 4)
        default:
            let digits = value.compactMap(\.hexDigitValue)
            guard digits.count == value.count, digits.count.isMultiple(of: 2), digits.count <= 510 else {
                throw .value("octets in hexadecimal, such as 0aff")
            }
            let octets = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
            return [UInt8(octets.count)] + octets
        }
    }

    // MARK: Numbers

    /// Of several objects with one name, the first that has the value exactly; else the one with the smallest steps
    /// that holds it.
    private static func integer(
        _ value: String, _ objects: [(number: UInt8, field: OctetField)]
    ) throws(Mistake) -> (UInt8, [UInt8]) {
        let digits = value.prefix { $0.isASCII && ($0.isNumber || "+-.".contains($0)) }
        let unit = value.dropFirst(digits.count).drop { $0 == " " }
        let wanted = unit.isEmpty ? objects[0].field.unit : String(unit)
        let fitting = objects.filter { $0.field.unit == wanted }
        guard !fitting.isEmpty, let number = DecimalNumber(text: digits) else {
            let units = objects.map(\.field.unit).filter { !$0.isEmpty }.reduce(into: [String]()) { units, unit in
                if !units.contains(unit) { units.append(unit) }
            }
            throw .value("a number" + (units.isEmpty ? "" : " in " + units.joined(separator: " or ")))
        }
        var nearest: (number: UInt8, octets: [UInt8], error: Double)?
        for object in fitting {
            guard let (steps, error) = object.field.steps(of: number) else { continue }
            if error < nearest?.error ?? .infinity {
                nearest = (object.number, Self.octets(steps, object.field.kind.octetCount ?? 1), error)
            }
        }
        guard let nearest else {
            let ranges = fitting.compactMap(\.field.range)
            let least = ranges.min { $0.least.double < $1.least.double }
            let greatest = ranges.max { $0.greatest.double < $1.greatest.double }
            guard let least, let greatest else { throw .value("a number") }
            throw .value("\(least.least) to \(greatest.greatest)" + (wanted.isEmpty ? "" : " " + wanted))
        }
        return (nearest.number, nearest.octets)
    }

    /// Least significant first.
    private static func octets(_ number: Int64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
    }
}

extension OctetField {
    /// The integers that the field can have; `nil` if it is none.
    private var integers: ClosedRange<Int64>? {
        guard case .integer(let width, let isSigned, _, isList: false) = kind, width < 8 else { return nil }
        let bits = Int64(8 * width)
        return isSigned ? -(1 << (bits - 1))...(1 << (bits - 1)) - 1 : 0...(1 << bits) - 1
    }

    /// The least and the greatest value.
    fileprivate var range: (least: DecimalNumber, greatest: DecimalNumber)? {
        integers.map { range in
            (
                DecimalNumber(range.lowerBound * factor, exponent: decimalExponent),
                DecimalNumber(range.upperBound * factor, exponent: decimalExponent)
            )
        }
    }

    /// The integer that is nearest to a value, and how far the value is from it; `nil` if it is out of range.
    fileprivate func steps(of number: DecimalNumber) -> (Int64, error: Double)? {
        guard let integers else { return nil }
        var scaled = number.double / Double(factor)
        for _ in 0..<max(0, -decimalExponent) { scaled *= 10 }
        let rounded = scaled.rounded()
        guard rounded.magnitude < 1e15, integers.contains(Int64(rounded)) else { return nil }
        let steps = Int64(rounded)
        let result = DecimalNumber(steps * factor, exponent: decimalExponent)
        return (steps, result == number ? 0 : (result.double - number.double).magnitude)
    }
}

extension DecimalNumber {
    /// Reads digits with a sign and a point, such as `-21.50`; at most 18 digits.
    init?(text: some StringProtocol) {
        var digits = text[...]
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits = digits.dropFirst() }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let all = parts.joined()
        guard !all.isEmpty, all.utf8.count <= 18, all.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(all)
        else { return nil }
        self.init(isNegative ? -number : number, exponent: parts.count == 2 ? -parts[1].utf8.count : 0)
    }
}
