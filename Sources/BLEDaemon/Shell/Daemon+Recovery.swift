@_spi(HostRunner) import BLE
import BLEAppState
import BLEHost
import BLEMessages
import BLEStateFiles
import BLETransport

/// The device behind the adapter is reset, and the machine's switches of Bluetooth are followed.
extension Daemon {
    /// After a reset the device is set up anew, which takes its time.
    private static let returnMicroseconds: UInt64 = 15_000_000
    private static let pauseMicroseconds: UInt64 = 1_000_000

    /// A device that comes back after a reset.
    struct Returning {
        let outcome: DeviceReset.Outcome
        /// When it is given up.
        let end: UInt64
    }

    /// Resets the device. The engine waits meanwhile: what programs want goes on when it is back.
    func resetDevice() {
        if case .userChannel(let index) = runner.address {
            if runner.isOpen { runner.suspendTransport() }
            configuration.log("the device of hci\(index) is being reset")
            return reset.begin(index) { [weak self] outcome in self?.wasReset(outcome) }
        }
        let hasDevice =
            switch runner.address {
            case .simulator, .replay, .daemon: false
            default: true
            }
        if hasDevice, reset.hasProgram {
            if runner.isOpen { runner.suspendTransport() }
            configuration.log("the device at \(runner.address) is being reset")
            return reset.begin(runner.address) { [weak self] outcome in self?.wasReset(outcome) }
        }
        if case .usb = runner.address { return resetUSBDevice() }
        openAgain(hasDevice: hasDevice)
    }

    /// Nothing can reset what is behind the transport: whoever asks for it hears what was done instead.
    private func openAgain(hasDevice: Bool) {
        let done = runner.isOpen ? "the transport was closed and opened again" : "the transport is not open"
        let rest =
            hasDevice
            ? "a device behind \(runner.address) cannot be reset by this machine: set ‘recoveryCommand’ in the "
                + "configuration file of bled"
            : "behind \(runner.address) there is no device"
        if runner.isOpen { runner.reopenTransport() }
        input(.controller(.resetEnded("\(done); \(rest)")))
    }

    /// Resets a device that no driver of the kernel has: its transport is closed meanwhile.
    private func resetUSBDevice() {
        guard let resetDevice = configuration.adapter.resetDevice else {
            if runner.isOpen { runner.reopenTransport() }
            return input(.controller(.resetEnded("this program resets no devices at USB")))
        }
        configuration.log("the device \(runner.address) is being reset")
        if runner.isOpen {
            runner.reopenTransport(resetsDevice: true)
        } else {
            resetDevice(runner.address)
        }
        input(.controller(.resetEnded(nil)))
    }

    private func wasReset(_ outcome: DeviceReset.Outcome) {
        guard !core.isStopped else { return }
        if let problem = outcome.problem {
            configuration.warn("the device could not be reset by \(outcome.step): \(problem)")
        }
        returning = Returning(outcome: outcome, end: runner.loop.nowMicroseconds + Self.returnMicroseconds)
        resume()
    }

    /// Opens the adapter again, whatever its number is now; tried again until it is there and set up.
    func resume() {
        guard let returning else { return }
        guard runner.isSuspended else { return endReset(returning) }
        var problem: TransportError?
        do throws(TransportError) {
            if try findAdapter() == nil {
                try runner.resumeTransport()
                return endReset(returning)
            }
        } catch .adapterBlocked(let index) where !returning.outcome.wasBlocked && configuration.unblocksAfterReset {
            problem = .adapterBlocked(index: index)
            unblock(index)
        } catch {
            problem = error
        }
        let now = runner.loop.nowMicroseconds
        guard now >= returning.end else {
            return resumption.set(atMicroseconds: min(now + Self.pauseMicroseconds, returning.end))
        }
        endReset(returning, problem.map { "it has not come back: \($0)" })
        runner.endSuspension(problem)
    }

