#if SERVICES
import BLE
import Logging

extension AdapterConfiguration {
    /// Receives what the adapter does; `nil` logs nothing.
    ///
    ///     configuration.logger = Logger(label: "bluetooth")
    ///
    /// Failures of the adapter are errors, recoveries and failed pairings warnings, links and the beginning and the end
    /// of the adapter info, operations debug, discoveries and values trace. Values and keys are never logged.
    public var logger: Logger? {
        get { observers.lazy.compactMap { ($0 as? LoggingObserver)?.logger }.first }
        set {
            observers.removeAll { $0 is LoggingObserver }
            if let newValue { observers.append(LoggingObserver(newValue)) }
        }
    }
}
#endif
