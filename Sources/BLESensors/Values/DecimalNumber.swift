/// A decimal number, for exact values of sensors: 2137 hundredths are exactly 21.37, unlike a binary fraction.
public struct DecimalNumber: Hashable, Sendable {
    /// The digits, without trailing zeros if `exponent` is negative.
    public let significand: Int64
    /// The power of ten by which the digits are multiplied. It is positive only if the whole number is too large for
    /// `significand`.
    public let exponent: Int

    /// A number times a power of ten.
    public init(_ significand: some BinaryInteger, exponent: Int = 0) {
        var digits = Int64(clamping: significand)
        var exponent = digits == 0 ? 0 : exponent
        while exponent < 0, digits.isMultiple(of: 10) {
            digits /= 10
            exponent += 1
        }
        while exponent > 0 {
            let (product, isTooLarge) = digits.multipliedReportingOverflow(by: 10)
            if isTooLarge { break }
            digits = product
            exponent -= 1
        }
        self.significand = digits
        self.exponent = exponent
    }

    /// A number times a power of two, rounded to about its significant digits.
    /// - Parameter binaryExponent: from -24 to 0.
    init(_ number: Int64, binaryExponent: Int) {
        let shift = max(0, min(24, -binaryExponent))
        // log10(2) is about 0.301; one more digit distinguishes neighbours.
        let places = shift == 0 ? 0 : (shift * 301 + 999) / 1000 + 1
        var scaled = number
        for _ in 0..<places { scaled = scaled.multipliedReportingOverflow(by: 10).partialValue }
        let half: Int64 = shift == 0 ? 0 : 1 << (shift - 1)
        let rounded = scaled < 0 ? 0 &- ((0 &- scaled &+ half) >> Int64(shift)) : (scaled &+ half) >> Int64(shift)
        self.init(rounded, exponent: -places)
    }

    /// The nearest number with this many digits after the point.
    /// - Returns: `nil` for infinities, NaN, and numbers of more than 18 digits.
    public init?(rounding value: Double, places: Int) {
        var scaled = value
        for _ in 0..<places { scaled *= 10 }
        scaled.round()
        guard scaled.magnitude < 1e18 else { return nil }
        self.init(Int64(scaled), exponent: -places)
    }

    /// The nearest binary number.
    public var double: Double {
        // Powers of ten are exact up to the 22nd: one division then rounds once, and 21.37 prints as 21.37.
        var power = 1.0
        for _ in 0..<exponent.magnitude { power *= 10 }
        return exponent < 0 ? Double(significand) / power : Double(significand) * power
    }

    /// The integer value; `nil` if the number has a fraction or is too large.
    public var integer: Int64? { exponent == 0 ? significand : nil }
}

extension DecimalNumber: ExpressibleByIntegerLiteral, CustomStringConvertible {
    public init(integerLiteral value: Int64) { self.init(value) }

    /// Digits with a point, such as `21.37` and `-0.5`.
    public var description: String {
        guard exponent < 0 else { return "\(significand)" + String(repeating: "0", count: exponent) }
        let digits = String(significand.magnitude)
        let missing = max(0, 1 - exponent - digits.utf8.count)
        let padded = String(repeating: "0", count: missing) + digits
        let whole = padded.utf8.count + exponent
        let text = "\(padded.prefix(whole)).\(padded.dropFirst(whole))"
        return significand < 0 ? "-" + text : text
    }
}
