import BLETransport

/// Opens the transports whose controller is no device.
enum VirtualTransports {
    static func open(_ address: TransportAddress) throws(TransportError) -> sending any HCITransport {
        throw .notOffered(address)
    }
}
