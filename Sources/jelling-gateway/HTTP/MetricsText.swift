/// Metrics in the text format of Prometheus, version 0.0.4: the lines of one metric must be consecutive.
struct MetricsText {
    private var order: [String] = []
    private var heads: [String: String] = [:]
    private var lines: [String: [String]] = [:]

    mutating func add(_ name: String, _ type: String, _ help: String, _ value: UInt64, adapter: String? = nil) {
        add(name, type, help, text: String(value), adapter: adapter)
    }

    mutating func add(_ name: String, _ type: String, _ help: String, _ value: Double) {
        add(name, type, help, text: Int(exactly: value).map(String.init) ?? "\(value)", adapter: nil)
    }

    private mutating func add(_ name: String, _ type: String, _ help: String, text: String, adapter: String?) {
        let name = "jelling_gateway_" + name
        if heads[name] == nil {
            order.append(name)
            heads[name] = "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        }
        let label = adapter.map { "{adapter=\"\(Self.escaped($0))\"}" } ?? ""
        lines[name, default: []].append("\(name)\(label) \(text)\n")
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result
    }

    var text: String { order.map { (heads[$0] ?? "") + (lines[$0] ?? []).joined() }.joined() }
}
