import BLEPackets

/// What a procedure wants after it began or after an answer.
enum GATTStep: Equatable {
    /// The next request.
    case send([UInt8])
    case done(GATTResult)
    case failed(GATTFailure)

    static func invalid(_ detail: GATTFailure.InvalidResponse) -> GATTStep { .failed(.invalidResponse(detail)) }
}
