/// The version of this software.
public let gatewayVersion = "0.3.0"
