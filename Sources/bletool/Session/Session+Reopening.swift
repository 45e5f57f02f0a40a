import BLE

extension Session {
    /// How long to wait between two attempts to open an adapter that went away.
    private static let pause = Duration.milliseconds(500)

    /// Does what goes on for long, such as a scan, and begins again when the adapter was unplugged and is back. The
    /// program behind a stream is not waited for.
    /// - Parameters:
    ///   - watch: sees what the controller does.
    ///   - prepare: changes the configuration; `nil` gives it the bonds.
    func reopening(
        watch: ScanWatch? = nil, preparing prepare: (@Sendable (inout AdapterConfiguration) -> Void)? = nil,
        _ body: @escaping @Sendable (Adapter) async throws -> Void
    ) async throws {
        var isLost = false
        // A daemon shows the packets of its controller to its operators only.
        var observer: ScanWatch? = watch
        if case .daemon = try chosenTransport() { observer = nil }
        let adjust: (inout AdapterConfiguration) throws -> Void = { configuration in
            if let prepare { prepare(&configuration) } else { try knowBonds(&configuration) }
            if let watch { configuration.observers.append(watch) }
        }
        while true {
            do {
                return try await withAdapter(observer: observer, adjusting: adjust) { adapter in
                    if isLost { console.note("the adapter is back") }
                    isLost = false
                    try await body(adapter)
                }
            } catch let failure as Failure {
                if isLost, Task.isCancelled { return }
                // One that cannot be opened at first is not away: it is another one, or wrongly named.
                let wasThere = failure.status != .transportNotOpened || transport?.leadsToKernel != false
                let mayReturn =
                    failure.code == .transportLost && wasThere || isLost && failure.status == .transportNotOpened
                guard mayReturn, canReturn, !Task.isCancelled else { throw failure }
                if !isLost {
                    let what = failure == .daemonLost ? "bled has ended the connection" : failure.message
                    console.note("\(what); waiting until the adapter is back")
                }
                isLost = true
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Whether what is behind the transport may come back by itself.
    private var canReturn: Bool {
        switch transport {
        // A second opening would begin the capture's file again.
        case nil, .daemon, .userChannel, .rawChannel, .serialPort, .usb, .simulator:
            capturePath == nil && recordingName == nil
        default: false
        }
    }
}