    private func endReset(_ returning: Returning, _ problem: String? = nil) {
        self.returning = nil
        resumption.clear()
        input(.controller(.resetEnded(returning.outcome.problem ?? problem)))
    }

    /// A device may come back with its radio off, though nobody switched it off.
    private func unblock(_ index: UInt16) {
        guard let number = RadioSwitches.number(ofAdapter: index) else { return }
        do throws(TransportError) {
            try RadioSwitches.set(number, isBlocked: false)
            configuration.log("hci\(index) came back switched off by rfkill, and was switched on")
        } catch {
            configuration.warn("hci\(index) came back switched off by rfkill, and cannot be switched on: \(error)")
        }
    }

    // MARK: Switches

    /// Follows the machine's own switches of Bluetooth: that of the adapter has no effect while it is in use.
    func watchSwitches() {
        guard case .userChannel = runner.address else { return }
        do throws(TransportError) {
            switches = try RadioSwitches(on: runner.loop) { [weak self] switches in
                let off = switches.first { $0.adapter == nil && $0.block.isBlocked }
                self?.input(.controller(.machineSwitch(off.map { $0.name ?? "rfkill\($0.number)" })))
            }
        } catch .pathNotFound {
            // Without rfkill there are no switches.
        } catch {
            configuration.warn("the machine's switch of Bluetooth is not followed: \(error)")
        }
    }

    // MARK: The adapter in use

    /// The controller works: what people should know of its device.
    func adapterIsUsed() {
        adapter.isReady()
        configuration.adapterIsReady()
        guard case .userChannel(let index) = runner.address else { return }
        let notes = care.isUsed(index)
        core.apply(.controller(.notes(care.hardware?.summary ?? "", notes)), at: now)
    }
}

/// What is known of the controller before it is opened, and what is learned of it.
extension Daemon {
    func recognizeControllers() {
        programs.readLearned = { [unowned self] in readLearned() }
        runner.recognize = { [unowned self] address in
            let (hardware, name) = controllerName(at: address)
            return HostRunner.Recognition(
                name: name, identity: hardware?.usb.map { ControllerIdentity($0) },
                experience: configuration.memory?.experience(of: name) ?? ControllerExperience())
        }
    }

    /// What is kept of the controller, also while it is away.
    func readLearned() -> DaemonStatus.Learned? {
        guard let memory = configuration.memory else { return nil }
        let name = runner.recognized ?? controllerName(at: runner.address).name
        do throws(StateFileError) {
            return DaemonStatus.Learned(controller: name, experience: try memory.learned(of: name))
        } catch {
            return DaemonStatus.Learned(controller: name, problem: "\(error)")
        }
    }

    private func controllerName(at address: TransportAddress) -> (AdapterHardware?, name: String) {
        guard case .userChannel(let index) = address else { return (nil, ControllerMemory.name(of: address)) }
        let hardware = AdapterHardware.read(index)
        return (hardware, ControllerMemory.name(of: hardware, adapter.ownAddress))
    }

    func keep(_ experience: ControllerExperience) {
        guard let name = runner.recognized else { return }
        configuration.memory?.keep(experience, of: name)
    }

    /// What was learned is forgotten; the engine does without it when the controller is opened next.
    /// - Returns: why it could not be.
    func forgetTraits() -> String? {
        guard let memory = configuration.memory else { return "this daemon keeps no state; it forgets when it ends" }
        let name = runner.recognized ?? controllerName(at: runner.address).name
        guard let problem = memory.forget(name) else {
            runner.recognized = nil
            return nil
        }
        return problem
    }
}

extension AdapterHardware {
    /// `usb 0a12:0001 (0134) at 1-2.3, btusb`; empty for an adapter without a device.
    var summary: String {
        var parts: [String] = []
        if let usb {
            parts.append("usb \(usb.identifiers) (\(usb.releaseText)) at \(usb.port)")
        } else if let bus, let deviceName {
            parts.append("\(bus) \(deviceName)")
        }
        if let driver { parts.append(driver) }
        return parts.joined(separator: ", ")
    }
}
