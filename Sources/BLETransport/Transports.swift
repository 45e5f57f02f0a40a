/// Opens transports by their address.
public enum Transports {
    /// How long connecting may take.
    public static let connectTimeoutSeconds = 10

    /// Opens a transport. It may block while it resolves and connects, and needs no loop: start the result on one
    /// afterwards.
    /// - Parameter makeVirtual: creates `usb`, `sim` and `replay`, whose code is in modules above this one.
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
            StreamTransport(
                descriptor: try StreamSockets.connect(unixPath: path), isSocket: true, line: .relayed, address: address)
        case .tcp(let host, let port):
            StreamTransport(
                descriptor: try StreamSockets.connect(host: host, port: port), isSocket: true, line: .relayed,
                address: address)
        case .serialPort(let device, let baud, let hasFlowControl, let framing, let chip):
            try SerialTransports.open(
                device, baud: baud, hasFlowControl: hasFlowControl, framing: framing, chip: chip, address: address)
        case .usb, .simulator, .replay:
            try makeVirtual(address)
        // No packets cross it: a client of the daemon opens it.
        case .daemon:
            throw .notOffered(address)
        }
    }
}
