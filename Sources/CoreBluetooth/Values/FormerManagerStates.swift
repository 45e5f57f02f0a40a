/// The older form of `CBManagerState` for central managers (SPEC CEN-3), with the same raw values.
@available(*, deprecated, message: "use CBManagerState")
public enum CBCentralManagerState: Int, Sendable, CBFormerManagerState {
    /// Equals `CBManagerState.unknown`.
    case unknown = 0
    /// Equals `CBManagerState.resetting`.
    case resetting = 1
    /// Equals `CBManagerState.unsupported`.
    case unsupported = 2
    /// Equals `CBManagerState.unauthorized`.
    case unauthorized = 3
    /// Equals `CBManagerState.poweredOff`.
    case poweredOff = 4
    /// Equals `CBManagerState.poweredOn`.
    case poweredOn = 5
}

/// The older form of `CBManagerState` for peripheral managers (SPEC CEN-3), with the same raw values.
@available(*, deprecated, message: "use CBManagerState")
public enum CBPeripheralManagerState: Int, Sendable, CBFormerManagerState {
    /// Equals `CBManagerState.unknown`.
    case unknown = 0
    /// Equals `CBManagerState.resetting`.
    case resetting = 1
    /// Equals `CBManagerState.unsupported`.
    case unsupported = 2
    /// Equals `CBManagerState.unauthorized`.
    case unauthorized = 3
    /// Equals `CBManagerState.poweredOff`.
    case poweredOff = 4
    /// Equals `CBManagerState.poweredOn`.
    case poweredOn = 5
}

/// A state of a manager in one of its older forms, which a manager's `state` is compared with.
public protocol CBFormerManagerState: RawRepresentable, Sendable where RawValue == Int {}

// On Apple's system such a comparison takes the raw values. The other operand must have a type: `state == .poweredOn`
// is never meant by these.
extension CBManagerState {
    /// Whether both are the same state.
    public static func == <Former: CBFormerManagerState>(state: CBManagerState, former: Former) -> Bool {
        state.rawValue == former.rawValue
    }

    /// Whether both are the same state.
    public static func == <Former: CBFormerManagerState>(former: Former, state: CBManagerState) -> Bool {
        state.rawValue == former.rawValue
    }

    /// Whether the states differ.
    public static func != <Former: CBFormerManagerState>(state: CBManagerState, former: Former) -> Bool {
        state.rawValue != former.rawValue
    }

    /// Whether the states differ.
    public static func != <Former: CBFormerManagerState>(former: Former, state: CBManagerState) -> Bool {
        state.rawValue != former.rawValue
    }
}
