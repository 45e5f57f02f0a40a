/// Why an app is not removed, for people.
struct RemovalRefusal: Error, CustomStringConvertible {
    let description: String
}
