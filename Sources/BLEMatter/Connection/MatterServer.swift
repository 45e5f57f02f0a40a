/// Where a matter-server is.
public struct MatterServer: Equatable, Sendable {
    /// A name, or an address without brackets.
    public var host: String
    public var port: UInt16
    /// The path of its BLE proxy.
    public var path: String

    /// What matter-servers use.
    public static let usualPath = "/ble"

    public init(host: String, port: UInt16, path: String = MatterServer.usualPath) {
        self.host = host
        self.port = port
        self.path = path
    }

    /// The host and the port, as in a URL.
    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension MatterServer: CustomStringConvertible {
    public var description: String { authority + path }
}
