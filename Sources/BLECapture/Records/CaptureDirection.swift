/// Which way a packet crosses the host controller interface.
public enum CaptureDirection: UInt8, Sendable {
    case hostToController = 0
    case controllerToHost = 1
}
