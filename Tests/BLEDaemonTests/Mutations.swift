import Foundation

/// Always the same numbers.
struct Mutations {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % max(1, bound)
    }
}

extension Mutations {
    /// How many times a test with mutations repeats its usual number: `JELLING_MUTATIONS` in the environment.
    static let repetitions = ProcessInfo.processInfo.environment["JELLING_MUTATIONS"].flatMap(Int.init) ?? 1
}
