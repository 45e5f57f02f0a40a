import BLEPackets

/// The next step of a procedure after its beginning or an answer.
enum GATTStep: Equatable {
    /// Send the next request.
    case send([UInt8])
    case done(GATTResult)
    case failed(GATTFailure)

    static func invalid(_ detail: ATTInvalidResponse) -> GATTStep { .failed(.invalidResponse(detail)) }
}
