/// The version of this software.
public let gatewayVersion = "0.1.0"
