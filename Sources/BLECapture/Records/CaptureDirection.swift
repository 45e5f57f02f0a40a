/// The direction in which a packet crosses the host controller interface.
public enum CaptureDirection: UInt8, Sendable {
    /// Commands, and data that is sent.
    case hostToController = 0
    /// Events, and data that is received.
    case controllerToHost = 1
}
