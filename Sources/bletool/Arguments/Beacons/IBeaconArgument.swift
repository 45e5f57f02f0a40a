import BLESensors

/// `UUID,MAJOR,MINOR` or `UUID,MAJOR,MINOR,POWER`.
struct IBeaconArgument: BeaconArgument {
    let frame: IBeaconFrame

    static func read(_ text: String) throws(BeaconMistake) -> IBeaconArgument {
        let parts = try BeaconMistake.parts(of: text, 3...4, "UUID,MAJOR,MINOR or UUID,MAJOR,MINOR,POWER")
        var frame = IBeaconFrame(
            uuid: try BeaconMistake.uuid(parts[0]), major: try BeaconMistake.number(parts[1], "the major number"),
            minor: try BeaconMistake.number(parts[2], "the minor number"))
        if parts.count > 3 { frame.power = try BeaconMistake.power(parts[3], "one metre") }
        return IBeaconArgument(frame: frame)
    }
}
