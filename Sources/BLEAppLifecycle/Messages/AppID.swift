/// The name of an app: its bundle identifier, as in its manifest (SPEC 5.3).
public struct AppID: RawRepresentable, Hashable, Comparable, Codable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies one manager of one app, for as long as the app's process lives.
///
/// The app's side chooses the number when it creates the manager, and never uses one twice in a process. Only the
/// restore identifier survives the process.
public struct ManagerID: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The role of a manager (SPEC MOD-1).
public enum ManagerRole: String, Hashable, Codable, Sendable { case central, peripheral }

/// Identifies a synchronous query. The app's side chooses the number.
///
/// The answer is the first event with the same number. It is emitted before `receive` of the request returns: no other
/// input comes in between.
public struct QueryID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}
