import ArgumentParser
import BLEScripts

extension ValueForm: EnumerableFlag {
    package static func help(for value: ValueForm) -> ArgumentHelp? {
        switch value {
        case .text: "Treat the value as text."
        case .uint8: "Treat the value as one or more integers of this type; also --uint16 … --int32."
        default: ArgumentHelp(visibility: .hidden)
        }
    }
}
