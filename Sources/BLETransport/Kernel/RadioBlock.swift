/// How rfkill blocks a radio.
public struct RadioBlock: Hashable, Sendable {
    /// Whether a program has switched it off.
    public var isSoft: Bool
    /// Whether a switch of the machine has switched it off, which no program can change.
    public var isHard: Bool

    public init(isSoft: Bool, isHard: Bool) { (self.isSoft, self.isHard) = (isSoft, isHard) }

    /// Whether the radio is off.
    public var isBlocked: Bool { isSoft || isHard }

    /// The state of an adapter's own switch.
    /// - Parameter folder: the adapter's folder in sysfs.
    static func ofAdapter(in folder: String) -> RadioBlock? {
        guard let name = SystemFiles.entries(folder).first(where: { isSwitch($0) }),
            let soft = SystemFiles.number("\(folder)/\(name)/soft"),
            let hard = SystemFiles.number("\(folder)/\(name)/hard")
        else { return nil }
        return RadioBlock(isSoft: soft != 0, isHard: hard != 0)
    }

    /// The number of an adapter's own switch.
    static func number(ofAdapterIn folder: String) -> UInt32? {
        SystemFiles.entries(folder).lazy.filter { isSwitch($0) }.compactMap { UInt32($0.dropFirst(6)) }.first
    }

    private static func isSwitch(_ name: String) -> Bool {
        name.hasPrefix("rfkill") && UInt32(name.dropFirst(6)) != nil
    }
}
