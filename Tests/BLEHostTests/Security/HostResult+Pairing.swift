@testable import BLEHost

extension Result where Success == HostResult, Failure == HostFailure {
    /// What a pairing that succeeded came to.
    var pairing: PairingSummary? {
        if case .success(.paired(let summary)) = self { summary } else { nil }
    }
}
