/// The configuration of an engine, once for all its rooms.
///
/// On the heap: as a value it would be in the host and in each room that asks it, and all of these on the stack of
/// whoever makes an engine.
final class SharedConfiguration: Sendable {
    let value: HostConfiguration

    init(_ value: HostConfiguration) { self.value = value }
}
