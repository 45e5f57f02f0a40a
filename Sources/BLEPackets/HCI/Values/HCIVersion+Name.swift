extension HCIVersion {
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// `5.4`; `nil` for an unknown version.
    public var name: String? { meaning }
}
