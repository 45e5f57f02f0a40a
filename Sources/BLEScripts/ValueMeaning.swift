import BLEHost
import BLEJSON
import BLEPackets
import BLESensors
import BLEText

/// A value as text: its bytes, and their meaning.
package enum ValueText {
    package static func text(_ value: [UInt8]) -> String {
        guard !value.isEmpty else { return "(empty)" }
        let bytes = Hexadecimal.text(value)
        let isText = value.allSatisfy { (0x20..<0x7F).contains($0) }
        return isText ? "\(bytes)  “\(String(decoding: value, as: UTF8.self))”" : bytes
    }
}

/// A value of an attribute: its bytes, and their meaning by the form that the user has chosen or by the attribute's
/// own.
package struct ValueMeaning {
    package let value: [UInt8]
    /// The decoded fields; `nil` if the form is unknown, or the value does not match it.
    package let fields: [SensorField]?
    /// How the value violates the form of its characteristic.
    package let fault: String?
    private let isForced: Bool

    package init(_ value: [UInt8], uuid: BluetoothUUID?, form: ValueForm?) {
        self.value = value
        isForced = form != nil
        if let form {
            fields = form.fields(of: value)
            let bytes = value.count == 1 ? "1 byte is" : "\(value.count) bytes are"
            fault = fields == nil ? "\(bytes) not of \(form.rawValue)" : nil
            return
        }
        guard let uuid, let format = CharacteristicFormat(of: uuid) else {
            (fields, fault) = (nil, nil)
            return
        }
        do throws(DecodingError) {
            fields = try format.decode(value.span.bytes)
            fault = nil
        } catch {
            fields = nil
            fault = error.text
        }
    }

    /// The meaning in words; `nil` if it is unknown.
    package var meaning: String? {
        guard let fields, !fields.isEmpty else { return nil }
        return CharacteristicFormat.text(fields).printable(limit: 2048)
    }

    /// `57 = 87 %`; with a form that the user has chosen, only its value.
    package var text: String {
        if let fault { return "\(Hexadecimal.text(value))  (\(fault))" }
        guard let fields, let meaning else { return ValueText.text(value) }
        if isForced { return fields[0].valueText.printable(limit: 2048) }
        return value.isEmpty ? "(empty)" : "\(Hexadecimal.text(value)) = \(meaning)"
    }

    /// The same event with what its value means.
    package func adding(to event: JSONValue) -> JSONValue {
        var event = event
        if let fields, let meaning {
            event = event.adding("text", .string(isForced ? fields[0].valueText : meaning))
                .adding("values", .array(fields.map(\.json)))
        }
        return fault.map { event.adding("fault", .string($0)) } ?? event
    }
}

extension SensorField {
    /// Name, value and the unit, if any; a value that the device does not know is null.
    package var json: JSONValue {
        let field: JSONValue = ["name": .string(name), "value": value.json]
        return unit.isEmpty ? field : field.adding("unit", .string(unit))
    }
}

extension SensorValue {
    package var json: JSONValue {
        switch self {
        case .number(let number): number.json
        case .numbers(let numbers): .array(numbers.map(\.json))
        case .text(let text): .string(text)
        case .boolean(let isSo): .boolean(isSo)
        case .octets(let octets): .string(Hexadecimal.text(octets))
        case .unknown, .invalid: .null
        }
    }
}

extension DecimalNumber {
    fileprivate var json: JSONValue { integer.map { .integer(Int($0)) } ?? .number(double) }
}

extension DecodingError {
    /// How a value violates its form.
    fileprivate var text: String {
        switch self {
        case .truncated(let needed, let remaining): "cut off: a field of \(needed) bytes has \(remaining)"
        case .trailingBytes(let count): "\(count) \(count == 1 ? "byte" : "bytes") more than its characteristic has"
        case .invalidValue(let value, field: _): "holds \(value), which has no meaning"
        case .lengthMismatch(let stated, let actual): "states \(stated) bytes and has \(actual)"
        }
    }
}
