import BLEJSON
import BLESensors
import BLEText

extension SensorReport {
    /// One line for people.
    var text: String { description.printable(limit: 512) }

    /// Format, model where it is known, and encryption.
    fileprivate var json: JSONValue {
        var object: JSONValue = ["format": .string(format)]
        if let model { object = object.adding("model", .string(model)) }
        return object.adding("encryption", .string(encryption.rawValue))
    }

    /// The values, each with its name, unit, Home Assistant's device class and the format that it was read by.
    fileprivate var values: [JSONValue] {
        fields.map { field in
            let value = field.deviceClass.map { field.json.adding("deviceClass", .string($0)) } ?? field.json
            return value.adding("format", .string(format))
        }
    }
}

extension JSONValue {
    /// The same object with what a device says under `formats` and `values`; without both where it says nothing known.
    func adding(_ reports: [SensorReport]) -> JSONValue {
        guard !reports.isEmpty else { return self }
        return adding("formats", .array(reports.map(\.json))).adding("values", .array(reports.flatMap(\.values)))
    }
}
