import BLESensors

/// `UUID,MAJOR,MINOR`, with the power and the maker's company identifier behind it if they are not the usual ones.
struct AltBeaconArgument: BeaconArgument {
    let frame: AltBeaconFrame

    static func read(_ text: String) throws(BeaconMistake) -> AltBeaconArgument {
        let parts = try BeaconMistake.parts(
            of: text, 3...5, "UUID,MAJOR,MINOR, or with ,POWER or ,POWER,COMPANY behind it")
        var frame = AltBeaconFrame(
            uuid: try BeaconMistake.uuid(parts[0]), major: try BeaconMistake.number(parts[1], "the major number"),
            minor: try BeaconMistake.number(parts[2], "the minor number"))
        if parts.count > 3 { frame.power = try BeaconMistake.power(parts[3], "one metre") }
        if parts.count > 4 { frame.company = try BeaconMistake.number(parts[4], "the company") }
        return AltBeaconArgument(frame: frame)
    }
}
