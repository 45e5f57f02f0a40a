import BLESensors

/// `NAMESPACE,INSTANCE` or `NAMESPACE,INSTANCE,POWER`.
struct EddystoneUIDArgument: BeaconArgument {
    let frame: EddystoneFrame

    static func read(_ text: String) throws(BeaconMistake) -> EddystoneUIDArgument {
        let parts = try BeaconMistake.parts(of: text, 2...3, "NAMESPACE,INSTANCE or NAMESPACE,INSTANCE,POWER")
        let namespace = try BeaconMistake.octets(parts[0], EddystoneFrame.namespaceByteCount, "the namespace")
        let instance = try BeaconMistake.octets(parts[1], EddystoneFrame.instanceByteCount, "the instance")
        var power = EddystoneFrame.ordinaryPower
        if parts.count > 2 { power = try BeaconMistake.power(parts[2], "no distance") }
        return EddystoneUIDArgument(frame: .uid(namespace: namespace, instance: instance, power: power))
    }
}
