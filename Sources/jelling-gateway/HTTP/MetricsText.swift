/// Metrics in the text format of Prometheus, version 0.0.4: the lines of one metric must be consecutive.
struct MetricsText {
    private var order: [String] = []
    private var heads: [String: String] = [:]
    private var lines: [String: [String]] = [:]

    mutating func add(_ name: String, _ type: String, _ help: String, _ value: UInt64, adapter: String? = nil) {
        add(name, type, help, text: String(value), adapter: adapter)
    }

    mutating func add(_ name: String, _ type: String, _ help: String, _ value: Double) {
        add(name, type, help, text: Self.text(value), adapter: nil)
    }

    /// - Parameter labels: names and values; those without a value are left out.
    mutating func add(_ name: String, _ type: String, _ help: String, _ value: Double, labels: [(String, String)]) {
        let texts = labels.filter { !$0.1.isEmpty }.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }
        add(name, type, help, text: Self.text(value), label: "{\(texts.joined(separator: ","))}")
    }

    private static func text(_ value: Double) -> String { Int(exactly: value).map(String.init) ?? "\(value)" }

    private mutating func add(_ name: String, _ type: String, _ help: String, text: String, adapter: String?) {
        let label = adapter.map { "{adapter=\"\(Self.escaped($0))\"}" } ?? ""
        add(name, type, help, text: text, label: label)
    }

    private mutating func add(_ name: String, _ type: String, _ help: String, text: String, label: String) {
        let name = "jelling_gateway_" + name
        if heads[name] == nil {
            order.append(name)
            heads[name] = "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        }
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
