import BLE
import BLEScripts

/// A value that is being typed, to be written to an attribute.
struct ValueWriting {
    enum Outcome: Equatable {
        case goesOn
        case cancelled
        case write([UInt8], GATTStep.WriteProcedure)
    }

    /// The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
    private static let longest = 512

    let handle: AttributeHandle
    let uuid: BluetoothUUID
    /// The ways that the attribute allows, the usual one first.
    private let procedures: [GATTStep.WriteProcedure]
    private(set) var procedure: GATTStep.WriteProcedure
    /// `nil`: hexadecimal.
    private(set) var form: ValueForm?
    private(set) var editor = LineEditor()

    /// - Returns: `nil` for an attribute that cannot be written.
    init?(_ node: AttributeTree.Node, _ value: ShownValue?) {
        guard let handle = node.valueHandle, let first = node.writeProcedures.first else { return nil }
        self.handle = handle
        uuid = node.uuid
        procedures = node.writeProcedures
        procedure = first
        form = value?.form ?? Self.ownForm(of: node.uuid)
    }

    /// A value that is text is typed as text.
    private static func ownForm(of uuid: BluetoothUUID) -> ValueForm? {
        guard case .text("A") = ValueMeaning([UInt8(ascii: "A")], uuid: uuid, form: nil).fields?.first?.value else {
            return nil
        }
        return .text
    }

    var formName: String { form?.rawValue ?? "hex" }

    /// What has been typed, as octets; `nil` while it is none of the form.
    var octets: [UInt8]? {
        let text = String(editor.text)
        let octets = form.map { $0.octets(of: text) } ?? Hexadecimal.bytes(text)
        return octets.flatMap { $0.count <= Self.longest ? $0 : nil }
    }

    /// What has been typed and what it means, or what is wrong with it.
    var explanation: String {
        if editor.text.isEmpty { return "no value yet" }
        guard let octets else { return "this is not a value \(form.map { "of \($0.rawValue)" } ?? "in hexadecimal")" }
        return ValueMeaning(octets, uuid: uuid, form: nil).text
    }

    var procedureName: String {
        switch procedure {
        case .confirmed: "with a response"
        case .withoutResponse: "without a response"
        case .signed: "signed, without a response"
        }
    }

    /// The words of the command that does the same.
    var words: [String] {
        let option: String? =
            switch procedure {
            case .withoutResponse: procedures.first == .withoutResponse ? nil : "--command"
            case .signed: "--signed"
            case .confirmed: nil
            }
        let text = String(editor.text)
        return [text.isEmpty ? "VALUE" : text] + [form.map { "--\($0.rawValue)" }, option].compactMap(\.self)
    }

    mutating func press(_ key: Key) -> Outcome {
        switch key {
        case .escape, .control("c"): return .cancelled
        case .tab:
            let forms = [nil] + ValueForm.allCases
            form = forms[((forms.firstIndex(of: form) ?? 0) + 1) % forms.count]
        case .up, .down:
            let place = procedures.firstIndex(of: procedure) ?? 0
            procedure = procedures[(place + 1) % procedures.count]
        case .enter:
            // An empty value is no accident only where it was typed as a command.
            if !editor.text.isEmpty, let octets { return .write(octets, procedure) }
        default: _ = editor.press(key) { _ in ([], 0) }
        }
        return .goesOn
    }
}
