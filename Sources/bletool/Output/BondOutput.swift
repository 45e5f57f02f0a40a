import BLE
import BLEJSON
import BLEText

/// The output for pairings and bonds, without keys.
enum BondOutput {
    static func object(
        _ event: String, secureConnections: Bool, authenticated: Bool, keySize: UInt8, identity: DeviceAddress
    ) -> JSONValue {
        [
            "event": .string(event), "secureConnections": .boolean(secureConnections),
            "authenticated": .boolean(authenticated), "keySize": JSONValue(keySize),
            "identity": .string(identity.addressText), "identityType": .string(identity.kindText),
        ]
    }

    static func object(_ summary: PairingSummary) -> JSONValue {
        let paired = object(
            "paired", secureConnections: summary.isSecureConnections, authenticated: summary.isAuthenticated,
            keySize: summary.keySize, identity: summary.identity)
        return summary.wasBonded ? paired.adding("wasBonded", .boolean(true)) : paired
    }

    static func object(_ bond: Bond) -> JSONValue {
        let object = object(
            "bond", secureConnections: bond.isSecureConnections, authenticated: bond.isAuthenticated,
            keySize: bond.keySize, identity: bond.identity)
        let named = bond.name.map { object.adding("name", .string($0)) } ?? object
        return bond.user.map { named.adding("user", JSONValue($0.number)) } ?? named
    }

    static func text(_ summary: PairingSummary) -> String {
        (summary.wasBonded ? "already bonded with" : "paired with") + " \(place(summary.identity)): "
            + quality(summary.isSecureConnections, summary.isAuthenticated, summary.keySize)
            + (summary.isBonded ? "" : ", not bonded")
    }

    static func text(_ bond: Bond) -> String {
        "\(place(bond.identity)) " + quality(bond.isSecureConnections, bond.isAuthenticated, bond.keySize)
            + (bond.name.map { ", called \($0.quoted())" } ?? "")
            + (bond.user.map { ", of user \($0.number)" } ?? "")
    }

    private static func place(_ identity: DeviceAddress) -> String { "\(identity.addressText) \(identity.kindText)" }

    private static func quality(_ isSecure: Bool, _ isAuthenticated: Bool, _ keySize: UInt8) -> String {
        "\(isSecure ? "Secure Connections" : "legacy"), \(isAuthenticated ? "authenticated" : "unauthenticated"), "
            + "key of \(keySize) bytes"
    }
}
