import BLE
import BLEAppLifecycle
import BLEAppState
import BLESecurity
import BLEUSB
import BLEVirtualTransports
import Foundation

extension LocalSystem {
    /// The parts and settings of a system.
    struct Configuration: Sendable {
        var environment: AppEnvironment
        var adapter: AdapterConfiguration
        var settings = LifecycleSettings()
        /// The journal; `nil` if nothing is preserved.
        var journalPath: String?
        /// The event loop; `nil` creates one.
        var loop: EventLoop?
        /// Asks the user during pairing.
        var pairingAgent: (any CBPairingAgent)?
        /// Receives lines about the app's use of the API; `nil` uses the handler of `CBApplication.onLog(_:)`.
        var log: (@Sendable (String) -> Void)?

        /// The configuration from a program's environment.
        init(_ environment: AppEnvironment) {
            self.environment = environment
            let state = StateFolder(path: environment.stateDirectory)
            adapter = AdapterConfiguration(
                ownAddress: .automatic(fallback: state.staticAddress { MisuseLog.write($0) }),
                makeVirtualTransport: USBTransports.adding(to: VirtualTransports.open))
            adapter.cryptoProvider = SwiftCryptoProvider()
            adapter.bondStore = FileBondStore(path: environment.stateDirectory + "/security") { notice in
                MisuseLog.write("\(notice)")
            }
            journalPath = state.journalPath(of: environment.identifier)
            if environment.asksAtTerminal, let terminal = TerminalAgent.ofProcess() {
                pairingAgent = terminal
                PairingSettings(capability: .keyboardDisplay).apply(to: &adapter.security.pairing)
            }
        }

        init(
            environment: AppEnvironment, adapter: AdapterConfiguration, journalPath: String? = nil,
            loop: EventLoop? = nil
        ) {
            self.environment = environment
            self.adapter = adapter
            self.journalPath = journalPath
            self.loop = loop
        }
    }
}
