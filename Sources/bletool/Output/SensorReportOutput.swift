import BLEJSON
import BLESensors
import BLEText

extension SensorReport {
    /// One line of text.
    var text: String { description.printable(limit: 512) }

    /// The format, the model if known, and the encryption.
    fileprivate var json: JSONValue {
        var object: JSONValue = ["format": .string(format)]
        if let model { object = object.adding("model", .string(model)) }
        return object.adding("encryption", .string(encryption.rawValue))
    }

    /// The values, each with its name, unit, Home Assistant's device class and its format.
    fileprivate var values: [JSONValue] {
        fields.map { field in
            let value = field.deviceClass.map { field.json.adding("deviceClass", .string($0)) } ?? field.json
            return value.adding("format", .string(format))
        }
    }
}

extension JSONValue {
    /// The object with a device's reports under `formats` and `values`, if there are any.
    func adding(_ reports: [SensorReport]) -> JSONValue {
        guard !reports.isEmpty else { return self }
        return adding("formats", .array(reports.map(\.json))).adding("values", .array(reports.flatMap(\.values)))
    }
}
