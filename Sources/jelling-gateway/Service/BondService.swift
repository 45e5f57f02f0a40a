import ServiceLifecycle

/// Asks for the bonds to be read again when they could not be read, and can be now.
struct BondService: Service {
    let bonds: BondedDevices
    let requests: ReloadRequests

    private static let pause = Duration.seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                guard bonds.problem != nil else { continue }
                bonds.makeFolder()
                if bonds.canBeRead { requests.ask() }
            }
        }
    }
}
