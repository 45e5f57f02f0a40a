/// Opens transports by their address.
public enum Transports {
    /// How long connecting may take.
    public static let connectTimeoutSeconds = 10

    /// Opens a transport. It may block while it resolves and connects, and needs no loop: start the result on one
    /// afterwards.
    /// - Parameter makeVirtual: creates `sim` and `replay`, whose controllers are in modules above this one.
    /// - Throws: the reason why it cannot be opened.
    public static func open(
        _ address: TransportAddress,
        makeVirtual: (TransportAddress) throws(TransportError) -> sending any HCITransport = {
            address throws(TransportError) in throw .notOffered(address)
        }
    ) throws(TransportError) -> sending any HCITransport {
        switch address {
        case .userChannel(let adapter):
            try HCISocketTransport.openUserChannel(adapter)
        case .rawChannel(let adapter):
            try HCISocketTransport.openRawChannel(adapter)
        case .unix(let path):
            StreamTransport(descriptor: try StreamSockets.connect(unixPath: path), isSocket: true, address: address)
        case .tcp(let host, let port):
            StreamTransport(
                descriptor: try StreamSockets.connect(host: host, port: port), isSocket: true, address: address)
        case .serialPort(let device, let baud, let hasFlowControl):
            try openSerialPort(device, baud: baud, hasFlowControl: hasFlowControl, address: address)
        case .simulator, .replay:
            try makeVirtual(address)
        // No packets cross it: a client of the daemon opens it.
        case .daemon:
            throw .notOffered(address)
        }
    }

    private static func openSerialPort(
        _ device: String, baud: UInt32, hasFlowControl: Bool, address: TransportAddress
    ) throws(TransportError) -> sending StreamTransport {
        let port = try SerialPort.open(device, baud: baud, hasFlowControl: hasFlowControl)
        return StreamTransport(
            descriptor: port.descriptor, isSocket: false, address: address, cleanUp: port.cleanUp)
    }
}
